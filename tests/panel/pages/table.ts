import { buffer } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { ZipFile } from 'yazl';
import type { ThemeCopy } from '../../support/theme';

/** The files of the app that the pages show. */
export const files = {
  'settings.yaml':
    'debug: true\nacl:\n  rights:\n    reader: ["*"]\n    author: [authors]\noptions:\n  greeting: hello\n',
  'blocks/book.yaml': [
    'elements:',
    '  title: { type: TEXT, label: Title, required: true, index_type: field }',
    '  state: { type: SELECT, label: State, options: [lent, free], index_type: field }',
    '  body: { type: TEXTAREA, label: Body, index_type: text }',
    '  topics: { type: CHECKBOXES, label: Topics, options: [sea, war], index_type: keyword }',
    '  site: { type: URL, label: Site }',
    '  day: { type: DATE, label: Day }',
    '  new: { type: BOOLEAN, label: New }',
    '',
  ].join('\n'),
  'blocks/book.html': '<p>{title} {state} {body} {topics} {site} {day} {new}</p>{_save}',
  'blocks/wish.yaml': 'drafts: true\nelements: { wish: TEXT }\n',
  'blocks/wish.html': '{wish}{_save}{_draft}',
  'blocks/hello.html': '<p>{value}</p>\n',
  'blocks/hello.yaml': "elements:\n  value: BASIC\nschedules: [{ run: note, cron: '0 6 * * 1-5' }]\n",
  'blocks/hello.js':
    "export function value(context) {\n  console.log('a line of the log that is rather long, so that it is wider than a telephone is');\n  throw new Error('too bad');\n}\nexport function note() {}\n",
  'blocks/broken.yaml': 'elements:\n  title: TEXXT\n',
};

/** The tile picker in Strapi's page of an entry. */
const TILE = 'div:has(> div > iframe)';

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();

/** A page: its name, its address, what is opened in it, and the plugin's part of a page of Strapi's. */
type Row = [name: string, at: () => string, open?: (page: Page) => Promise<unknown>, part?: string];

/** @param rule the id of the rule, once it is made */
export const pagesOf = (themes: ThemeCopy, rule: () => string): Row[] => [
  ['overview', () => ''],
  ['the links of a theme', () => '', (page) => press(page, 'Links')],
  ['another theme', () => '', anotherTheme],
  ['a ZIP', () => '', zip],
  ['blocks', () => '/site/shelf/blocks'],
  ['records', () => '/site/shelf/records', (page) => page.getByRole('row', { name: /Emma/ }).waitFor()],
  ['suggestions', () => '/site/shelf/records', suggest],
  ['a wrong query', () => '/site/shelf/records?q=state+%3D%3D', (page) => page.getByText(/query ends/).waitFor()],
  ['filter', () => '/site/shelf/records', (page) => press(page, 'Filter')],
  ['columns', () => '/site/shelf/records', (page) => press(page, 'Columns')],
  ['a record', () => '/site/shelf/records', (page) => press(page, 'Open record moby')],
  ['a record as JSON', () => '/site/shelf/records', asJson],
  ['import', () => '/site/shelf/records', (page) => press(page, 'Import')],
  ['import, mapped', () => '/site/shelf/records', mapped],
  ['a question', () => '/site/shelf/records', (page) => press(page, 'Delete record moby')],
  ['drafts', () => '/site/shelf/records', (page) => press(page, 'Drafts: 1')],
  ['a question about a draft', () => '/site/shelf/records', deleteDraft],
  ['indexes', () => '/site/shelf/indexes'],
  ['runs', () => '/site/shelf/runs', (page) => failedRun(page).waitFor()],
  ['a run', () => '/site/shelf/runs', run],
  ['rights', () => '/site/shelf/rights', (page) => page.getByRole('row', { name: /^edit/ }).waitFor()],
  ['code', () => '/site/shelf/code', (page) => press(page, 'blocks/book.yaml')],
  ['preview', () => '/site/shelf/code', preview],
  ['failed runs below the code', () => '/site/shelf/code', failedBelow],
  ['a conflict', () => '/site/shelf/code', (page) => conflict(page, themes)],
  ['options', () => '/site/shelf/options'],
  ['audit log', () => '/audit', (page) => page.getByRole('heading', { name: 'Audit log' }).waitFor()],
  ['persons', () => '/persons', findPerson],
  ['a question about a person', () => '/persons', erasePerson],
  ['jobs', () => '/jobs', (page) => page.getByRole('row', { name: /At 06:00/ }).waitFor()],
  ['jobs that are given up', () => '/jobs?list=dead&kind=function', (page) => deadJob(page).waitFor()],
  [
    'a job',
    () => '/jobs?list=dead',
    (page) => deadJob(page).getByRole('button', { name: 'hello/value', exact: true }).click(),
  ],
  ['a question about jobs', () => '/jobs?list=dead&kind=function', (page) => press(page, 'Run all of this kind again')],
  ['the runs of a job', () => '/jobs?list=dead', runsOfJob],
  ['a new rule', () => '/rules/create'],
  ['a rule', () => `/rules/${rule()}`],
  ['the tile picker', () => '../../content-manager/collection-types/api::article.article/create', tile, TILE],
];

