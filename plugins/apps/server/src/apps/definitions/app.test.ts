import { describe, expect, test, vi } from 'vitest';
import { errorText } from '../../common/errors';
import { MAX_FIELD_INDEXES } from '../../indexes';
import type { AppFolder } from '../../sites';
import { loadApp } from './app';
import { emptySettings, historyDaysOf } from './settings';

function folder(files: Record<string, string>, settings?: string, theme?: string): AppFolder {
  return {
    site: { id: 'site', title: 'Site', url: 'http://localhost/site', theme: 'basic', locale: null, timeZone: null },
    appId: 'rating',
    themeId: 'basic',
    revision: '1',
    settings: settings === undefined ? null : { path: 'settings.yaml', text: settings },
    theme: theme === undefined ? null : { path: 'theme.yaml', text: theme },
    themeFiles: new Map(),
    files: new Map(Object.entries(files).map(([path, text]) => [path, { path, text }])),
  };
}

test.each([
  ['history_days: 400', 400],
  ['', 180],
  // What it says cannot be read: nothing is deleted by a default.
  ['history_days: 400\ncolour: red', null],
])('versions of an app with the settings "%s" are kept for %s days', async (settings, days) => {
  expect(historyDaysOf(await loadApp(folder({}, settings)))).toBe(days);
});

