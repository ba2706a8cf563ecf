import type { Command } from '../command';

export const lint: Command = {
  usage: 'lint [target]',
  summary: 'check themes and apps, without a database and without starting Strapi',
  arguments: { target: 'a theme, an app, or <theme>/<app>; all themes without it' },
  options: [
    { flags: '--types', summary: "check the types of .ts logic with the host's TypeScript" },
    { flags: '--host', summary: 'start the host, and check the names in acl with its users and roles' },
  ],
  load: () => import('../lint'),
};
