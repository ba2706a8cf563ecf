import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { violations } from '../support/accessibility';
import { hasBrowser } from '../support/browser';
import { configured } from '../support/configure';
import { useBrowser, useStage, useThemes } from '../support/hooks';
import { login, narrow, picture, wide } from './administrator';

const files = {
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
  'blocks/hello.html': '<p>{value}</p>\n',
  'blocks/hello.yaml': 'elements:\n  value: BASIC\n',
  'blocks/hello.js':
    "export function value(context) {\n  console.log('a line of the log that is rather long, so that it is wider than a telephone is');\n  throw new Error('too bad');\n}\nexport function note() {}\n",
  'blocks/broken.yaml': 'elements:\n  title: TEXXT\n',
};
const themes = useThemes({
  ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`main/apps/shelf/${name}`, text])),
  'fresh/theme.yaml': 'title: Fresh\n',
  'fresh/layout.html': '<!doctype html><html lang="en"><title>Fresh</title><h1>Fresh</h1>{{ main }}</html>\n',
});

/** The tile picker in Strapi's page of an entry. */
const TILE = 'div:has(> div > iframe)';
const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: { SERVE_ADMIN: 'true', ...configured({ apps: { editing: true } }) },
}));
const browser = useBrowser();

/** The page of a rule, whose address has an id. */
let rule = '';

beforeAll(async () => {
  const book = { block: 'book', state: 'free', topics: ['sea', 'war'], day: '2026-01-02', new: true };
  const body = 'A long text about the sea, which a cell of the table shows in several lines. '.repeat(3);
  await stage.put('shelf', 'moby', {
    ...book,
    title: 'Moby-Dick',
    body,
    site: `https://example.com/${'long/'.repeat(20)}`,
  });
  await stage.put('shelf', 'emma', { ...book, title: 'Emma', state: 'lent' });
  await stage.send({ send: 'GET shelf/blocks/hello', accept: 'text/html' });
  const json = { name: 'Note', enabled: true, event: 'create', contentType: 'api::article.article' };
  const target = { app: 'shelf', block: 'hello', function: 'note' };
  const made = await stage.send<{ id: string }>({ as: 'root', send: 'POST /apps/rules', json: { ...json, ...target } });
  rule = made.json.id;
});

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();

/** Pages by their names: the address, what is opened in it, and the plugin's part of a page of Strapi's. */
const pages: [name: string, at: () => string, open?: (page: Page) => Promise<unknown>, part?: string][] = [
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
  ['indexes', () => '/site/shelf/indexes'],
  ['runs', () => '/site/shelf/runs', (page) => failedRun(page).waitFor()],
  ['a run', () => '/site/shelf/runs', run],
  ['rights', () => '/site/shelf/rights', (page) => page.getByRole('row', { name: /^edit/ }).waitFor()],
  ['code', () => '/site/shelf/code', (page) => press(page, 'blocks/book.yaml')],
  ['preview', () => '/site/shelf/code', preview],
  ['failed runs below the code', () => '/site/shelf/code', failedBelow],
  ['a conflict', () => '/site/shelf/code', conflict],
  ['options', () => '/site/shelf/options'],
  ['a new rule', () => '/rules/create'],
  ['a rule', () => `/rules/${rule}`],
  ['the tile picker', () => '../../content-manager/collection-types/api::article.article/create', tile, TILE],
];

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

const failedRun = (page: Page) => page.getByRole('row').filter({ hasText: 'too bad' });

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

/** A file that has changed on the disk while it was edited. */
async function conflict(page: Page) {
  const name = 'blocks/hello.html';
  await press(page, name);
  await page.getByRole('textbox', { name, exact: true }).click();
  await page.keyboard.insertText('mine ');
  await writeFile(path.join(themes.directory, 'main/apps/shelf', name), '<p>theirs {value}</p>\n');
  await press(page, 'Save');
  await page.getByText(/changed on the disk/).waitFor();
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

/** The plugin's own parts of the page: not Strapi's navigation, and not the pages of a theme in frames. */
const own = ['main', '[role=dialog]', '[role=alertdialog]'];
const partsOf = (part?: string) => ({ include: part ? [part] : own, exclude: ['iframe'] });

/** Elements that reach beyond the right edge of the screen, and cannot be scrolled to. */
const beyond = (page: Page, own: string[]): Promise<string[]> =>
  page.evaluate((own) => {
    const scrolls = (element: Element | null): boolean =>
      element !== null && (getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement));
    return Array.from(document.querySelectorAll(own.map((part) => `${part} *`).join()))
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !scrolls(one.parentElement))
      .map((one) => one.outerHTML.slice(0, 200));
  }, own);

