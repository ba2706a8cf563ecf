import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';
import { html, openStage, type RowRequest } from '../support/stage';
import { runTable } from '../support/table';
import { within } from '../support/time';

const themes = useThemes(async (themes) => {
  const main = path.join(themes.directory, 'main');
  await themes.write('outside.txt', 'outside of the theme');
  await themes.write('main/assets/digits.txt', '0123456789');
  await symlink(path.join(themes.directory, 'outside.txt'), path.join(main, 'assets', 'link.txt'));
  await symlink('/etc', path.join(main, 'assets', 'etc'));
  await symlink(path.join(main, 'assets', 'site.css'), path.join(main, 'assets', 'inside.css'));
  await symlink(path.join(themes.directory, 'other', 'apps', 'linked'), path.join(main, 'apps', 'bylink'));
  await mkdir(path.join(main, 'apps', 'hollow', 'blocks'), { recursive: true });
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));

describe('apps of a theme', () => {
  runTable(stage, [
    { title: 'a folder is an app', send: 'GET plain/blocks/hello', accept: html, status: 200, has: ['Plain hello'] },
    {
      title: 'a link to an app of an inactive theme is an app',
      send: 'GET linked/blocks/hello',
      accept: html,
      status: 200,
      has: ['Hello from the other theme'],
    },
    { title: 'a linked app answers as JSON', send: 'GET linked', status: 200, answers: { 'x-csrf-token': /./ } },
    { title: 'a chain of links that comes back is no app', send: 'GET loop', status: 404, error: 'NotFoundError' },
    { title: 'a link to a missing theme is no app', send: 'GET lost', status: 404, error: 'NotFoundError' },
    { title: 'a link to a missing app is no app', send: 'GET lostapp', status: 404, error: 'NotFoundError' },
    { title: 'a symbolic link out of the theme is no app', send: 'GET bylink/blocks/hello', accept: html, status: 404 },
    { title: 'a block without a layout has no page', send: 'GET open/blocks/values', accept: html, status: 404 },
    { title: 'a block without a layout has elements', send: 'GET open/blocks/values/number', status: 200, is: 42 },
    { title: 'a layout alone is a block', send: 'GET plain/blocks/hello', status: 200, is: { elements: {} } },
    { title: 'a file name is no block', send: 'GET plain/blocks/hello.html', accept: html, status: 404 },
  ]);

  test('a broken link is logged once', async () => {
    for (let time = 0; time < 3; time += 1) await stage.send({ send: 'GET lost' });
    const lines = (await stage.host.printed())
      .split('\n')
      .filter((line) => /lost\.lnk|"lost"|\blost\b.*nowhere/.test(line) && !/HTTP|http:/.test(line));
    expect(lines, lines.join('\n')).toHaveLength(1);
  });
});

describe('public files', () => {
  const at = '/site/@@theme/main';
  runTable(stage, [
    {
      title: 'a file of the theme is public',
      send: `GET ${at}/assets/site.css`,
      status: 200,
      has: ['teal'],
      answers: { 'content-type': /text\/css/, 'x-content-type-options': 'nosniff' },
    },
    {
      title: 'a file of an app is public',
      send: `GET ${at}/apps/open/assets/app.js`,
      status: 200,
      has: ['public file'],
      answers: { 'content-type': /javascript/ },
    },
    {
      title: 'HEAD of a public file has its type',
      send: `HEAD ${at}/assets/site.css`,
      status: 200,
      answers: { 'content-type': /text\/css/ },
    },
    { title: 'a link inside the theme is served', send: `GET ${at}/assets/inside.css`, status: 200, has: ['teal'] },
    {
      title: 'a link out of the theme is not served',
      send: `GET ${at}/assets/link.txt`,
      status: 404,
      lacks: ['outside of'],
    },
    { title: 'a folder that links out of the theme is not served', send: `GET ${at}/assets/etc/passwd`, status: 404 },
    { title: 'a missing file is not found', send: `GET ${at}/assets/absent.css`, status: 404 },
    { title: 'a folder is not served', send: `GET ${at}/assets/`, status: 404 },
    { title: 'a file outside of assets is not served', send: `GET ${at}/private.txt`, status: 404 },
    { title: 'the layout is not served', send: `GET ${at}/layout.html`, status: 404, lacks: ['main theme'] },
    { title: 'the description of the theme is not served', send: `GET ${at}/theme.yaml`, status: 404 },
    { title: 'settings are not served', send: `GET ${at}/apps/open/settings.yaml`, status: 404, lacks: ['editor'] },
    { title: 'logic is not served', send: `GET ${at}/apps/open/blocks/values.js`, status: 404, lacks: ['export'] },
    { title: 'libraries are not served', send: `GET ${at}/apps/logic/lib/shared.js`, status: 404, lacks: ['export'] },
    { title: 'a path with dots is not served', send: `GET ${at}/assets/../private.txt`, status: 404, lacks: ['never'] },
    {
      title: 'a path with encoded dots is not served',
      send: `GET ${at}/assets/%2e%2e/private.txt`,
      status: 404,
      lacks: ['never'],
    },
    {
      title: 'a path with encoded slashes is not served',
      send: `GET ${at}/assets/..%2Fprivate.txt`,
      status: 404,
      lacks: ['never'],
    },
    {
      title: 'a path with backslashes is not served',
      send: `GET ${at}/assets/..%5Cprivate.txt`,
      status: 404,
      lacks: ['never'],
    },
    {
      title: 'a path with dots that are encoded twice is not served',
      send: `GET ${at}/assets/%252e%252e/private.txt`,
      status: 404,
      lacks: ['never'],
    },
    { title: 'a path with a zero byte is not served', send: `GET ${at}/assets/site.css%00.png`, status: 404 },
    {
      title: 'a path out of all themes is not served',
      send: `GET ${at}/assets/../../outside.txt`,
      status: 404,
      lacks: ['outside of'],
    },
    { title: 'an absolute path is not served', send: `GET ${at}/assets//etc/passwd`, status: 404 },
    {
      title: 'a file of an unknown theme is not found',
      send: 'GET /site/@@theme/nowhere/assets/site.css',
      status: 404,
    },
    {
      title: 'a theme out of the folder is not found',
      send: 'GET /site/@@theme/..%2Fmain/assets/site.css',
      status: 404,
    },
    { title: 'themes are not in public/', send: 'GET /main/assets/site.css', status: 404 },
    { title: 'a public file cannot be posted to', send: `POST ${at}/assets/site.css`, status: 405 },
  ]);
});

