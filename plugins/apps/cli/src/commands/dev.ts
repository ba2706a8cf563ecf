import type { Command } from '../command';

export const dev: Command = {
  usage: 'dev',
  summary:
    'run `strapi develop` with pages that reload when a theme file changes, errors shown where they are, and the problems that `lint` finds',
  options: [{ flags: '--port <number>', summary: 'the port, as the environment variable PORT of the host' }],
  examples: ['strapi-plugin-apps dev', 'strapi-plugin-apps dev --port 1400'],
  load: () => import('../dev'),
};
