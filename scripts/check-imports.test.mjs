import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { circlesIn, crowdedFolders, homonymsIn, importsOf, parsers, wrongImport } from './check-imports.mjs';

const folders = new Set(
  ['apps', 'records', 'indexes', 'indexes/query', 'sites'].map((folder) => `server/src/${folder}`),
);
const check = (path, specifier, typeOnly = false) =>
  wrongImport(path, { specifier, typeOnly }, (target) => folders.has(target));

describe('arrows', () => {
  test.each([
    ['server/src/http/index.ts', '../apps'],
    ['server/src/apps/app.ts', '../records'],
    ['server/src/apps/app.ts', '../records/types'],
    ['server/src/apps/elements/text-types.ts', '../types'],
    ['server/src/records/store.ts', '../indexes'],
    ['server/src/records/store.ts', '../common/errors'],
    ['server/src/records/store.ts', '../../../shared/json'],
    ['server/src/index.ts', './records/unit'],
    ['sandbox/src/runner.ts', '../../shared/messages'],
  ])('%s may import %s', (path, specifier) => {
    expect(check(path, specifier)).toBeNull();
  });

  test.each([
    ['server/src/indexes/index.ts', '../records', /may not import records/],
    ['server/src/records/store.ts', '../sites', /may not import sites/],
    ['server/src/records/store.ts', '../config', /may not import server\/src\/config/],
    ['server/src/common/log.ts', '../auth', /common\/ may not import auth/],
    ['server/src/apps/app.ts', '../records/unit', /only its front file or its types/],
    ['server/src/apps/app.ts', '../attic/store', /no part/],
    ['server/src/logic/index.ts', '../../../sandbox/src/prelude/types', /may import shared/],
    ['browser/src/index.ts', '../../admin/src/index', /may import shared/],
    ['server/src/logic/index.ts', '../../../../../scripts/prepare', /leaves the plugin/],
  ])('%s may not import %s', (path, specifier, message) => {
    expect(check(path, specifier)).toMatch(message);
  });

  test('server and sandbox share only the files in shared/', () => {
    const [types, prelude] = ['../../../server/src/logic/types', '../../../../sandbox/src/prelude/types'];
    for (const typeOnly of [true, false]) {
      expect(check('sandbox/src/prelude/app.ts', types, typeOnly)).toMatch(/may import shared/);
      expect(check('server/src/logic/session/outcome.ts', prelude, typeOnly)).toMatch(/may import shared/);
    }
    expect(check('sandbox/src/prelude/app.ts', '../../../shared/logic-protocol', true)).toBeNull();
  });

  test('types may be shared within a layer, values may not', () => {
    expect(check('server/src/sites/types.ts', '../auth/types', true)).toBeNull();
    expect(check('server/src/sites/content.ts', '../auth/types', false)).toMatch(/may not import/);
  });
});

describe('arrows inside a part', () => {
  test.each([
    ['server/src/apps/index.ts', './pages/embed'],
    ['server/src/apps/pages/embed.ts', '../run/run'],
    ['server/src/apps/pages/embed.ts', './rules'],
    ['server/src/apps/run/run.ts', '../live-topics'],
    ['server/src/apps/elements/text-types.ts', './inputs/text-input'],
    ['server/src/apps/elements/inputs/text-input.ts', '../../patterns/pattern'],
    ['server/src/records/store.ts', './unit/shared-unit'],
    ['server/src/records/store.ts', './foreign-writes'],
    ['server/src/indexes/index.ts', './query'],
  ])('%s may import %s', (path, specifier) => {
    expect(check(path, specifier)).toBeNull();
  });

  test.each([
    ['server/src/apps/run/run.ts', '../pages/embed', /run may not import pages/],
    ['server/src/apps/run/run.ts', '../definitions/app', /run may not import definitions/],
    ['server/src/apps/run/run.ts', '../index', /run may not import index/],
    ['server/src/apps/run/run.ts', '../attic/run', /'attic' is no folder of apps/],
    ['server/src/apps/elements/inputs/html.ts', '../text', /inputs may not import text/],
    ['server/src/records/table/rows.ts', '../store', /table may not import store/],
    ['server/src/indexes/query/sql.ts', './operators/compare', /sql may not import operators/],
  ])('%s may not import %s, not even types', (path, specifier, message) => {
    expect(check(path, specifier)).toMatch(message);
    expect(check(path, specifier, true)).toMatch(message);
  });

  test('types.ts may be imported by every folder of its part, and may name types of each', () => {
    expect(check('server/src/sites/themes/themes.ts', '../types', true)).toBeNull();
    expect(check('server/src/sites/types.ts', './themes/open-inside', true)).toBeNull();
    expect(check('server/src/sites/types.ts', './themes/open-inside')).toMatch(/types only/);
  });
});

