import type { Command } from '../command';

export const openapi: Command = {
  usage: 'openapi [site] [app] [file]',
  summary: 'write the OpenAPI document of an app, or of all apps of a site',
  arguments: {
    site: 'the site (default: the first one)',
    app: 'the app; all apps without it',
    file: 'the file to write (default: standard output)',
  },
  examples: ['strapi-plugin-apps openapi > site.json', 'strapi-plugin-apps openapi site rating rating.json'],
  load: () => import('../openapi'),
};

export const types: Command = {
  usage: 'types [app]',
  summary: "write the types of an app's items and elements, for its logic",
  arguments: { app: '<app>, or <theme>/<app>; all apps of the theme without it' },
  options: [
    {
      flags: '--theme <id>',
      summary: 'the theme of the app (default: that of the first configured site, else the only one)',
    },
  ],
  load: () => import('../types'),
};
