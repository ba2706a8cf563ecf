import type { Command } from '../command';

export const exportCommand: Command = {
  usage: 'export <from> <target> [file]',
  summary: 'write the records of an app to a file, or the files of an app or theme to a ZIP',
  arguments: {
    from: 'the site of the records; or a theme, or <theme>/<app>',
    target: 'the app of the records; or a file that ends in .zip',
    file: 'the file of the records: CSV if it ends in .csv, else NDJSON',
  },
  examples: [
    'strapi-plugin-apps export site rating rating.ndjson',
    'strapi-plugin-apps export site rating rating.csv',
    'strapi-plugin-apps export default/rating rating.zip',
    'strapi-plugin-apps export default default.zip',
  ],
  load: () => import('../transfer/export'),
};

export const importCommand: Command = {
  usage: 'import <from> [app] [file]',
  summary: 'read the records of an app from a file, or an app or a theme from a ZIP',
  arguments: {
    from: 'the site of the records; or a file that ends in .zip',
    app: 'the app of the records',
    file: 'the file of the records: CSV if it ends in .csv, else NDJSON',
  },
  options: [
    {
      flags: '--theme <id>',
      summary: 'of a ZIP: the theme that gets the app (default: that of the first configured site, else the only one)',
    },
    { flags: '--id <id>', summary: 'of a ZIP: the id of the app or theme (default: that of the ZIP)' },
    { flags: '--replace', summary: 'of a ZIP: replace an app or theme that is there' },
    {
      flags: '--restore',
      summary:
        'of records: store them as they were exported, with what the server had set; no rule is checked, no logic runs',
    },
  ],
  examples: [
    'strapi-plugin-apps import site rating rating.ndjson',
    'strapi-plugin-apps import rating.zip --theme default',
  ],
  load: () => import('../transfer/import'),
};
