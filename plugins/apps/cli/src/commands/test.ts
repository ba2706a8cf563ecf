import type { Command } from '../command';

export const test: Command = {
  usage: 'test [app]',
  summary: "run the tests of apps on the host's Strapi, with a temporary SQLite database and without a port",
  arguments: { app: 'id of an app; all apps of the site without it' },
  options: [
    { flags: '--site <id>', summary: 'the site whose theme is tested (default: the first of the configuration)' },
    { flags: '--name <pattern>', summary: 'only tests whose titles match this regular expression' },
    { flags: '--watch', summary: 'run them again whenever a file of the themes changes' },
  ],
  examples: ['strapi-plugin-apps test', 'strapi-plugin-apps test comments --name moderator'],
  load: () => import('../test'),
};
