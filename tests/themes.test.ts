import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Row, type Stage } from './support/stage';
import { runTable } from './support/table';
import { copyThemes, type ThemeCopy } from './support/theme';

let themes: ThemeCopy;
let stage: Stage;
beforeAll(async () => {
  themes = await copyThemes();
  const main = path.join(themes.directory, 'main');
  await themes.write('outside.txt', 'outside of the theme');
  await symlink(path.join(themes.directory, 'outside.txt'), path.join(main, 'assets', 'link.txt'));
  await symlink('/etc', path.join(main, 'assets', 'etc'));
  await symlink(path.join(main, 'assets', 'site.css'), path.join(main, 'assets', 'inside.css'));
  await symlink(path.join(themes.directory, 'other', 'apps', 'linked'), path.join(main, 'apps', 'bylink'));
  await mkdir(path.join(main, 'apps', 'hollow', 'blocks'), { recursive: true });
  stage = await openStage({ themesDirectory: themes.directory });
});
afterAll(async () => {
  await stage?.close();
  await themes?.dispose();
});

const table = (rows: readonly Row[]) => runTable(() => stage, rows);
const html = 'text/html';

describe('apps of a theme', () => {
  table([
    { it: 'a folder', send: 'GET plain/blocks/hello', accept: html, status: 200, has: ['Plain hello'] },
    {
      it: 'a link to an inactive theme',
      send: 'GET linked/blocks/hello',
      accept: html,
      status: 200,
      has: ['Hello from the other theme'],
    },
    { it: 'its JSON', send: 'GET linked', status: 200, answers: { 'x-csrf-token': /./ } },
    { it: 'a chain that comes back', send: 'GET loop', status: 404, error: 'NotFoundError' },
    { it: 'a link to a missing theme', send: 'GET lost', status: 404, error: 'NotFoundError' },
    { it: 'a link to a missing app', send: 'GET lostapp', status: 404, error: 'NotFoundError' },
    { it: 'a symbolic link out of the theme', send: 'GET bylink/blocks/hello', accept: html, status: 404 },
    { it: 'a block without a layout, as a page', send: 'GET open/blocks/values', accept: html, status: 404 },
    { it: 'its elements', send: 'GET open/blocks/values/number', status: 200, is: 42 },
    { it: 'a layout alone', send: 'GET plain/blocks/hello', status: 200, is: { elements: {} } },
    { it: 'a file name is no block', send: 'GET plain/blocks/hello.html', accept: html, status: 404 },
  ]);

  test('a broken link is logged once', async () => {
    for (let time = 0; time < 3; time += 1) await stage.send({ send: 'GET lost' });
    const lines = stage.host
      .output()
      .split('\n')
      .filter((line) => /lost\.lnk|"lost"|\blost\b.*nowhere/.test(line) && !/HTTP|http:/.test(line));
    expect(lines, lines.join('\n')).toHaveLength(1);
  });
});