const overflow = (page: Page, own: string[]): Promise<number> =>
  page.evaluate((own) => {
    const all = Array.from(document.querySelectorAll(own.join()));
    return Math.max(...all.map((one) => one.scrollWidth - one.clientWidth));
  }, own);

describe.runIf(hasBrowser)('every page', () => {
  let opened: Awaited<ReturnType<typeof login>>;
  beforeAll(async () => {
    opened = await login(stage, browser, 'root', { bypassCSP: true });
  });

  test.each(pages)('%s: no violation, light and dark, and it fits a telephone', async (name, at, prepare, part) => {
    const { page, errors, open } = opened;
    errors.length = 0;
    await open(at().replace(/^(?=\.)/, '/'));
    await prepare?.(page);
    // The colours of a button under the pointer are Strapi's.
    await page.mouse.move(0, 0);
    // Strapi's own page may wait long for an address of the internet.
    await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => undefined);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await picture(page, `pages-${name.replace(/\W+/g, '-')}-${colorScheme}`);
      expect(await violations(page, partsOf(part)), colorScheme).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(narrow);
    const measured = part ? [part] : own;
    // What floats finds its new position a moment later.
    await expect.poll(() => beyond(page, measured)).toEqual([]);
    expect(await overflow(page, part ? measured : ['html', ...own])).toBeLessThanOrEqual(0);
    await page.setViewportSize(wide);
    // The wrong query and the conflict are asked for. Strapi's own pages ask for parts that only its paid plans have.
    const expected = part ? /status of 404/ : /status of (400|409)/;
    expect(errors.filter((text) => !expected.test(text))).toEqual([]);
  });
});

describe.runIf(hasBrowser)('the keyboard alone', () => {
  /** Presses a key until it has brought the focus where it should be. */
  async function until(page: Page, key: string, isThere: () => Promise<boolean>) {
    for (let times = 0; times < 100 && !(await isThere()); times++) await page.keyboard.press(key);
    expect(await isThere(), `${key} has moved the focus`).toBe(true);
  }

  const hasFocus = (wanted: Locator) => () =>
    wanted.evaluate((one) => one.ownerDocument.hasFocus() && one === one.ownerDocument.activeElement);
  const holdsFocus = (wanted: Locator) => () => wanted.evaluate((one) => one.contains(document.activeElement));

  async function reach(page: Page, wanted: Locator, ...keys: string[]) {
    await wanted.waitFor();
    await until(page, 'Tab', hasFocus(wanted));
    for (const key of keys) await page.keyboard.press(key);
  }

  /** Strapi's tables are grids: Tab leads into them, and arrow keys from cell to cell. */
  async function reachInTable(page: Page, wanted: Locator, ...keys: string[]) {
    await wanted.waitFor();
    await until(page, 'Tab', holdsFocus(page.getByRole('grid').filter({ has: wanted })));
    await until(page, 'ArrowDown', holdsFocus(page.getByRole('row').filter({ has: wanted })));
    await until(page, 'ArrowRight', hasFocus(wanted));
    for (const key of keys) await page.keyboard.press(key);
  }

  test('leads from the overview to a record, which is found, changed and saved', async () => {
    const { page, errors, open } = await login(stage, browser, 'root');
    await open('');
    await reachInTable(page, page.getByRole('link', { name: 'shelf', exact: true }), 'Enter');
    await page.waitForURL(/shelf\/records/);
    await page.getByRole('row', { name: /Emma/ }).waitFor();

    const search = page.getByRole('combobox', { name: 'Search', exact: true });
    await reach(page, search);
    await page.keyboard.type('sta');
    for (const key of ['ArrowDown', 'Enter', 'ArrowDown', 'Tab', 'ArrowDown', 'ArrowDown', 'Enter'])
      await page.keyboard.press(key);
    expect(await search.inputValue()).toBe("state == 'free' ");
    await page.getByRole('option', { name: 'and' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('listbox').count()).toBe(0);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);

    await reachInTable(page, page.getByRole('button', { name: 'Open record moby' }), 'Enter');
    const form = page.frameLocator('iframe');
    await reach(page, form.locator('[name=title]'), 'Control+A');
    await page.keyboard.type('The Whale');
    await reach(page, form.locator('[name=_save]'), 'Enter');
    await page.getByRole('row', { name: /The Whale/ }).waitFor();
    expect(await stage.items('shelf', 'moby')).toMatchObject({ title: 'The Whale' });
    // The question where the focus is counts as a script of the form.
    expect(errors.filter((text) => !/Blocked script/.test(text))).toEqual([]);
    await page.context().close();
  });
});