describe('loadApp', () => {
  test('groups the files of a block', async () => {
    const app = await loadApp(
      folder({ 'blocks/rate.html': '{like}', 'blocks/rate.py': '', 'blocks/rate.yaml': 'elements: {like: ACTION}' }),
    );
    expect(app.blocks.get('rate')).toMatchObject({
      layout: { path: 'blocks/rate.html', text: '{like}' },
      logic: { path: 'blocks/rate.py', language: 'python' },
      error: null,
    });
    expect([...app.indexes]).toEqual([['id', 'field']]);
  });

  test('reads each folder object once', async () => {
    const one = folder({ 'blocks/a.html': '' });
    expect(await loadApp(one)).toBe(await loadApp(one));
    expect(await loadApp(folder({ 'blocks/a.html': '' }))).not.toBe(await loadApp(one));
  });

  test.each([
    ['other extensions', 'blocks/a.txt'],
    ['type declarations', 'blocks/a.d.ts'],
    ['names that are no ids', 'blocks/-a.html'],
    ['names on the prototype', 'blocks/constructor.html'],
    ['folders', 'blocks/a/b.html'],
    ['modules', 'lib/a.js'],
  ])('makes no block of %s', async (_, path) => {
    expect((await loadApp(folder({ [path]: '' }))).blocks.size).toBe(0);
  });

  test.each([
    ['logic', 'js', 'py'],
    ['layout', 'html', 'liquid'],
    ['definition', 'yaml', 'yml'],
  ])('refuses two %s files, naming both, for that block alone', async (part, one, other) => {
    const app = await loadApp(folder({ [`blocks/a.${one}`]: '', [`blocks/a.${other}`]: '', 'blocks/b.html': '' }));
    expect(app.blocks.get('a')?.error?.message).toContain(`two ${part} files: blocks/a.${one} and blocks/a.${other}`);
    expect(app.blocks.get('b')?.error).toBeNull();
  });

  test('keeps a broken definition from breaking other blocks', async () => {
    const app = await loadApp(
      folder({ 'blocks/a.yaml': 'x: 1', 'blocks/b.yaml': 'elements: {n: {type: NUMBER, index_type: field}}' }),
    );
    expect(app.blocks.get('a')?.error?.name).toBe('DefinitionError');
    expect(app.blocks.get('b')?.error).toBeNull();
    expect(app.indexes.get('n')).toBe('field');
  });

  test('refuses an index with two types in the later block, and all its indexes', async () => {
    const app = await loadApp(
      folder({
        'blocks/a.yaml': 'elements: {n: {type: TEXT, index_type: field}}',
        'blocks/b.yaml': 'elements:\n  m: {type: TEXT, index_type: field}\n  n: {type: TEXT, index_type: text}',
      }),
    );
    expect(app.blocks.get('b')?.error?.message).toMatch(/"n" is field in blocks\/a.yaml and cannot be text/);
    expect(app.blocks.get('b')?.error?.position?.line).toBe(3);
    expect([...app.indexes.keys()]).toEqual(['id', 'n']);
  });

  test('refuses more indexes of the type field than a table has columns for, in the later block', async () => {
    const declaring = (count: number, name: string, type = 'field') =>
      `elements:\n${Array.from({ length: count }, (_, at) => `  ${name}${at}: {type: TEXT, index_type: ${type}}\n`).join('')}`;
    const app = await loadApp(
      folder({
        'blocks/a.yaml': declaring(MAX_FIELD_INDEXES - 1, 'n'),
        'blocks/b.yaml': `${declaring(100, 'n')}  id: {type: TEXT, index_type: field}\n  m: {type: TEXT, index_type: field}`,
        'blocks/c.yaml': declaring(9, 'w', 'text'),
        'blocks/d.yaml': `${declaring(9, 'n')}  o: {type: TEXT, index_type: field}`,
      }),
    );
    expect([...app.blocks.values()].map(({ error }) => error?.message)).toEqual([
      ...Array(3).fill(undefined),
      `The blocks of an app have at most ${MAX_FIELD_INDEXES} indexes of the type field together`,
    ]);
    expect(app.blocks.get('d')?.error?.position).toMatchObject({ file: 'blocks/d.yaml', line: 11 });
    expect([app.indexes.size, app.indexes.has('o')]).toEqual([MAX_FIELD_INDEXES + 10, false]);
  });

  test('refuses another type for the index id', async () => {
    const app = await loadApp(folder({ 'blocks/a.yaml': 'elements: {id: {type: TEXT, index_type: text}}' }));
    expect(app.blocks.get('a')?.error?.message).toMatch(/"id" is field by the plugin/);
  });

  test('has no acl when its settings are broken', async () => {
    const app = await loadApp(folder({ 'blocks/a.html': '' }, 'debgu: true'));
    expect(app.error?.message).toMatch(/did you mean "debug"/);
    expect(app.settings).toEqual(emptySettings);
    expect(app.blocks.has('a')).toBe(true);
  });

  test.each([
    ['an unknown block', 'block: c', /webhooks.w: there is no block "c"/],
    ['a function of an unknown block', 'body: c/f', /webhooks.w: there is no block "c"/],
    ['a query with an unknown index', 'query: "x == 1"', /webhooks.w: the query is wrong: .*"x"/],
    ['a query that cannot be read', 'query: "n =="', /webhooks.w: the query is wrong/],
    ['a query with a name', 'query: "n == me"', /webhooks.w: the query is wrong/],
  ])('refuses webhooks of %s', async (_, keys, message) => {
    const files = { 'blocks/a.yaml': 'elements: {n: {type: NUMBER, index_type: field}}' };
    const app = await loadApp(folder(files, `webhooks:\n  w: { url: "https://example.org", ${keys} }`));
    expect(app.error?.message).toMatch(message);
    expect(app.error?.position).toMatchObject({ file: 'settings.yaml', line: 2 });
  });

  test('takes webhooks whose query names an index of the app', async () => {
    const files = { 'blocks/a.yaml': 'elements: {n: {type: NUMBER, index_type: field}}' };
    const settings = 'webhooks: { w: { url: "https://example.org", block: a, query: "n >= 3" } }';
    expect((await loadApp(folder(files, settings))).error).toBeNull();
  });

  describe('of a theme with rapido: true', () => {
    const files = {
      'blocks/a.yaml': 'id: a\nelements:\n  n: { type: NUMBER, widget: big, index_type: field }',
      'blocks/a.html': '{{}}',
      'blocks/b.liquid': '{{ 1 }}',
      'blocks/c.yaml': 'elements: { n: WHATEVER }',
    };

    test('ignores unknown keys of definitions, and warns of each once', async () => {
      const warn = vi.fn();
      const own = folder(files, undefined, 'rapido: true');
      const app = await loadApp(own, warn);
      await loadApp(own, warn);
      expect(app.blocks.get('a')).toMatchObject({ error: null, layout: { rapido: true } });
      expect(app.blocks.get('b')?.layout).not.toHaveProperty('rapido');
      expect(app.blocks.get('c')?.error?.message).toMatch(/WHATEVER/);
      expect([...app.indexes]).toContainEqual(['n', 'field']);
      expect(warn.mock.calls.flat()).toEqual([
        expect.stringMatching(/^blocks\/a\.yaml:1:1: id: The key "id" is not known/),
        expect.stringMatching(
          /^blocks\/a\.yaml:3:22: elements\.n\.widget: The key "widget" is not known for the type NUMBER/,
        ),
      ]);
    });

    test('refuses unknown keys of the settings, because they may be rights', async () => {
      expect((await loadApp(folder(files, 'acl: { right: {} }', 'rapido: true'))).error?.message).toMatch(/"right"/);
    });

    test('warns of files whose names belong to no block', async () => {
      const warn = vi.fn();
      const names = ['m.htm', 'my block.html', 'm.mjs', 'types.d.ts', 'README.md', 'm.html', 'data.csv'];
      await loadApp(folder(Object.fromEntries(names.map((name) => [`blocks/${name}`, '']))), warn);
      expect(warn.mock.calls.flat()).toEqual([
        expect.stringContaining('blocks/m.htm is no file of a block: its ending must be one of .html, .liquid, .js'),
        expect.stringContaining('blocks/my block.html is no file of a block: its name may have letters'),
        expect.stringContaining('blocks/m.mjs is no file of a block'),
      ]);
    });

    test('warns of the first 20 keys only', async () => {
      const keys = Array.from({ length: 10_000 }, (_, n) => `k${n}:`).join('\n');
      const warn = vi.fn();
      const app = await loadApp(folder({ 'blocks/a.yaml': keys }, undefined, 'rapido: true'), warn);
      expect(app.blocks.get('a')?.error).toBeNull();
      expect(warn).toHaveBeenCalledTimes(20);
    });

    test.each(['rapido: false', 'title: x', 'rapido: perhaps', ''])('%j does not turn it on', async (theme) => {
      const warn = vi.fn();
      const app = await loadApp(folder(files, undefined, theme), warn);
      expect(app.blocks.get('a')?.error?.message).toMatch(/The key "id" is not known/);
      expect(app.blocks.get('a')?.layout).not.toHaveProperty('rapido');
      expect(warn).not.toHaveBeenCalled();
    });
  });

  test('gives the reason when a file cannot be read', async () => {
    const broken = folder({});
    const files = new Map([['blocks/a.html', { path: 'blocks/a.html', text: '', problem: 'The file is too large' }]]);
    const app = await loadApp({ ...broken, files });
    expect(app.blocks.get('a')?.error).toMatchObject({
      message: 'The file is too large',
      position: { file: 'blocks/a.html' },
    });
  });

  test('reads definitions of up to 512 kB, and yields to the event loop between them', async () => {
    const text = `elements:\n  a: { type: TEXT, help: "${'x'.repeat(9_000)}" }\n${'# and so on\n'.repeat(5_000)}`;
    const names = Array.from({ length: 10 }, (_, n) => `blocks/b${n}.yaml`);
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 0);
    const { blocks } = await loadApp(folder(Object.fromEntries(names.map((name) => [name, text]))));
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(1);
    const errors = [...blocks.values()].map(({ error }) => error && errorText(error));
    expect(errors.slice(0, 7)).toEqual(Array(7).fill(null));
    expect(errors[7]).toBe('blocks/b7.yaml: The definitions of this app have more than 512 kB together');
    expect(errors[9]).toMatch(/more than 512 kB/);
  });
});
