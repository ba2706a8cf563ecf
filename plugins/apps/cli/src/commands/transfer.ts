import { encodings, separatorNames } from '../../../shared/cells';
import type { Command } from '../command';

export const exportCommand: Command = {
  usage: 'export <from> <target> [file]',
  summary: 'write the records of an app to a file, or the files of an app or theme to a ZIP',
  arguments: {
    from: 'the site of the records; or a theme, or <theme>/<app>',
    target: 'the app of the records; or a file that ends in .zip',
    file: 'the file of the records: CSV if it ends in .csv or .tsv, XLSX if in .xlsx, else NDJSON',
  },
  options: [{ flags: '--separator <name>', summary: 'of CSV (default: comma)', choices: separatorNames }],
  examples: [
    'strapi-plugin-apps export site rating rating.ndjson',
    'strapi-plugin-apps export site rating rating.csv',
    'strapi-plugin-apps export site rating rating.xlsx',
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
    file: 'the file of the records: CSV if it ends in .csv or .tsv, XLSX if in .xlsx, else NDJSON',
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
    { flags: '--block <name>', summary: 'of records: the block of those that name none' },
    { flags: '--language <tag>', summary: 'of a table: how its numbers and dates are written, such as de or en-GB' },
    { flags: '--separator <name>', summary: 'of CSV (default: found in the first line)', choices: separatorNames },
    {
      flags: '--encoding <name>',
      summary: 'of a text (default: UTF-8, or UTF-16 by its first bytes)',
      choices: encodings,
    },
    { flags: '--sheet <name>', summary: 'of XLSX: the sheet (default: the first one)' },
  ],
  examples: [
    'strapi-plugin-apps import site rating rating.ndjson',
    'strapi-plugin-apps import rating.zip --theme default',
  ],
  load: () => import('../transfer/import'),
};
