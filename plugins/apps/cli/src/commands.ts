import { jobKinds, jobViews } from '../../shared/admin-api';
import { encodings, separatorNames } from '../../shared/cells';
import type { Command, CommandOption } from './command';

const dev: Command = {
  usage: 'dev',
  summary:
    'run `strapi develop` with pages that reload when a theme file changes, errors shown where they are, and the problems that `lint` finds',
  options: [{ flags: '--port <number>', summary: 'the port, as the environment variable PORT of the host' }],
  examples: ['strapi-plugin-apps dev', 'strapi-plugin-apps dev --port 1400'],
  load: () => import('./dev'),
};

const init: Command = {
  usage: 'init',
  summary: 'make a themes folder with a small complete theme and one app',
  options: [{ flags: '--theme <id>', summary: 'id of the theme', default: 'default' }],
  load: () => import('./init'),
};

/** Which jobs are meant. */
const filters: readonly CommandOption[] = [
  { flags: '--kind <kind>', summary: 'only jobs of this kind', choices: jobKinds },
  { flags: '--site <id>', summary: 'only jobs of this site' },
  { flags: '--app <id>', summary: 'only jobs of this app' },
  { flags: '--name <name>', summary: 'only jobs of this name, such as <block>/<function>' },
];

const list: Command = {
  usage: 'list',
  summary: 'list jobs, the latest first',
  options: [
    {
      flags: '--state <state>',
      summary: 'only jobs in this state; failed ones wait for their next try',
      choices: jobViews,
    },
    ...filters,
    { flags: '--limit <number>', summary: 'how many, at most', default: '100' },
  ],
  examples: ['strapi-plugin-apps jobs list --state dead', 'strapi-plugin-apps jobs list --app news --json'],
  load: () => import('./jobs'),
};

const retry: Command = {
  usage: 'retry [id]',
  summary: 'run a job again, or all dead ones: the running server does it at once, with all tries',
  arguments: { id: 'id of a job that does not run' },
  options: [{ flags: '--dead', summary: 'all dead jobs' }, ...filters],
  examples: ['strapi-plugin-apps jobs retry --dead --kind webhook'],
  load: () => import('./jobs').then(({ retry: run }) => ({ run })),
};

const deleteCommand: Command = {
  usage: 'delete <id>',
  summary: 'delete a job that does not run: what it was to do is not done',
  load: () => import('./jobs').then(({ remove: run }) => ({ run })),
};

const jobs: Command = {
  usage: 'jobs',
  summary: 'show what apps have still to do, run jobs again, delete them',
  commands: [list, retry, deleteCommand],
};

const movedApp = { app: 'only files of this app, on all sites' };

const files: Command = {
  usage: 'files',
  summary: 'move the files of records, which only those who may view the record read, or all who know their address',
  commands: [
    {
      usage: 'private [app]',
      summary: 'out of the media library, but for those of elements with `public: true`',
      arguments: movedApp,
      examples: ['strapi-plugin-apps files private', 'strapi-plugin-apps files private jobs --json'],
      load: () => import('./move-files').then(({ toPrivate: run }) => ({ run })),
    },
    {
      usage: 'public [app]',
      summary: 'into the media library: those of elements with `public: true`, of an app that is named all',
      arguments: movedApp,
      load: () => import('./move-files').then(({ toPublic: run }) => ({ run })),
    },
  ],
};

const whose = { who: 'an e-mail address; or a user, by the name or as user:<document id>' };

const person: Command = {
  usage: 'person',
  summary: 'export or erase everything that is stored of a person, in all apps',
  commands: [
    {
      usage: 'export <who>',
      summary: 'write it to a ZIP, as a page and as JSON, with the files',
      arguments: whose,
      options: [{ flags: '--out <file>', summary: 'the file to write', default: 'person.zip' }],
      examples: ['strapi-plugin-apps person export anna@example.org --out anna.zip'],
      load: () => import('./person').then(({ exportPerson: run }) => ({ run })),
    },
    {
      usage: 'erase <who>',
      summary: 'show what would be erased; with --yes erase it',
      arguments: whose,
      options: [{ flags: '--yes', summary: 'erase it: it cannot be restored' }],
      examples: ['strapi-plugin-apps person erase anna@example.org --yes'],
      load: () => import('./person').then(({ erasePerson: run }) => ({ run })),
    },
  ],
};

