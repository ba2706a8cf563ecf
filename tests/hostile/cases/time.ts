import { type Case, memory, timeout } from './case';

/** Logic that does not end: in code that the engine cannot look into, or after its function has returned. */
export const time: readonly Case[] = [
  { name: 'time-top-level', js: 'for (;;);\nexport function f() {}', ...timeout },
  { name: 'time-bigint-text', js: 'export const f = () => String((1n << 80000000n) - 1n).length;', ...timeout },
  { name: 'time-bigint-power', js: 'export const f = () => String(7n ** (2n ** 28n)).length;', ...timeout },
  {
    name: 'time-includes-proxy',
    js: 'export const f = () => Array.prototype.includes.call(new Proxy({ length: 2 ** 53 - 1 }, {}), 1);',
    ...timeout,
  },
  {
    name: 'time-replace-callback',
    js: `export function f() {
      return 'x'.repeat(1e6).replace(/x/g, () => { for (let i = 0; i < 1e9; i++); return ''; }).length;
    }`,
    ...timeout,
  },
  {
    name: 'time-compare',
    js: `export function f() { const text = 'é'.repeat(5e6); for (;;) text.localeCompare(text + 'x'); }`,
    ...memory,
  },
  {
    name: 'time-segments',
    js: `export const f = () => [...new Intl.Segmenter('th', { granularity: 'word' }).segment('ก'.repeat(3e6))].length;`,
    ...timeout,
  },
  { name: 'time-date', js: `export function f() { for (;;) Date.parse('x'.repeat(1e6)); }`, ...memory },
  {
    name: 'time-recursion-caught',
    js: 'export function f() { const g = () => { try { g(); } catch { g(); } finally { g(); } }; g(); }',
    ...timeout,
  },
  {
    name: 'time-job-at-end',
    js: `export function f() { Promise.resolve().then(() => { for (;;); }); return 'x'; }`,
    ...timeout,
  },
  {
    name: 'time-then-of-all',
    js: `export function f() {
      Object.defineProperty(Object.prototype, 'then', { get() { for (;;); } });
      return { x: 1 };
    }`,
    ...timeout,
  },
  { name: 'time-thenable-self', js: 'export function f() { const t = { then(r) { r(t); } }; return t; }', ...timeout },
  {
    name: 'time-thenable-chain',
    js: 'export function f() { const make = () => ({ then(r) { r(make()); } }); return make(); }',
    ...timeout,
  },
  {
    name: 'time-thrown-getters',
    js: `export function f() {
      const error = new Error('x');
      for (const name of ['message', 'stack', 'name']) Object.defineProperty(error, name, { get() { for (;;); } });
      throw error;
    }`,
    ...timeout,
  },
  {
    name: 'time-garbage',
    js: 'export function f() { for (;;) new Uint8Array(60e6).fill(1); }',
    ...timeout,
  },
  {
    name: 'time-memory-caught',
    js: `export function f() {
      const all = [];
      for (;;) try { for (;;) all.push(new Uint8Array(1 << 20).fill(1)); }
      catch { try { all.push('x'.repeat(1 << 22) + all.length); } catch {} }
    }`,
    status: [500, 504],
  },
  {
    name: 'time-queries',
    js: `export function f({ app }) {
      const query = Array.from({ length: 400 }, (_, i) => "not(id<'" + (i % 10) + "')").join('&');
      for (let i = 0; ; i++) app.count(query);
    }`,
    status: [500, 504],
  },
  {
    name: 'time-page-property',
    js: `export function on_display(context) {
      Object.defineProperty(context, 'x', { enumerable: true, get() { for (;;); } });
    }
    export const f = () => 'ok';`,
    layout: '{{ context.x }} {f}',
    path: '',
    ...timeout,
  },
  { name: 'time-python-number', py: 'def f(context):\n    return len(str(7 ** (10 ** 7)))\n', ...timeout },
  {
    name: 'time-python-memory-caught',
    py: `def f(context):
    x = []
    while True:
        try: x.append('x' * 1000000)
        except BaseException: pass
`,
    ...timeout,
  },
  {
    name: 'time-python-itself',
    py: `class M:
    def __getattr__(self, n): return self
    def __call__(self, *a, **k): return self
    def __str__(self): return self
    def __repr__(self): raise SystemExit
    def __iter__(self): return self
    def __next__(self): return self
def f(context):
    return M()
`,
    ...timeout,
  },
  { name: 'time-python-list', py: 'def f(context):\n    return list(iter(lambda: 1, 2))\n', status: [500, 504] },
];
