import type { Attack } from './attack';

/** The theme replaces what awaiting a promise reads: its value would be put into the answer. */
const takeOver = (then: string, before = '') =>
  `export ${before}function f() { Promise.prototype.constructor = null; Promise.prototype.then = ${then}; return 1; }\n`;
const big = `'"' + 'x'.repeat(48 * 2 ** 20) + '"'`;
const js = (body: string) => ({ js: `export function f(context) { ${body} }\n` });
const py = (body: string) => ({ py: `def f(context):\n    ${body}\n` });

/** A page whose elements are functions, each with a result of the maximum size. */
const elements = Array.from({ length: 40 }, (_, at) => `f${at}`);
const page: Attack['requests'] = [
  { method: 'GET', path: '/site/@@apps/attack/blocks/{id}', headers: { accept: 'text/html' } },
];

/** Refused for its size or its memory; on a slow machine its time is over first. */
const refused: Pick<Attack, 'status' | 'has'> = { status: [500, 504], has: /LogicError|LogicTimeoutError/ };

/** The prelude waits for promises with functions of its own: the answer is that of the function. */
const own: Pick<Attack, 'status' | 'has'> = { status: [200, 500, 504], has: /^1$|LogicError|LogicTimeoutError/ };

export const answers: readonly Attack[] = [
  { name: 'answers-then', block: { js: takeOver(`function (done) { done(${big}); }`) }, ...own, short: true },
  {
    name: 'answers-then-async',
    block: { js: takeOver(`function (done) { done(${big}); }`, 'async ') },
    ...own,
  },
  { name: 'answers-then-fails', block: { js: takeOver(`function (_, fail) { fail(${big}); }`) }, ...own },
  {
    name: 'answers-then-object',
    block: { js: takeOver(`function (done) { done({ toString: () => ${big} }); }`) },
    ...own,
  },
  {
    name: 'answers-then-structure',
    block: { js: takeOver("function (done) { done('[' + '[],'.repeat(15e6) + '1]'); }") },
    ...own,
  },
  {
    name: 'answers-then-at-once',
    block: { js: takeOver(`function (done) { done(${big}); }`) },
    requests: Array.from({ length: 8 }, () => ({ path: '/site/@@apps/attack/blocks/{id}/f' })),
    ...own,
  },
  {
    name: 'answers-together',
    block: {
      js: elements.map((name) => `export const ${name} = () => 'x'.repeat(2 ** 20 - 2);`).join('\n'),
      yaml: `elements: { ${elements.map((name) => `${name}: BASIC`).join(', ')} }\n`,
      html: elements.map((name) => `{${name}}`).join(' '),
    },
    requests: page,
    status: [200, 500, 504],
    has: /together larger than 2097152|longer than 2000 ms/,
  },
  { name: 'answers-text', block: js("return 'x'.repeat(48 * 2 ** 20);"), ...refused },
  { name: 'answers-to-json', block: js("return { toJSON: () => 'x'.repeat(48 * 2 ** 20) };"), ...refused },
  {
    name: 'answers-getters',
    block: js(
      "const all = {}; for (let at = 0; at < 48; at += 1) Object.defineProperty(all, at, { enumerable: true, get: () => 'x'.repeat(2 ** 20) }); return all;",
    ),
    ...refused,
  },
  { name: 'answers-thrown-text', block: js("throw 'x'.repeat(48 * 2 ** 20);"), ...refused },
  {
    name: 'answers-thrown-error',
    block: js(
      "const error = new Error('x'.repeat(2e7)); error.name = 'n'.repeat(1e7); error.stack = '    at x\\n'.repeat(2e6); throw error;",
    ),
    ...refused,
  },
  { name: 'answers-log', block: js("for (;;) context.app.log('x'.repeat(2e7));"), ...refused },
  { name: 'answers-host-call', block: js("context.app.search('x'.repeat(48 * 2 ** 20));"), ...refused },
  {
    name: 'answers-host-calls',
    block: js("for (;;) try { context.app.search('x'.repeat(2e6)); } catch {}"),
    status: [500, 504],
  },
  {
    name: 'answers-record',
    block: js("const record = context.app.create_record(); record.big = 'x'.repeat(48 * 2 ** 20); return 1;"),
    status: [413, 500, 504],
  },
  {
    name: 'answers-property',
    block: { ...js("context.big = 'x'.repeat(48 * 2 ** 20); return 1;"), html: '{f} {{ context.big }}' },
    requests: page,
    status: [200, 500, 504],
  },
  {
    name: 'answers-header',
    block: js("context.request.response.set_header('Cache-Control', 'x'.repeat(48 * 2 ** 20)); return 1;"),
    status: [400, 500, 504],
  },
  { name: 'answers-python', block: py("return 'x' * 30000000"), ...refused },
  { name: 'answers-python-thrown', block: py("raise ValueError('x' * 20000000)"), ...refused },
  {
    name: 'answers-python-past-the-prelude',
    block: py(`eval("_bridge")("A" + '{"value":"' + 'x' * 15000000 + '"}')`),
    status: [200, 500, 504],
  },
  { name: 'answers-python-host-call', block: py(`eval("_bridge")("H" + 'x' * 20000000)`), ...refused },
  { name: 'answers-python-log', block: py("[context.app.log('x' * 9000000) for n in range(1000)]"), ...refused },
];