describe('public files', () => {
  const at = '/site/@@theme/main';
  table([
    {
      it: "the theme's",
      send: `GET ${at}/assets/site.css`,
      status: 200,
      has: ['teal'],
      answers: { 'content-type': /text\/css/, 'x-content-type-options': 'nosniff' },
    },
    {
      it: "an app's",
      send: `GET ${at}/apps/open/assets/app.js`,
      status: 200,
      has: ['public file'],
      answers: { 'content-type': /javascript/ },
    },
    { it: 'HEAD', send: `HEAD ${at}/assets/site.css`, status: 200, answers: { 'content-type': /text\/css/ } },
    { it: 'a link inside the theme', send: `GET ${at}/assets/inside.css`, status: 200, has: ['teal'] },
    { it: 'a link out of the theme', send: `GET ${at}/assets/link.txt`, status: 404, lacks: ['outside of'] },
    { it: 'a folder link out of the theme', send: `GET ${at}/assets/etc/passwd`, status: 404 },
    { it: 'a missing file', send: `GET ${at}/assets/absent.css`, status: 404 },
    { it: 'a folder', send: `GET ${at}/assets/`, status: 404 },
    { it: 'a private file', send: `GET ${at}/private.txt`, status: 404 },
    { it: 'the layout', send: `GET ${at}/layout.html`, status: 404, lacks: ['main theme'] },
    { it: 'the description', send: `GET ${at}/theme.yaml`, status: 404 },
    { it: 'settings', send: `GET ${at}/apps/open/settings.yaml`, status: 404, lacks: ['editor'] },
    { it: 'logic', send: `GET ${at}/apps/open/blocks/values.js`, status: 404, lacks: ['export'] },
    { it: 'libraries', send: `GET ${at}/apps/logic/lib/shared.js`, status: 404, lacks: ['export'] },
    { it: 'dots', send: `GET ${at}/assets/../private.txt`, status: 404, lacks: ['never'] },
    { it: 'encoded dots', send: `GET ${at}/assets/%2e%2e/private.txt`, status: 404, lacks: ['never'] },
    { it: 'encoded slashes', send: `GET ${at}/assets/..%2Fprivate.txt`, status: 404, lacks: ['never'] },
    { it: 'backslashes', send: `GET ${at}/assets/..%5Cprivate.txt`, status: 404, lacks: ['never'] },
    { it: 'twice encoded dots', send: `GET ${at}/assets/%252e%252e/private.txt`, status: 404, lacks: ['never'] },
    { it: 'a zero byte', send: `GET ${at}/assets/site.css%00.png`, status: 404 },
    { it: 'out of all themes', send: `GET ${at}/assets/../../outside.txt`, status: 404, lacks: ['outside of'] },
    { it: 'an absolute path', send: `GET ${at}/assets//etc/passwd`, status: 404 },
    { it: 'an unknown theme', send: 'GET /site/@@theme/nowhere/assets/site.css', status: 404 },
    { it: 'a theme out of the folder', send: 'GET /site/@@theme/..%2Fmain/assets/site.css', status: 404 },
    { it: 'themes are not in public/', send: 'GET /main/assets/site.css', status: 404 },
    { it: 'no change', send: `POST ${at}/assets/site.css`, status: 405 },
  ]);
});

/** Asks until the answer is as wanted; what comes after two seconds is too late (contract, section 2). */
async function within2s(row: Omit<Row, 'it' | 'status'>, wanted: (text: string, status: number) => boolean) {
  const end = Date.now() + 2_000;
  let answer = await stage.send(row);
  while (!wanted(answer.text, answer.status) && Date.now() < end) {
    await new Promise((done) => setTimeout(done, 50));
    answer = await stage.send(row);
  }
  expect(wanted(answer.text, answer.status), `${answer.status} ${answer.text.slice(0, 500)}`).toBe(true);
}

