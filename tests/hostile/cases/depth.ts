import { type Case, throws } from './case';

const deep = throws(/RangeError: Maximum call stack size exceeded/);

/** Nesting that would end a process whose stack is not watched. */
export const depth: readonly Case[] = [
  {
    name: 'depth-proxies',
    js: 'export function f() { const p = () => new Proxy({}, { get: (_, k) => Reflect.get(p(), k) }); return p().x; }',
    ...deep,
  },
  { name: 'depth-sort', js: 'export function f() { const g = () => [1, 2].sort(g); return g(); }', ...deep },
  {
    name: 'depth-flat',
    js: 'export function f() { let x = []; for (let i = 0; i < 3e5; i++) x = [x]; return x.flat(Infinity).length; }',
    ...deep,
  },
  {
    name: 'depth-text',
    js: 'export function f() { let x = []; for (let i = 0; i < 3e5; i++) x = [x]; return String(x).length; }',
    ...deep,
  },
  {
    name: 'depth-source-lists',
    js: `export const f = () => Function('return ' + '['.repeat(1e6) + ']'.repeat(1e6))();`,
    ...deep,
  },
  {
    name: 'depth-source-functions',
    js: `export const f = () => Function('return ' + '(function(){'.repeat(20000) + '})'.repeat(20000))();`,
    ...deep,
  },
  {
    name: 'depth-pattern',
    js: `export const f = () => new RegExp('('.repeat(200000) + ')'.repeat(200000)).test('x');`,
    ...throws(/SyntaxError: Invalid regular expression/),
  },
  {
    name: 'depth-result',
    js: 'export function f() { const all = {}; let o = all; for (let i = 0; i < 2e5; i++) o = o.a = {}; return all; }',
    ...deep,
  },
  {
    name: 'depth-python-result',
    py: 'def f(context):\n    x = []\n    for i in range(100000): x = [x]\n    return x\n',
    ...throws(/maximum recursion depth exceeded/),
  },
];