test('a folder with too many files is found', () => {
  const files = (count) => ['index', 'types', ...Array(count).keys()].map((name) => `server/src/apps/run/${name}.ts`);
  expect(crowdedFolders(files(16))).toEqual([]);
  expect(crowdedFolders(files(17))).toEqual([expect.stringMatching(/apps\/run: 17 files/)]);
});

test('a name of two exported types is found', () => {
  const types = [
    ['server/src/a.ts', ['One', 'Two']],
    ['server/src/b.ts', ['Two']],
  ];
  expect(homonymsIn(types)).toEqual([
    "the type 'Two' is exported by server/src/a.ts and server/src/b.ts: give one of them another name",
  ]);
});

test('files of a folder that import each other are found, types aside', () => {
  const source = (name, target, typeOnly = false) => ({
    path: `server/src/apps/${name}.ts`,
    imports: [{ specifier: `./${target}`, typeOnly }],
  });
  expect(circlesIn([source('a', 'b'), source('b', 'c'), source('c', 'a'), source('d', 'a')])).toEqual([
    'these files import each other: server/src/apps/a, server/src/apps/b, server/src/apps/c',
  ]);
  expect(circlesIn([source('a', 'b'), source('b', 'a', true)])).toEqual([]);
});

describe('packages', () => {
  test.each([
    ['server/src/database/a.ts', 'knex', null],
    ['server/src/apps/a.ts', 'knex', /'knex' may be imported in database only/],
    ['sandbox/src/runner.ts', 'isolated-vm', null],
    ['server/src/logic/a.ts', 'isolated-vm-7', /sandbox only/],
    ['server/src/layouts/a.ts', 'liquidjs', null],
    ['server/src/http/a.ts', 'parse5', /layouts\/markup, testing only/],
    ['server/src/layouts/liquid/a.ts', 'parse5', /layouts\/markup, testing only/],
    ['server/src/interchange/xlsx.ts', 'hucre/xlsx', null],
    ['server/src/http/a.ts', 'marked', /'marked' has no row/],
    ['admin/src/a.tsx', 'react', null],
    ['server/src/apps/a.ts', '@strapi/utils', /'@strapi\/utils' may/],
    ['server/src/sites/a.ts', '@strapi/strapi', null],
    ['server/src/apps/a.ts', 'node:path', null],
  ])('%s importing %s', (path, specifier, message) => {
    const wrong = check(path, specifier);
    if (message) expect(wrong).toMatch(message);
    else expect(wrong).toBeNull();
  });
});

test('docs/decisions/foreign-text.md has a row for each parser, and for no other package', () => {
  const page = readFileSync('docs/decisions/foreign-text.md', 'utf8');
  const table = page.slice(page.indexOf('## Parsers'), page.indexOf('## Without a package'));
  const cells = table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(' | ')[0]);
  const named = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  expect(named.sort()).toEqual(Object.keys(parsers).sort());
});

test('every way of importing is seen', () => {
  const source = `import a from 'a';
import type { B } from 'b';
import { type C } from 'c';
import D, { type E } from 'd';
export * from 'e';
const f = await import('f');
const g = require('g');
type H = import('h').H;
const text = "import i from 'i'";`;
  expect(importsOf(source, 'x.ts').map(({ specifier, typeOnly, line }) => [specifier, typeOnly, line])).toEqual([
    ['a', false, 1],
    ['b', true, 2],
    ['c', true, 3],
    ['d', false, 4],
    ['e', false, 5],
    ['f', false, 6],
    ['g', false, 7],
    ['h', true, 8],
  ]);
});