describe('files change without a restart', () => {
  const page = { send: 'GET fresh/blocks/page', accept: html };
  const value = { send: 'GET fresh/blocks/page/value' };
  const js = (text: string) => `export function value() {\n  return '${text}';\n}\n`;

  test('a new app, and every kind of change', async () => {
    expect((await stage.send(page)).status).toBe(404);
    await themes.write('main/apps/fresh/blocks/page.html', '<p>first {value}</p>');
    await within2s(page, (text) => text.includes('first'));
    await themes.write('main/apps/fresh/blocks/page.yaml', 'elements:\n  value: BASIC\n');
    await themes.write('main/apps/fresh/blocks/page.js', js('one'));
    await within2s(page, (text) => text.includes('first one'));
    await themes.write('main/apps/fresh/blocks/page.js', js('two'));
    await within2s(page, (text) => text.includes('first two'));
    await themes.write('main/apps/fresh/blocks/page.html', '<p>second {value}</p>');
    await within2s(page, (text) => text.includes('second two'));
    await themes.write('main/apps/fresh/lib/words.js', "export const word = 'imported';\n");
    await themes.write(
      'main/apps/fresh/blocks/page.js',
      "import { word } from '../lib/words';\nexport const value = () => word;\n",
    );
    await within2s(value, (text) => text.includes('imported'));
    await themes.write('main/apps/fresh/lib/words.js', "export const word = 'changed';\n");
    await within2s(value, (text) => text.includes('changed'));
    await themes.write('main/apps/fresh/settings.yaml', 'debug: true\n');
    await within2s({ send: 'GET fresh' }, (text) => text.includes('"debug":true'));
    await themes.remove('main/apps/fresh/settings.yaml');
    await within2s({ send: 'GET fresh' }, (text) => text.includes('no_settings'));
    await themes.remove('main/apps/fresh/blocks/page.html');
    await within2s(page, (_text, status) => status === 404);
    await themes.remove('main/apps/fresh');
    await within2s({ send: 'GET fresh' }, (_text, status) => status === 404);
  });

  test('a block breaks, alone, and is mended', async () => {
    const good = { send: 'GET open/blocks/values/number' };
    await themes.write('main/apps/open/blocks/extra.yaml', 'elements:\n  value: BASIC\n');
    await themes.write('main/apps/open/blocks/extra.js', 'export const value = () => 1;\n');
    await within2s({ send: 'GET open/blocks/extra/value' }, (text) => text === '1');
    await themes.write('main/apps/open/blocks/extra.js', 'export const value = () => (1;\n');
    await within2s({ send: 'GET open/blocks/extra/value' }, (_text, status) => status === 500);
    expect((await stage.send(good)).json).toBe(42);
    await themes.write('main/apps/open/blocks/extra.js', 'export const value = () => 2;\n');
    await within2s({ send: 'GET open/blocks/extra/value' }, (text) => text === '2');
  });

  test('a record whose block is gone is still shown', async () => {
    await themes.write('main/apps/open/blocks/brief.html', '<p>brief {title}</p>');
    await themes.write('main/apps/open/blocks/brief.yaml', 'elements:\n  title: TEXT\n');
    const shown = { send: 'GET open/record/orphan', accept: html };
    await within2s(
      { send: 'PUT open/record/orphan', json: { block: 'brief', title: 'kept' } },
      (_, status) => status === 201,
    );
    await within2s(shown, (text) => text.includes('brief kept'));
    await themes.remove('main/apps/open/blocks/brief.html');
    await themes.remove('main/apps/open/blocks/brief.yaml');
    await within2s(shown, (text, status) => status === 200 && text.includes('kept') && !text.includes('brief kept'));
  });

  test('a newly declared index is right for old records', async () => {
    await stage.put('open', 'old', { colour: 'red' });
    const search = { send: 'POST open/search', json: { query: "colour == 'red'" } };
    expect((await stage.send(search)).status).toBe(400);
    await themes.write('main/apps/open/blocks/paint.yaml', 'elements:\n  colour: { type: TEXT, index_type: field }\n');
    await within2s(search, (_text, status) => status !== 400);
    let answer = await stage.send<{ id: string }[]>(search);
    for (let time = 0; answer.status === 503 && time < 100; time += 1) {
      await new Promise((done) => setTimeout(done, 100));
      answer = await stage.send(search);
    }
    expect(answer.json).toMatchObject([{ id: 'old' }]);
  });
});

describe('configuration', () => {
  test.each<[string, object, RegExp]>([
    ['unknown keys', { colour: 'red' }, /colour/],
    ['unknown content types', { content: { 'api::nws.nws': { path: '/news/:slug' } } }, /api::nws\.nws/],
    ['unknown fields', { content: { 'api::article.article': { path: '/a/:slgu' } } }, /api::article\.article.*'slgu'/],
  ])('%s stop the start, and are named', async (_what, config, named) => {
    const preload = path.join(__dirname, 'support', 'configure.cjs');
    const env = { NODE_OPTIONS: `--require ${preload}`, TEST_APPS_CONFIG: JSON.stringify(config) };
    await expect(openStage({ env })).rejects.toThrow(named);
  });
});
