/** What is checked on a running Strapi with the packed plugin. Each function throws when something is wrong. */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { writeFiles } from '../files.mjs';
import { findChromium } from '../prepare.mjs';
import { run } from './host.mjs';

/** An app with records that anonymous visitors may write and search, and a block in each language. */
const notes = {
  'settings.yaml': "acl:\n  rights:\n    author: ['*']\n    editor: ['*']\n",
  'blocks/entry.yaml': 'elements:\n  title: TEXT\n  rank: { type: NUMBER, index_type: field }\n',
  'blocks/entry.html': '<p>{title}{rank}{_save}</p>',
  'blocks/typed.yaml': 'elements:\n  value: BASIC\n',
  'blocks/typed.ts': 'export const value = (): number => 40 + 2;\n',
  'blocks/snake.yaml': 'elements:\n  value: BASIC\n',
  'blocks/snake.py': 'def value(context):\n    return 40 + 2\n',
};

export const writeNotes = (host) => writeFiles(join(host, 'themes', 'default', 'apps', 'notes'), notes);

const json = { Accept: 'application/json', 'Content-Type': 'application/json' };

async function ask(url, { status = 200, ...options } = {}) {
  const answer = await fetch(url, { headers: json, ...options });
  const text = await answer.text();
  assert.equal(answer.status, status, `${options.method ?? 'GET'} ${url}: ${answer.status} ${text.slice(0, 500)}`);
  return { answer, body: JSON.parse(text) };
}

/** Records are created, searched and read over JSON; logic runs. @param python whether its package is installed */
export async function smoke(url, { python }) {
  const app = `${url}/site/@@apps/notes`;
  const { answer } = await ask(app);
  const headers = { ...json, 'X-CSRF-TOKEN': answer.headers.get('x-csrf-token') };
  const send = (path, method, body, status) =>
    ask(`${app}${path}`, { method, headers, body: JSON.stringify(body), status });
  await send('', 'POST', { title: 'A title', rank: 3 }, 201);
  await send('/record/a1', 'PUT', { title: 'Another', rank: 1 }, 201);
  const { body: found } = await send('/search', 'POST', { query: 'rank < 2', sort_index: 'rank' });
  assert.deepEqual(
    found.map(({ id }) => id),
    ['a1'],
  );
  assert.equal((await ask(`${app}/blocks/typed/value`)).body, 42);
  const snake = `${app}/blocks/snake/value`;
  if (python) assert.equal((await ask(snake)).body, 42);
  else await ask(snake, { status: 500 });
  await send('/records', 'DELETE');
}

const account = { email: 'first@example.com', password: 'Secret123' };

/** Opens the panel in a browser as the administrator, for `work(page)`. @returns what that returns */
async function inPanel(url, work) {
  const browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    const wrong = [];
    page.on('pageerror', (error) => wrong.push(error.message));
    await page.goto(`${url}/admin/auth/login`);
    const email = page.getByLabel(/email/i);
    await email.waitFor().catch(async (error) => {
      throw new Error(`${error.message}\n${wrong.join('\n')}\n${await page.locator('body').textContent()}`);
    });
    await email.fill(account.email);
    await page.getByLabel('Password', { exact: false }).first().fill(account.password);
    await page.getByRole('button', { name: /login/i }).click();
    await page.waitForURL((address) => !address.pathname.includes('/auth/'));
    const result = await work(page);
    assert.deepEqual(wrong, []);
    return result;
  } finally {
    await browser.close();
  }
}

/** Opens the plugin's page in a browser, as a new administrator. @returns milliseconds from the login to the page */
export async function openPanel(host, url) {
  const bin = join('node_modules', '@strapi', 'strapi', 'bin', 'strapi.js');
  const names = ['--firstname=First', '--lastname=Last'];
  run(host, process.execPath, [
    bin,
    'admin:create-user',
    `--email=${account.email}`,
    `--password=${account.password}`,
    ...names,
  ]);
  return inPanel(url, async (page) => {
    const begin = performance.now();
    await page.goto(`${url}/admin/plugins/apps`);
    await page.getByRole('heading', { name: 'Apps', exact: true }).first().waitFor();
    await page.getByRole('link', { name: 'notes', exact: false }).first().waitFor();
    const time = performance.now() - begin;
    assert.equal(await page.getByRole('region', { name: 'What is missing' }).count(), 0);
    return time;
  });
}

/**
 * A half-filled form of the Content Manager keeps its contents when a file of a theme is saved. To see that the panel listens at all,
 * an .html file elsewhere is saved afterwards: it reloads the page.
 */
export function keepForm(host, url) {
  const themes = join(host, 'themes', 'default');
  return inPanel(url, async (page) => {
    const loads = [];
    page.on('load', () => loads.push(page.url()));
    const reloaded = async (seconds) => {
      const before = loads.length;
      for (let waited = 0; waited < seconds * 1000 && loads.length === before; waited += 200) await pause(200);
      return loads.length > before;
    };
    await page.goto(`${url}/admin/content-manager/collection-types/plugin::users-permissions.user/create`);
    const name = page.getByLabel(/^username/i);
    await name.waitFor();
    // The development server reloads a page when it has found further packages.
    while (await reloaded(5));
    await name.fill('half filled');
    appendFileSync(join(themes, 'apps', 'likes', 'blocks', 'like.html'), '<p>saved</p>\n');
    writeFiles(themes, { 'pages/new.html': '<p>new</p>', 'apps/likes/blocks/new.liquid': '<p>new</p>' });
    assert.equal(await reloaded(5), false, 'A saved file of a theme has reloaded the panel');
    assert.equal(await name.inputValue(), 'half filled');
    // Strapi itself does not watch this folder.
    writeFiles(host, { 'public/page.html': '<p>no file of a theme</p>' });
    assert.equal(await reloaded(20), true, 'The panel does not listen to its development server');
  });
}

/** A saved file of a theme shows at the next request, and does not restart Strapi; one of the host does. */
export async function editFiles(host, running) {
  const layout = join(host, 'themes', 'default', 'apps', 'likes', 'blocks', 'like.html');
  const starts = running.starts();
  appendFileSync(layout, '<p>edited just now</p>\n');
  writeFiles(join(host, 'themes', 'default', 'apps', 'added', 'blocks'), { 'one.html': '<p>added</p>' });
  const page = await fetch(`${running.url}/site/@@apps/likes/blocks/like`);
  assert.match(await page.text(), /edited just now/);
  await pause(5000);
  assert.equal(running.starts(), starts, 'Strapi restarted for a file of a theme');
  // The watcher is at work: a file of the host restarts Strapi.
  writeFiles(host, { 'config/extra.js': 'module.exports = {};\n' });
  for (let waited = 0; running.starts() === starts; waited += 500) {
    assert.ok(waited < 60_000, 'Strapi did not restart for a file of the host');
    await pause(500);
  }
}
