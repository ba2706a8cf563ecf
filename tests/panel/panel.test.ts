import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { png } from '../forms/files/send';
import { hasBrowser } from '../support/browser';
import { useBrowser, useStage, useThemes } from '../support/hooks';
import { login, picture } from './administrator';

const themes = useThemes({
  'main/apps/shelf/blocks/book.yaml': [
    'elements:',
    '  title: { type: TEXT, label: Title, required: true, index_type: field }',
    '  total: { type: NUMBER, label: Total, min: 0, index_type: field }',
    '  body: { type: TEXTAREA, label: Body, index_type: text }',
    '  cover: { type: IMAGE, label: Cover }',
    '',
  ].join('\n'),
  'main/apps/shelf/blocks/book.html': '<p>{title}</p><p>{total}</p><p>{body}</p>{cover}{_save}',
  'main/apps/shelf/blocks/book.js':
    "export function validate(context) {\n  if (context.request.form.title === 'bad') context.invalid('title', 'not this title');\n}\n",
  'main/apps/shelf/blocks/broken.yaml': 'elements:\n  title: TEXXT\n',
});
const stage = useStage(() => ({ themesDirectory: themes.directory, env: { SERVE_ADMIN: 'true' } }));
const browser = useBrowser();

test('the first chunk of the plugin is small, and languages are chunks of their own', () => {
  const folder = path.resolve(__dirname, '../../plugins/apps/dist/admin');
  const read = (file: string) => readFileSync(path.join(folder, file), 'utf8');
  const first = new Set<string>();
  const add = (file: string): void => {
    if (first.has(file)) return;
    first.add(file);
    for (const [, next = ''] of read(file).matchAll(/from ?["']\.\/([^"']+)["']/g)) add(next);
  };
  add('index.mjs');
  const size = gzipSync([...first].map(read).join('')).length;
  expect(size).toBeLessThan(60 * 1024);
  // English is the text that stands in for missing ones.
  expect(readdirSync(folder).filter((file) => /^(de|fr|es)-.*\.mjs$/.test(file))).toHaveLength(3);
});

