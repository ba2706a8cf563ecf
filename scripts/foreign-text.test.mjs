import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { mustBeNamed, namedIn, offeredBy, readersIn } from './foreign-text.mjs';

const page = 'docs/decisions/foreign-text.md';

test('every reader of foreign text, and nothing else, is named in docs/decisions/foreign-text.md', {
  timeout: 60_000,
}, () => {
  const { readers, offered } = mustBeNamed('plugins/apps/server/src');
  const wanted = [...readers, ...offered];
  const named = namedIn(readFileSync(page, 'utf8'));
  expect({
    'to be named in the page, with what bounds it': wanted.filter((name) => !named.includes(name)),
    'named in the page, but gone': named.filter((name) => !wanted.includes(name)),
    'named twice': named.filter((name, index) => named.indexOf(name) !== index),
  }).toEqual({
    'to be named in the page, with what bounds it': [],
    'named in the page, but gone': [],
    'named twice': [],
  });
});

describe('a reader is found', () => {
  const cases = [
    ["import { parse } from 'acorn';\nexport function f(text) { return parse(text); }", ['f']],
    ["import * as html from 'parse5';\nconst f = (text) => html.parse(text);", ['f']],
    ["import Engine from 'liquidjs';\nclass Layouts { engine = new Engine(); }", ['Layouts']],
    [
      "import { defaultTreeAdapter } from 'parse5';\nconst { isElementNode, other } = defaultTreeAdapter;",
      ['isElementNode'],
    ],
    [
      "import type { Node } from 'acorn';\nimport { type Other } from 'acorn';\nconst f = (node: Node) => node as Other;",
      [],
    ],
    ["import { readFileSync } from 'node:fs';\nimport { a } from './a';\nconst f = () => a(readFileSync('x'));", []],
    ['export const read = async (text) => { if (text) return JSON.parse(text); };', ['read']],
    ['const made = (text) => new RegExp(text);\nconst other = RegExp("a");', ['made', 'other']],
    ['const sticky = /a/uy;\nconst plain = /y/g;', ['sticky']],
    ['function each(text) { for (const found of text.matchAll(/a/g)) use(found.charCodeAt(0)); }', ['each']],
    ['const written = (value) => JSON.stringify(value);', []],
  ];
  test.each(cases)('%s', (text, names) => {
    expect(readersIn(text)).toEqual(names);
  });
});

test('exported values of an index file are found, types are not', () => {
  const text = `
    export { a, type B, c as d } from './a';
    export type { E } from './e';
    export type * from './types';
    export interface F {}
    export type G = string;
    export function h() {}
    export const i = 1, j = 2;
    function k() {}`;
  expect(offeredBy(text)).toEqual(['a', 'd', 'h', 'i']);
});

test('the names of the page are read from its tables', () => {
  expect(namedIn('| `a/b.ts`: `c`, `d` | reads `x` | y |\n| `e`: `f` | |\n| `g` | |\n`h`: `i`')).toEqual([
    'a/b.ts#c',
    'a/b.ts#d',
    'e#f',
  ]);
});
