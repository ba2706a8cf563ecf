import { type Case, gives, memory, throws } from './case';

/** Logic that needs much memory, or asks for it. */
export const memories: readonly Case[] = [
  {
    name: 'memory-generator',
    js: 'export function f() { function* g() { for (;;) yield 1; } return [...g()].length; }',
    ...memory,
  },
  {
    name: 'memory-large-text',
    js: `export function f() { const s = 'a'.repeat(1 << 28); return s.indexOf('a'.repeat(1 << 27) + 'b'); }`,
    ...memory,
  },
  {
    name: 'memory-json-depth',
    js: `export const f = () => JSON.stringify(JSON.parse('['.repeat(2e6) + ']'.repeat(2e6))).length;`,
    ...memory,
  },
  {
    name: 'memory-rope',
    js: `export function f() {
      let s = '';
      for (let i = 0; i < 3e7; i++) s = i % 2 ? s + 'a' : 'b' + s;
      return [s.length, s.charCodeAt(3), /x$/.test(s)];
    }`,
    ...memory,
  },
  {
    name: 'memory-sets',
    js: `export function f() {
      const all = [];
      for (;;) { const set = new Set(); for (let i = 0; i < 16e6; i++) set.add(i); all.push(set); }
    }`,
    ...memory,
  },
  { name: 'memory-arguments', js: 'export const f = () => Math.max(...new Array(50e6).fill(0));', ...memory },
  {
    name: 'memory-nested-closures',
    js: 'export function f() { let g = () => 0; for (;;) { const h = g; g = () => h; } }',
    ...memory,
  },
  {
    name: 'memory-kept-symbols',
    js: `export function f() { for (let i = 0; ; i++) Symbol.for('symbol number ' + i + 'x'.repeat(100)); }`,
    ...memory,
  },
  {
    name: 'memory-promise-all',
    js: 'export async function f() { return (await Promise.all(Array.from({ length: 2e7 }, async (_, i) => i))).length; }',
    ...memory,
  },
  {
    name: 'memory-microtask-storm',
    js: 'export async function f() { const g = () => Promise.resolve().then(g).then(g); g(); await new Promise(() => {}); }',
    ...memory,
  },
  {
    name: 'memory-segments',
    js: `export function f() {
      const all = [];
      const words = new Intl.Segmenter('ja', { granularity: 'word' });
      for (let i = 0; ; i++) all.push(words.segment('漢字'.repeat(100000 + i))[Symbol.iterator]());
    }`,
    ...memory,
  },
  {
    name: 'memory-transfer',
    js: `export function f() {
      const all = [];
      for (;;) {
        const buffer = new ArrayBuffer(30e6);
        new Uint8Array(buffer).fill(1);
        all.push(buffer.transfer ? buffer.transfer(60e6) : buffer.slice(0));
      }
    }`,
    ...throws(/Array buffer allocation failed|memory|ran longer/),
  },
  {
    name: 'memory-stacks',
    js: `export function f() {
      Error.stackTraceLimit = 1e9;
      const all = [];
      const g = (n) => (n ? g(n - 1) : all.push(new Error('x')));
      for (;;) g(5000);
    }`,
    ...memory,
  },
  {
    name: 'memory-top-level',
    js: 'const all = [];\nfor (;;) all.push(new Float64Array(1e6).fill(1.5));\nexport function f() {}',
    ...throws(/Array buffer allocation failed/),
  },
  { name: 'memory-argument', js: `export const f = ({ app }) => app.get_record('x'.repeat(5e8));`, ...memory },
  {
    name: 'memory-doubled-result',
    js: 'export function f() { let all = [1]; for (let i = 0; i < 40; i++) all = [all, all]; return all; }',
    ...memory,
  },
  {
    name: 'memory-record',
    js: `export function f({ app }) {
      const record = app.create_record('late-' + Math.random());
      for (let i = 0; i < 990; i++) record.set('k' + i, 'x'.repeat(1e6));
    }`,
    ...memory,
  },
  // From here on, the allocation itself is refused, or costs nothing.
  {
    name: 'memory-join-empty',
    js: `export const f = () => new Array(1 << 27).join('xxxx').length;`,
    ...throws(/Invalid string length/),
  },
  {
    name: 'memory-apply',
    js: 'export const f = () => Math.max.apply(null, { length: 0x7fffffff });',
    ...throws(/Invalid array length/),
  },
  { name: 'memory-weak', js: 'export const f = () => new WeakRef({});', ...throws(/WeakRef is not defined/) },
  {
    name: 'memory-finalizers',
    js: 'const r = new FinalizationRegistry(() => { for (;;); });\nexport const f = () => r;',
    ...throws(/FinalizationRegistry is not defined/),
  },
  {
    name: 'memory-huge-buffers',
    js: `export const f = () => [28, 30, 31, 32, 33, 34].map((n) => {
      try { return new ArrayBuffer(2 ** n).byteLength; } catch (error) { return error.message; }
    });`,
    ...gives(Array(6).fill('Array buffer allocation failed')),
  },
  {
    name: 'memory-reserved',
    js: `export function f() {
      const all = [];
      for (let i = 0; i < 10000; i++) all.push(new ArrayBuffer(8, { maxByteLength: 2 ** 36 }));
      return all.length;
    }`,
    status: [200, 500],
  },
  {
    name: 'memory-bound',
    js: `export function f() {
      const all = [];
      try { for (;;) all.push(new Uint8Array(1e6).fill(1)); } catch { return all.length <= 128; }
    }`,
    ...gives(true),
  },
  {
    name: 'memory-pattern',
    js: `export const f = () => new RegExp('(((((a{1,1000}){1,1000}){1,1000}){1,1000}){1,1000})').test('b');`,
    ...gives(false),
  },
  {
    name: 'memory-page-property',
    js: `export function on_display(context) { context.x = 'x'.repeat(30e6); }\nexport const f = () => 'ok';`,
    layout: '{{ context.x | size }} {f}',
    path: '',
    status: 500,
  },
  {
    name: 'memory-intl-kinds',
    js: `export function f() {
      const all = [];
      for (let i = 0; ; i++) all.push(new Intl.DateTimeFormat(['de', 'ja', 'ar-EG', 'th'][i % 4], { dateStyle: 'full' }), new Intl.Collator('zh-u-co-pinyin'), new Intl.DisplayNames('fr', { type: 'region' }));
    }`,
    ...memory,
  },
  {
    name: 'memory-python-bound',
    py: `def f(context):
    x = []
    try:
        while True: x.append(bytearray(1000000))
    except MemoryError: return len(x) <= 64
`,
    ...gives(true),
  },
  { name: 'memory-python-shift', py: 'def f(context):\n    return (1 << (1 << 33)) & 1\n', ...throws(/OverflowError/) },
];
