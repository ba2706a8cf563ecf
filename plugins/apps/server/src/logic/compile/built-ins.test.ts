import { expect, test } from 'vitest';
import { compileJavaScript } from './javascript';

const changes = (text: string) =>
  compileJavaScript({ path: 'blocks/a.js', text, isEntry: true, paths: new Set() }).changesBuiltIns;

test.each([
  'Array.prototype.last = function () {}',
  'Math.random = () => 1',
  'globalThis.config = {}',
  'String.prototype["x"] ??= 1',
  'function f() { Date.now.count++ }',
  'delete Array.prototype.map',
  'Object.defineProperty(Array.prototype, "x", { value: 1 })',
  'Object.assign(globalThis, { a: 1 })',
  'Reflect.set(JSON, "parse", 1)',
  '/a/.test("a"); export const f = () => RegExp.$1',
  'export const f = () => RegExp["$&"]',
])('changes a built-in: %s', (text) => expect(changes(text)).toBe(true));

test.each([
  'const a = []; a.last = 1; a.prototype = {}',
  'class E extends Error { constructor() { super(); this.name = "E" } }',
  'const o = Object.assign({}, { a: 1 }); Object.freeze(o); export const f = () => RegExp.prototype.test',
  'function f(context) { context.mine = Math.max(1, 2); return Array.from([1]) }',
  'export const p = Object.create(Array.prototype)',
])('changes none: %s', (text) => expect(changes(text)).toBe(false));
