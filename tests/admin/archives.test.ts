import { readdir, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runAppTests } from '../../plugins/apps/server/src/app-test-run';
import type { ArchiveResult } from '../../plugins/apps/shared/admin-api';
import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';
import { type Entries, packed, renaming } from '../support/zip';
import { linksBetweenThemes } from './archives/links';

const themes = useThemes({
  'main/apps/shelf/blocks/book.html': '<p>old</p>',
  'main/partials/card.html': '<p>card</p>',
});
const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: configured({ apps: { editing: true, archiveTests: true } }),
}));

/** A ZIP with an app and a file of this name, written as its bytes are. */
function named(name: string | Buffer): Promise<Buffer> {
  const bytes = Buffer.from(name as string);
  const stand = 'X'.repeat(bytes.length);
  return packed({ 'bad/blocks/a.html': '', [stand]: 'x' }, renaming(stand, bytes));
}

interface Sent {
  tests?: unknown;
  as?: string;
  write?: unknown;
  replace?: string | boolean | null;
  theme?: unknown;
  name?: string;
}

function send<T = ArchiveResult>(file: Buffer, { as = 'ada', ...given }: Sent = {}) {
  const options = JSON.stringify({ name: 'in.zip', theme: 'main', write: true, ...given });
  const part = (head: string, content: Buffer | string) =>
    Buffer.concat([
      Buffer.from(`--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
      Buffer.from(content as string),
      Buffer.from('\r\n'),
    ]);
  const body = Buffer.concat([
    part('name="options"', options),
    part('name="files"; filename="x.zip"\r\nContent-Type: application/zip', file),
    Buffer.from('--b--\r\n'),
  ]);
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  return stage.send<T>({ as, send: 'POST /apps/archives', body, headers });
}

/** All files of the themes' folder, and those beside it, with their sizes. */
async function everything(): Promise<string[]> {
  const folder = path.dirname(themes.directory);
  const beside = themes.directory.startsWith('/tmp/apps-') ? [] : (await readdir(folder)).map((name) => `../${name}`);
  const names = await readdir(themes.directory, { recursive: true });
  const sizes = await Promise.all(
    names.map(
      async (name) => `${name} ${(await stat(path.join(themes.directory, name)).catch(() => ({ size: -1 }))).size}`,
    ),
  );
  return [...sizes, ...beside].sort();
}

let before: string[] = [];
beforeAll(async () => {
  before = await everything();
});

describe('of a hostile ZIP nothing is written', () => {
  const names: (string | Buffer)[] = [
    ...[
      '../escaped.txt',
      '../../escaped.txt',
      'bad/../../escaped.txt',
      'bad/../x.txt',
      'bad/blocks/../../../x',
      '..',
      'bad/..',
    ],
    ...['/tmp/escaped-apps.txt', '/etc/passwd', '//server/share/x', 'C:/x.txt', 'c:\\x.txt', 'Z:x.txt'],
    ...['..\\escaped.txt', 'bad\\..\\..\\x.txt', '\\\\server\\x', 'bad/a\\b.html'],
    ...['bad/a\u0000.html', 'bad/\u0001', 'bad/a\nb', 'bad/a\rb', 'bad/\u007f', 'bad/\u0085x'],
    ...['bad/con', 'bad/CON.html', 'bad/nul', 'bad/aux.txt', 'bad/com1', 'bad/LPT9.yaml', 'bad/prn.x'],
    ...['bad/a.', 'bad/a ', 'bad/x./a', 'bad/x /a', 'bad//a', './a', 'bad/./a', 'bad/a/.'],
    ...['bad/a:b', 'bad/a*', 'bad/a?', 'bad/"', 'bad/<x>', 'bad/a|b', 'bad/blocks/a.html:stream'],
    ...['bad/blocks/A.html', 'BAD/blocks/a.html', 'bad/blocks', 'bad/blocks/a.html/b'],
    ...[`bad/${'x'.repeat(300)}`, `bad/${'a/'.repeat(20)}b`, `bad/.git/../../../x`],
    ...[Buffer.from([0x62, 0x61, 0x64, 0x2f, 0xff, 0xfe]), Buffer.from([0xc0, 0xae, 0xc0, 0xae, 0x2f, 0x78])],
  ];
  test.each(names.map((name) => [JSON.stringify(name.toString('latin1')).slice(0, 40), name] as const))(
    'with the name %s',
    async (_, name) => {
      const { status, json } = await send(await named(name));
      expect(status).toBe(200);
      expect(json.problems.length).toBeGreaterThan(0);
      expect(json.problems.join(' ')).not.toContain(themes.directory);
      expect(await everything()).toEqual(before);
    },
  );

  const zeros = Buffer.alloc(9_000_000);
  const block = { 'bad/blocks/a.html': '' };
  test.each<[what: string, make: () => Promise<Buffer>, message: RegExp]>([
    ['a link', () => packed({ ...block, 'bad/lib/x': { text: '/etc/passwd', mode: 0o120777 } }), /link or a device/],
    ['a device', () => packed({ ...block, 'bad/lib/x': { text: '', mode: 0o020644 } }), /link or a device/],
    ['a bomb', () => packed({ ...block, 'bad/assets/a': zeros }), /200 times/],
    [
      '10,000 files',
      () => packed(Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`bad/blocks/${n}.html`, '']))),
      /more than 5000 files/,
    ],
    ['a wrong definition', () => packed({ 'bad/blocks/a.yaml': 'elements: { a: TEXXT }' }), /TEXXT/],
    ['text', async () => Buffer.from('no zip'), /cannot be read as a ZIP/],
    ['nothing', async () => Buffer.alloc(0), /cannot be read as a ZIP/],
    ['half a ZIP', async () => (await packed(block)).subarray(0, -30), /cannot be read as a ZIP/],
    [
      'a wrong size',
      () =>
        packed({ ...block, 'bad/assets/a': 'a'.repeat(5_000) }, (bytes) => {
          bytes.writeUInt32LE(9, bytes.lastIndexOf('PK\u0001\u0002') + 24);
          return bytes;
        }),
      /damaged/,
    ],
    ['a theme where a theme is chosen', () => packed({ 'bad/layout.html': '' }), /holds a theme/],
  ])('with %s', async (_, make, message) => {
    const { status, json, text } = await send(await make());
    expect(status, text).toBe(200);
    expect(json).toMatchObject({ state: null, problems: expect.arrayContaining([expect.stringMatching(message)]) });
    expect(json.problems.join(' ')).not.toMatch(/\/tmp\//);
    expect(await everything()).toEqual(before);
  });
});

describe('a good ZIP', () => {
  const app = { 'fresh/blocks/a.html': '<p>fresh</p>', 'fresh/settings.yaml': 'debug: false\n' };

  test('is checked first, then written, and serves at once', async () => {
    const checked = await send(await packed(app), { write: false });
    expect(checked.json).toEqual({
      problems: [],
      kind: 'app',
      id: 'fresh',
      files: 2,
      state: 'checked',
      differences: null,
      revision: null,
      findings: [],
      tests: { state: 'none', files: 0, passed: 0, failed: 0, skipped: 0, failures: [], message: null },
    });
    expect(await everything()).toEqual(before);
    expect((await send(await packed(app))).json.state).toBe('written');
    expect((await stage.send({ send: 'GET fresh/blocks/a', accept: 'text/html' })).text).toContain('<p>fresh</p>');
    expect((await send(await packed(app))).json.state).toBe('equal');
  });

  test('replaces what was there when it was checked, and nothing else', async () => {
    const other = await packed({ 'shelf/blocks/book.html': '<p>new</p>', 'shelf/blocks/more.html': '' });
    const text = () => readFile(path.join(themes.directory, 'main/apps/shelf/blocks/book.html'), 'utf8');
    const found = { added: ['blocks/more.html'], changed: ['blocks/book.html'], removed: [] };
    const { json: checked } = await send(other, { write: false });
    expect(checked).toMatchObject({ state: 'taken', differences: found, revision: expect.any(String) });
    expect((await send(other)).json).toMatchObject({ state: 'taken', differences: found });
    const replace = checked.revision;
    expect((await send(other, { replace, write: false })).json.state).toBe('checked');

    await themes.write('main/apps/shelf/blocks/book.html', '<p>edited</p>');
    await themes.write('main/apps/shelf/lib/added.js', '');
    const late = (await send(other, { replace })).json;
    expect(late).toMatchObject({ state: 'taken', differences: { ...found, removed: ['lib/added.js'] } });
    expect(await text()).toBe('<p>edited</p>');
    expect((await send(other, { replace: late.revision })).json.state).toBe('written');
    expect(await text()).toBe('<p>new</p>');
    await themes.write('main/apps/shelf/blocks/book.html', '<p>again</p>');
    expect((await send(other, { replace: true })).json.state).toBe('written');
    expect(await text()).toBe('<p>new</p>');
  });

  test.each<[what: string, files: Entries, kind: string]>([
    ['an app of blocks', { 'blocks/a.html': '' }, 'app'],
    ['an app of modules', { 'lib/a.js': '' }, 'app'],
    ['a theme of apps', { 'apps/shelf/blocks/a.html': '' }, 'theme'],
    ['a theme of templates', { 'templates/article.html': '' }, 'theme'],
  ])('%s alone needs no folder around it', async (_, files, kind) => {
    const { json } = await send(await packed(files), { write: false, ...(kind === 'theme' && { theme: undefined }) });
    expect(json).toMatchObject({ problems: [], kind, id: 'in', state: 'checked' });
  });

  test('of a theme makes a theme; what is exported can be imported', async () => {
    const made = await send(await packed({ 'third/layout.html': '{{ main }}', 'third/theme.yaml': 'title: Third\n' }), {
      theme: undefined,
    });
    expect(made.json).toMatchObject({ kind: 'theme', id: 'third', state: 'written' });
    const exported = await fetch(`${stage.host.url}/apps/themes/main/archive?app=shelf`, {
      headers: { authorization: `Bearer ${((await stage.credential('ada')) as { bearer: string }).bearer}` },
    });
    expect([exported.status, exported.headers.get('content-disposition')]).toEqual([
      200,
      'attachment; filename="shelf.zip"',
    ]);
    expect((await send(Buffer.from(await exported.arrayBuffer()))).json.state).toBe('equal');
  });

  test.each<[what: string, line: string, status: number]>([
    ['an unknown theme', 'GET /apps/themes/none/archive', 404],
    ['a folder above', 'GET /apps/themes/../archive', 404],
    ['an unknown app', 'GET /apps/themes/main/archive?app=none', 404],
    ['an app that is no id', 'GET /apps/themes/main/archive?app=..%2F..', 400],
    ['an app that is a link', 'GET /apps/themes/main/archive?app=linked', 404],
  ])('%s is not exported', async (_, send, status) => {
    expect((await stage.send({ as: 'ada', send })).status).toBe(status);
  });

  test('is refused without the permission, and with wrong options', async () => {
    const file = await packed(app);
    for (const as of ['olga', 'overseer', 'clerk', 'developer']) expect((await send(file, { as })).status).toBe(403);
    for (const wrong of [{ theme: '../main' }, { theme: 5 }, { write: 'yes' }])
      expect((await send(file, wrong)).status).toBe(400);
    expect((await send(file, { theme: 'none' })).status).toBe(404);
  });
});

linksBetweenThemes(stage, themes);

describe('what the check of a ZIP shows before it is written', () => {
  const app: Entries = {
    'quiz/blocks/a.yaml': 'elements:\n  value: BASIC\n  name: TEXT\n',
    'quiz/blocks/a.html': '<p>{value}</p>{nmae}',
    'quiz/blocks/a.js': "export function value() {\n  return 'right';\n}\n",
  };
  const tests = `import { app, assert, test } from 'strapi-plugin-apps/testing';
test('is right', async () => assert.match((await app.render('a')).text, /right/));
test('is wrong', async () => assert.match((await app.render('a')).text, /wrong/));
test.skip('is left out', () => undefined);
`;
  const check = async (files: Entries, more: Sent = {}) =>
    (await send(await packed(files), { write: false, ...more })).json;
  const temporary = async () => (await readdir(tmpdir())).filter((name) => /^(apps-tests-|\.import-)/.test(name));

  test('the findings of lint; they do not keep it from being written', async () => {
    const checked = await check(app);
    expect(checked).toMatchObject({
      problems: [],
      state: 'checked',
      tests: { state: 'none', files: 0 },
      findings: [{ app: 'quiz', file: 'blocks/a.html', line: 1, severity: 'error' }],
    });
    expect(checked.findings[0]?.message).toContain('nmae');
    expect((await check({ ...app, 'quiz/blocks/a.js': 'export function value( {' })).findings).toMatchObject([
      expect.anything(),
      { file: 'blocks/a.js', line: 1 },
    ]);
  });

  test('the findings of lint have the partials of the theme', async () => {
    const files = { 'quiz/blocks/a.html': '{% render "card" %}' };
    expect((await check(files)).findings).toEqual([]);
    const { findings } = await check({ 'quiz/blocks/a.html': '{% render "none" %}' });
    expect(findings).toMatchObject([{ file: 'blocks/a.html', severity: 'error' }]);
  });

  test('its tests, once they are asked for, in a theme of its own; nothing is written', async () => {
    const tested = { ...app, 'quiz/tests/a.test.js': tests };
    const before = [await everything(), await temporary()];
    expect((await check(tested)).tests).toMatchObject({ state: 'ready', files: 1, passed: 0 });
    expect((await check(tested, { tests: true })).tests).toMatchObject({
      state: 'ran',
      files: 1,
      passed: 1,
      failed: 1,
      skipped: 1,
      message: null,
      failures: [{ app: 'quiz', file: 'tests/a.test.js', title: 'is wrong' }],
    });
    const broken = await check({ ...app, 'quiz/tests/a.test.js': 'process.exit(7);' }, { tests: true });
    expect(broken.tests).toMatchObject({ state: 'broken', message: expect.stringMatching(/ended early/) });
    expect([await everything(), await temporary()]).toEqual(before);
    expect((await send(await packed(tested), { write: false, tests: 'yes' })).status).toBe(400);
  });

  test('tests end with their time', async () => {
    const run = { root: path.resolve(__dirname, '../..'), themes: themes.directory, timeout: 60_000 };
    const { problem } = await runAppTests(run, { timeout: 200, output: 'nowhere' });
    expect(problem?.message).toBe('The tests ran longer than 0.2 s');
  });
});