describe.runIf(hasBrowser)('the panel', () => {
  test('loads little for its first page, and the editor for code alone', async () => {
    const { page } = await login(stage, browser, 'root');
    await page.goto(`${stage.host.url}/admin`);
    await page.waitForSelector('h1');
    await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => undefined);
    const scripts: Promise<Buffer>[] = [];
    page.on('response', (response) => {
      if (response.request().resourceType() === 'script') scripts.push(response.body());
    });
    const loaded = async () => (await Promise.all(scripts)).reduce((sum, one) => sum + gzipSync(one).length, 0);
    await page.locator('a[href$="/plugins/apps"]').first().click();
    await page.getByRole('link', { name: 'shelf', exact: true }).first().click();
    await page.getByRole('tab', { name: /^Blocks/ }).click();
    await page.getByText('broken').first().waitFor();
    const first = await loaded();
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(60 * 1024);
    await page.getByRole('tab', { name: /^Code/ }).click();
    await page.getByRole('button', { name: 'blocks/book.js' }).click();
    await page.locator('.cm-editor').waitFor();
    expect(await loaded()).toBeGreaterThan(first);
    expect(await loaded()).toBeLessThan(450 * 1024);
    await page.context().close();
  });

  test('a way through the pages of an app', async () => {
    const { page, errors, open } = await login(stage, browser, 'root');
    await open('');
    await page.getByRole('region', { name: 'What does not work' }).getByText('shelf').waitFor();
    await picture(page, 'overview');

    await open('/site/shelf/records');
    await page.getByRole('button', { name: 'New record' }).click();
    await page.getByRole('menuitem', { name: 'Form of book' }).click();
    const frame = page.frameLocator('iframe');
    await frame.locator('[name=title]').fill('bad');
    await frame.locator('[name=_save]').click();
    await frame.getByText('not this title').first().waitFor();
    await picture(page, 'form');
    await frame.locator('[name=title]').fill('Apple');
    await frame.locator('[name=total]').fill('3');
    await frame.locator('[name=cover]').setInputFiles({ name: 'apple.png', mimeType: 'image/png', buffer: png });
    await frame.locator('[name=_save]').click();
    await page.getByRole('row', { name: /Apple/ }).waitFor();
    const apple = page.getByRole('row', { name: /Apple/ });
    await apple.getByAltText('apple.png').waitFor();

    await apple.getByRole('button', { name: /^Open record/ }).click();
    await frame.getByLabel(/Keep apple.png/).uncheck();
    await frame
      .locator('input[type=file][name=cover]')
      .setInputFiles({ name: 'pear.png', mimeType: 'image/png', buffer: png });
    await frame.locator('[name=_save]').click();
    await apple.getByAltText('pear.png').waitFor();
    expect(await apple.getByAltText('apple.png').count()).toBe(0);

    await page.getByRole('button', { name: 'Import' }).click();
    // As a spreadsheet in most of Europe writes it.
    const text = '\ufeffName;total\r\nBerry;7\r\nCherry;2\r\n;\r\n';
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'fruit.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    const item = page.getByLabel('Item of the column Name');
    await item.fill('title');
    await item.blur();
    await picture(page, 'import');
    await page.getByRole('button', { name: 'Import 2 records' }).click();
    await page.getByText('2 records are imported.').waitFor();
    await page.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('row', { name: /Cherry/ }).waitFor();

    await page.locator('thead').getByText('Total').click();
    await page.waitForURL(/sort=total/);
    await expect.poll(() => page.locator('tbody tr').first().textContent()).toMatch(/Cherry/);
    await picture(page, 'records');

    await page.getByLabel('Search', { exact: true }).fill('total >');
    await page.getByRole('search').getByRole('button').click();
    await expect.poll(() => page.getByRole('search').textContent()).toMatch(/\^/);
    await page.getByLabel('Search', { exact: true }).fill('Berry');
    await page.getByRole('search').getByRole('button').click();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);

    for (const tab of ['blocks', 'indexes', 'options']) {
      await open(`/site/shelf/${tab}`);
      await page.getByRole('tab', { selected: true }).waitFor();
      await picture(page, tab);
    }
    // The refused form and the wrong query were asked for.
    expect(errors.filter((text) => !/422|400/.test(text))).toEqual([]);
    await page.context().close();
  });

  test('the columns that are chosen are there in another browser', async () => {
    const { page, open } = await login(stage, browser, 'clerk');
    await open('/site/shelf/records');
    await page.locator('thead').getByText('Total').waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Total (total)' }).click();
    await expect.poll(() => page.locator('thead').getByText('Total').count()).toBe(0);
    await expect
      .poll(async () => (await stage.send({ as: 'clerk', send: 'GET /apps/sites/site/apps/shelf/columns' })).json)
      .toEqual({ columns: ['title', 'body', 'cover'] });
    const other = await login(stage, browser, 'clerk');
    await other.open('/site/shelf/records');
    await other.page.locator('thead').getByText('Title').waitFor();
    expect(await other.page.locator('thead').getByText('Total').count()).toBe(0);
    await page.context().close();
    await other.page.context().close();
  });

  test('dark', async () => {
    const { page, errors, open } = await login(stage, browser, 'root', { colorScheme: 'dark' });
    await open('');
    await picture(page, 'overview-dark');
    await open('/site/shelf/records');
    await page.getByRole('row').first().waitFor();
    await picture(page, 'records-dark');
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('with `read` alone nothing can be changed', async () => {
    const { page, open } = await login(stage, browser, 'overseer');
    await open('/site/shelf/records');
    await page.getByRole('button', { name: 'Export' }).waitFor();
    expect(await page.getByRole('button', { name: 'New record' }).count()).toBe(0);
    expect(await page.getByRole('tab', { name: 'Options' }).count()).toBe(0);
    await page.context().close();
  });

  test('without a permission there is no page and no link', async () => {
    const { page } = await login(stage, browser, 'olga');
    expect(await page.locator('nav a[href$="/plugins/apps"]').count()).toBe(0);
    await page.goto(`${stage.host.url}/admin/plugins/apps`);
    await page
      .getByText(/permissions/)
      .first()
      .waitFor();
    await page.context().close();
  });
});
