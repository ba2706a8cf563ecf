import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { program, runCli } from '../support/command-line';
import { writeFiles } from '../support/files';
import { useBrowser, useFolder, useStage, useThemes } from '../support/hooks';
import { html } from '../support/stage';

const at = useFolder('dev-command');

/** A host whose program `strapi` prints what it was started with, instead of starting. */
async function host(strapi = ''): Promise<string> {
  const folder = at(`host-${Math.random().toString(36).slice(2)}`);
  const files = {
    'package.json': '{"dependencies": {"@strapi/strapi": "^5.0.0"}}',
    'themes/default/theme.yaml': 'title: Default\n',
    'node_modules/@strapi/strapi/package.json': '{"name": "@strapi/strapi"}',
    'node_modules/@strapi/strapi/bin/strapi.js': `
      const { NODE_ENV, APPS_DEV, APPS_THEMES_DIRECTORY, PORT } = process.env;
      console.log(JSON.stringify([process.argv[2], NODE_ENV, APPS_DEV, APPS_THEMES_DIRECTORY, PORT]));
      ${strapi}`,
  };
  await writeFiles(folder, files);
  return folder;
}

describe('the command', () => {
  test("starts the host's Strapi in development, with its themes and port", async () => {
    const folder = await host();
    const { code, out, err } = await runCli(['dev', '--port', '1400'], { cwd: folder });
    expect(code, err).toBe(0);
    expect(JSON.parse(out)).toEqual(['develop', 'development', 'true', path.join(folder, 'themes'), '1400']);
  });

  test('ends with 2 when Strapi does not start', async () => {
    expect((await runCli(['dev'], { cwd: await host('process.exit(1);') })).code).toBe(2);
  });

  test.each([
    [['dev', '--port', '0'], '--port: 0 is not a port from 1 to 65535'],
    [['dev', '--port', '80a'], '--port: 80a is not a port'],
    [['dev', '--themes', 'none'], 'There is no themes folder'],
  ])('%j ends with 2', async (args, message) => {
    const { code, err } = await runCli(args, { cwd: await host() });
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});

test('problems that lint finds are printed at first, and when a file has changed them', async () => {
  const folder = await host(
    "const { existsSync } = require('node:fs'); setInterval(() => existsSync('stop') && process.exit(0), 50);",
  );
  const logic = 'themes/default/apps/a/blocks/b.js';
  const text = (method: string) => `export function f(context) {\n  return context.app.${method}("").length;\n}\n`;
  const yaml = 'elements: { f: BASIC }\n';
  await writeFiles(folder, { [logic]: text('serach'), 'themes/default/apps/a/blocks/b.yaml': yaml });
  const child = spawn(process.execPath, [program, 'dev'], { cwd: folder });
  let out = '';
  child.stdout.on('data', (data) => {
    out += data;
  });
  const ended = once(child, 'exit');
  const prints = (part: string) => expect.poll(() => out, { timeout: 30_000 }).toContain(part);
  await prints(`${logic}:2:22: error: There is no method "serach" of an app, did you mean "search"?`);
  await prints('2 |   return context.app.serach("").length;');
  await prints('1 error, 0 warnings in 1 theme, 1 app, 1 block');
  await writeFiles(folder, { [logic]: text('search') });
  await prints('No problems in 1 theme, 1 app, 1 block');
  await writeFiles(folder, { stop: '' });
  expect((await ended)[0]).toBe(0);
});

describe('pages', () => {
  const themes = useThemes({
    'main/apps/open/blocks/broken.js': 'export function f() {\n  return missing.name;\n}\n',
    'main/apps/open/blocks/broken.yaml': 'elements: { f: BASIC }\n',
    'main/apps/open/blocks/broken.html': '<main><p>{f}</p></main>\n',
    'main/apps/open/blocks/failing.js': 'export function on_display() {\n  return missing.name;\n}\n',
    'main/apps/open/blocks/failing.yaml': 'view: failing\n',
    'main/apps/open/blocks/failing.html': '<p>x</p>\n',
    'main/apps/open/blocks/later.yaml': 'elements: { add: BASIC }\n',
    'main/apps/open/blocks/later.js': [
      "export const add = ({ jobs }) => ['note', 'fail'].map((name) => jobs.add(`later/${name}`));",
      'export const note = () => null;',
      "export const fail = () => { throw new Error('too late'); };",
      '',
    ].join('\n'),
    'main/apps/open/blocks/clock.html': "<main><p>{{ 'now' | date: '%s' }}</p></main>\n",
    'main/templates/portal.html': '<main>{% block "open/blocks/clock" %}</main>',
    'main/apps/open/blocks/plain.html': '<main><h1>First</h1><input name="q" form="none"></main>\n',
  });
  const stage = useStage(() => ({
    themesDirectory: themes.directory,
    env: { NODE_ENV: 'development', APPS_DEV: 'true' },
  }));
  const browser = useBrowser();
  const page = (block: string) => `${stage.host.url}/site/@@apps/open/blocks/${block}`;
  beforeAll(async () => {
    await stage.send({ send: 'GET open/blocks/plain', accept: html });
  });

  test('a failed part quotes its line for any visitor', async () => {
    const { text } = await stage.send({ send: 'GET open/blocks/broken', accept: html });
    expect(text).toContain('apps/open/blocks/broken.js:2');
    expect(text).toMatch(/<code class="apps-excerpt">2 \| {3}return missing\.name;</);
  });

  test.each([['open/blocks/failing'], ['/site/@@failing']])('the error page of %s quotes its line too', async (at) => {
    const { status, text } = await stage.send({ send: `GET ${at}`, accept: html });
    expect(status).toBe(500);
    expect(text).toMatch(/<pre>2 \| {3}return missing\.name;/);
  });

  test('each try of a job is a line of the log', async () => {
    expect((await stage.send({ send: 'POST open/blocks/later/add', json: {} })).status).toBe(200);
    const prints = (line: RegExp) => expect.poll(() => stage.host.printed(), { timeout: 10_000 }).toMatch(line);
    await prints(/job \S+ of site\/open \(function later\/note\) done in \d+ ms/);
    const failed =
      'failed in \\d+ ms, try 1, it will be tried again: LogicError: apps/open/blocks/later.js:3: Error: too late';
    await prints(new RegExp(`job \\S+ of site/open \\(function later/fail\\) ${failed}`));
  });

  test('a whole page has the script, a part of a page has none', async () => {
    const script = '/site/@@apps.reload.js';
    expect((await stage.send({ send: 'GET open/blocks/plain', accept: html })).text).toContain(script);
    const part = { send: 'GET open/blocks/plain', accept: html, headers: { 'x-requested-with': 'XMLHttpRequest' } };
    expect((await stage.send(part)).text).not.toContain(script);
    const head = await fetch(`${stage.host.url}/site/@@apps.reload`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  });

  test('a page lists where it and its blocks come from', async () => {
    const { page: tab } = await browser.visitor();
    const list = tab.locator('#apps-renderings');
    await tab.goto(page('clock'));
    await list.getByText('Renderings: none; clock').click();
    expect(await list.locator('div').allTextContents()).toEqual(['page: none; clock']);
    await tab.goto(`${stage.host.url}/site/`);
    await list.getByText('Renderings: none; clock').click();
    expect((await list.locator('div').allTextContents()).at(1)).toMatch(/^open\/clock: none; clock \(\d+(\.\d)? ms\)$/);
  });

  test('a page reloads when a file changes, and asks first when something was entered', async () => {
    const { page: tab } = await browser.visitor();
    await tab.goto(page('plain'));
    await themes.write(
      'main/apps/open/blocks/plain.html',
      '<main><h1>Second</h1><input name="q" form="none"></main>\n',
    );
    await tab.getByRole('heading', { name: 'Second' }).waitFor();
    await tab.locator('input[name=q]').fill('typed');
    await themes.write('main/apps/open/assets/new.css', 'p {}');
    await tab.getByRole('button', { name: /Files of the theme have changed/ }).click();
    await expect.poll(() => tab.locator('input[name=q]').inputValue()).toBe('');
  });
});

describe('without the command', () => {
  const stage = useStage({ env: { NODE_ENV: 'development' } });
  test('no page has the script, and its address is 404', async () => {
    const { text } = await stage.send({ send: 'GET open/blocks/values', accept: html });
    expect(text).not.toContain('@@apps.reload');
    expect((await fetch(`${stage.host.url}/site/@@apps.reload`)).status).toBe(404);
  });
});