describe('a part of a public file', () => {
  const at = '/site/@@theme/main/assets';
  const part = (range: string, headers = {}): RowRequest => ({
    send: `GET ${at}/digits.txt`,
    headers: { range, ...headers },
  });
  const whole = { status: 200, has: [/^0123456789$/], answers: { 'content-range': null, 'accept-ranges': 'bytes' } };
  const parts = (text: string, range: string) => ({
    status: 206,
    has: [new RegExp(`^${text}$`)],
    answers: { 'content-range': `bytes ${range}/10`, 'content-length': String(text.length) },
  });
  runTable(stage, [
    { title: 'in the middle', ...part('bytes=2-4'), ...parts('234', '2-4') },
    { title: 'from a byte on', ...part('bytes=7-'), ...parts('789', '7-9') },
    { title: 'at the end', ...part('bytes=-2'), ...parts('89', '8-9') },
    { title: 'from the first byte on', ...part('bytes=0-'), ...parts('0123456789', '0-9') },
    { title: 'that ends behind the file', ...part('bytes=8-99'), ...parts('89', '8-9') },
    {
      title: 'behind the file does not exist',
      ...part('bytes=10-'),
      status: 416,
      has: [/^$/],
      answers: { 'content-range': 'bytes */10' },
    },
    { title: 'of another unit is the whole file', ...part('lines=1-2'), ...whole },
    { title: 'in broken words is the whole file', ...part('bytes=b-c'), ...whole },
    { title: 'with a second part is the whole file', ...part('bytes=0-1,5-6'), ...whole },
    { title: 'of an earlier version is the whole file', ...part('bytes=2-4', { 'if-range': '"old"' }), ...whole },
    { title: 'HEAD has no part', ...part('bytes=2-4'), send: `HEAD ${at}/digits.txt`, status: 200 },
  ]);

  test('of the version that the client has', async () => {
    const { etag } = (await stage.send({ send: `GET ${at}/digits.txt` })).headers;
    const answer = await stage.send(part('bytes=2-4', { 'if-range': String(etag) }));
    expect([answer.status, answer.text]).toEqual([206, '234']);
  });
});

/** Asks until the answer is as wanted, as it must be after two seconds (docs/reference/theme.md). */
async function within2s(row: RowRequest, wanted: (text: string, status: number) => boolean) {
  const ask = () => stage.send(row);
  const answer = await within(2_000, ask, ({ text, status }) => wanted(text, status));
  expect(wanted(answer.text, answer.status), `${answer.status} ${answer.text.slice(0, 500)}`).toBe(true);
}

describe('files change without a restart', () => {
  const page = { send: 'GET fresh/blocks/page', accept: html };
  const value = { send: 'GET fresh/blocks/page/value' };
  const js = (text: string) => `export function value() {\n  return '${text}';\n}\n`;

  test('a new app is found, and every kind of change in it', async () => {
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

  test('a block breaks alone, and works when it is repaired', async () => {
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
    await expect.poll(async () => (await stage.send(search)).json).toMatchObject([{ id: 'old' }]);
  });
});

describe('configuration', () => {
  test.each<[string, object, RegExp]>([
    ['unknown keys', { colour: 'red' }, /colour/],
    ['unknown content types', { content: { 'api::nws.nws': { path: '/news/:slug' } } }, /api::nws\.nws/],
    ['unknown fields', { content: { 'api::article.article': { path: '/a/:slgu' } } }, /api::article\.article.*'slgu'/],
  ])('%s stop the start, and are named', async (_what, config, named) => {
    await expect(openStage({ env: configured({ apps: config }) })).rejects.toThrow(named);
  });
});