export const lint: Command = {
  usage: 'lint [target]',
  summary: 'check themes and apps, without a database and without starting Strapi',
  arguments: { target: 'a theme, an app, or <theme>/<app>; all themes without it' },
  options: [
    { flags: '--types', summary: "check the types of .ts logic with the host's TypeScript" },
    { flags: '--host', summary: 'start the host, and check the names in acl with its users and roles' },
  ],
  load: () => import('./lint'),
};

const theme = {
  flags: '--theme <id>',
  summary: 'the theme that gets it (default: that of the first configured site, else the only one)',
};

const newCommand: Command = {
  usage: 'new',
  summary: 'add an app or a block to a theme',
  commands: [
    {
      usage: 'app <id>',
      summary: 'add an app',
      arguments: { id: 'id of the app: its folder and address' },
      options: [
        {
          flags: '--from <template>',
          summary: 'what the app begins with',
          choices: ['poll', 'comments', 'contact', 'survey', 'glossary', 'rating'],
        },
        theme,
      ],
      load: () => import('./new').then(({ newApp: run }) => ({ run })),
    },
    {
      usage: 'block <path>',
      summary: 'add a block to an app',
      arguments: { path: '<app>/<block>' },
      options: [
        { flags: '--language <language>', summary: 'of its logic', choices: ['js', 'ts', 'python'], default: 'js' },
        theme,
      ],
      load: () => import('./new').then(({ newBlock: run }) => ({ run })),
    },
  ],
};

const openapi: Command = {
  usage: 'openapi [site] [app] [file]',
  summary: 'write the OpenAPI document of an app, or of all apps of a site',
  arguments: {
    site: 'the site (default: the first one)',
    app: 'the app; all apps without it',
    file: 'the file to write (default: standard output)',
  },
  examples: ['strapi-plugin-apps openapi > site.json', 'strapi-plugin-apps openapi site rating rating.json'],
  load: () => import('./openapi'),
};

const types: Command = {
  usage: 'types [app]',
  summary: "write the types of an app's items and elements, for its logic",
  arguments: { app: '<app>, or <theme>/<app>; all apps of the theme without it' },
  options: [
    {
      flags: '--theme <id>',
      summary: 'the theme of the app (default: that of the first configured site, else the only one)',
    },
  ],
  load: () => import('./types'),
};

export const check: Command = {
  usage: 'check',
  summary: 'compare the records of all apps with their indexes',
  options: [{ flags: '--repair', summary: 'correct what is wrong' }],
  load: () => import('./records').then(({ check: run }) => ({ run })),
};

const reindex: Command = {
  usage: 'reindex <site> <app>',
  summary: 'index all records of an app again',
  options: [{ flags: '--rebuild', summary: 'drop the indexes before' }],
  load: () => import('./records').then(({ reindex: run }) => ({ run })),
};

export const test: Command = {
  usage: 'test [app]',
  summary: "run the tests of apps on the host's Strapi, with a temporary SQLite database and without a port",
  arguments: { app: 'id of an app; all apps of the site without it' },
  options: [
    { flags: '--site <id>', summary: 'the site whose theme is tested (default: the first of the configuration)' },
    { flags: '--name <pattern>', summary: 'only tests whose titles match this regular expression' },
    { flags: '--timeout <seconds>', summary: 'the time limit of a test that names no other (default: 60)' },
    { flags: '--watch', summary: 'run them again whenever a file of the themes changes' },
  ],
  examples: ['strapi-plugin-apps test', 'strapi-plugin-apps test comments --name moderator'],
  load: () => import('./test'),
};

const exportCommand: Command = {
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
  load: () => import('./export'),
};

const importCommand: Command = {
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
  load: () => import('./import'),
};

/** All commands, in the order of `--help`: one file each, which says how it is called and loads its work. */
export const commands: readonly Command[] = [
  init,
  newCommand,
  lint,
  test,
  dev,
  exportCommand,
  importCommand,
  check,
  reindex,
  jobs,
  files,
  person,
  openapi,
  types,
];