async function deleteDraft(page: Page) {
  await press(page, 'Drafts: 1');
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Delete/ })
    .click();
}

async function findPerson(page: Page) {
  await page.getByLabel('E-mail address or user').fill('anna@example.com');
  await press(page, 'Find');
  await page
    .getByText('Nothing is stored.')
    .or(page.getByRole('button', { name: 'Erase' }))
    .first()
    .waitFor();
}

async function erasePerson(page: Page) {
  // Who has made the job that is given up.
  await page.getByLabel('E-mail address or user').fill('mona');
  await press(page, 'Find');
  await press(page, 'Erase');
}

async function suggest(page: Page) {
  await page.getByLabel('Search', { exact: true }).fill('s');
  await page.keyboard.press('ArrowDown');
  await page.getByRole('option', { selected: true }).waitFor();
}

async function asJson(page: Page) {
  await press(page, 'Open record moby');
  await page.getByRole('tab', { name: 'JSON' }).click();
}

async function mapped(page: Page) {
  await press(page, 'Import');
  const buffer = Buffer.from('Name,state\nBerry,free\nCherry,lent,more\n');
  await page.locator('input[type=file]').setInputFiles({ name: 'books.csv', mimeType: 'text/csv', buffer });
  await page.getByText(/1 line is not right/).waitFor();
}

const deadJob = (page: Page) => page.getByRole('row').filter({ hasText: 'hello/value' });

async function runsOfJob(page: Page) {
  await deadJob(page).getByRole('button', { name: 'hello/value', exact: true }).click();
  await page.getByRole('link', { name: 'Its runs' }).click();
  await page.getByRole('link', { name: 'Job (Function), try 1' }).waitFor();
}

const failedRun = (page: Page) => page.getByRole('row').filter({ hasText: 'too bad' }).filter({ hasText: 'GET' });

async function failedBelow(page: Page) {
  await press(page, 'blocks/hello.js');
  await page.getByRole('grid', { name: 'Failed runs of hello' }).getByText('too bad').first().waitFor();
}

async function run(page: Page) {
  await failedRun(page).getByRole('button').first().click();
  await press(page, 'Run again, without writing');
  await page.getByText('It would have written nothing.').waitFor();
}

async function preview(page: Page) {
  await press(page, 'blocks/book.html');
  await page.frameLocator('iframe').getByText('Title').first().waitFor();
}

async function anotherTheme(page: Page) {
  await page.getByRole('combobox', { name: 'Active theme' }).click();
  await page.getByRole('option', { name: 'Fresh' }).click();
  await page.frameLocator('iframe').getByRole('heading', { name: 'Fresh' }).waitFor();
}

async function zip(page: Page) {
  const made = new ZipFile();
  made.addBuffer(Buffer.from('{titel}'), 'folder/blocks/a.html');
  made.addBuffer(Buffer.from('elements:\n  title: TEXT\n'), 'folder/blocks/a.yaml');
  made.addBuffer(Buffer.from(''), 'folder/tests/a.test.js');
  made.end();
  const sent = { name: 'folder.zip', mimeType: 'application/zip', buffer: await buffer(made.outputStream) };
  await page.locator('input[type=file]').setInputFiles(sent);
  await page.getByText(/tests are programs/).waitFor();
}

async function tile(page: Page) {
  await press(page, /^Add a component/);
  // The choice of the component, which opens its fields.
  await page.getByRole('button', { name: 'Block', exact: true }).last().click();
  const field = page.getByPlaceholder('Choose a block');
  await field.waitFor({ timeout: 5_000 }).catch(() =>
    page
      .getByRole('button', { name: /^Block/ })
      .last()
      .click(),
  );
  await field.click();
  await page.getByRole('option', { name: 'shelf / book' }).click();
  await page.frameLocator('iframe').getByText('Title').first().waitFor();
}

/** A file that has changed on the disk while it was edited. */
async function conflict(page: Page, themes: ThemeCopy) {
  const name = 'blocks/hello.html';
  await press(page, name);
  await page.getByRole('textbox', { name, exact: true }).click();
  await page.keyboard.insertText('mine ');
  await themes.write(`main/apps/shelf/${name}`, '<p>theirs {value}</p>\n');
  await press(page, 'Save');
  await page.getByText(/changed on the disk/).waitFor();
}
