import { describe, expect, test } from 'vitest';
import { importsOf, wrongImport } from './check-imports.mjs';

const folders = new Set(['server/src/apps', 'server/src/records', 'server/src/indexes', 'server/src/sites']);
const check = (path, specifier, typeOnly = false) =>
  wrongImport(path, { specifier, typeOnly }, (target) => folders.has(target));

describe('arrows', () => {
  test.each([
    ['server/src/door/routes.ts', '../apps'],
    ['server/src/apps/run.ts', '../records'],
    ['server/src/apps/run.ts', '../records/types'],
    ['server/src/apps/elements/text.ts', '../types'],
    ['server/src/records/store.ts', '../indexes'],
    ['server/src/records/store.ts', '../errors'],
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
    ['server/src/apps/run.ts', '../records/unit', /only its front file or its types/],
    ['server/src/apps/run.ts', '../attic/store', /no room/],
    ['server/src/logic/index.ts', '../../../sandbox/src/protocol', /may import shared/],
    ['browser/src/index.ts', '../../admin/src/index', /may import shared/],
    ['server/src/logic/index.ts', '../../../../../scripts/prepare', /leaves the plugin/],
  ])('%s may not import %s', (path, specifier, message) => {
    expect(check(path, specifier)).toMatch(message);
  });

  test('logic/ and the sandbox share the types of their wire, nothing else', () => {
    const types = '../../../server/src/logic/types';
    const protocol = '../../../sandbox/src/protocol';
    expect(check('sandbox/src/prelude/app.ts', types, true)).toBeNull();
    expect(check('server/src/logic/wire.ts', protocol, true)).toBeNull();
    expect(check('sandbox/src/prelude/app.ts', types, false)).toMatch(/may import shared/);
    expect(check('sandbox/src/prelude/app.ts', '../../../server/src/apps/types', true)).toMatch(/may import shared/);
    expect(check('server/src/apps/run.ts', protocol, true)).toMatch(/may import shared/);
  });

  test('types may be shared within a layer, values may not', () => {
    expect(check('server/src/sites/types.ts', '../requester/types', true)).toBeNull();
    expect(check('server/src/sites/content.ts', '../requester/types', false)).toMatch(/may not import/);
  });
});

describe('vendor locks', () => {
  test.each([
    ['server/src/records/a.ts', 'knex', null],
    ['server/src/apps/a.ts', 'knex', /'knex' may be imported in records, indexes only/],
    ['sandbox/src/runner.ts', 'isolated-vm-5', null],
    ['server/src/logic/a.ts', 'isolated-vm-7', /sandbox only/],
    ['server/src/layouts/a.ts', 'liquidjs', null],
    ['server/src/door/a.ts', 'parse5', /layouts only/],
    ['server/src/apps/a.ts', '@strapi/utils', /'@strapi\/utils' may/],
    ['server/src/sites/a.ts', '@strapi/strapi', null],
    ['server/src/apps/a.ts', 'node:path', null],
  ])('%s importing %s', (path, specifier, message) => {
    const wrong = check(path, specifier);
    if (message) expect(wrong).toMatch(message);
    else expect(wrong).toBeNull();
  });
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
