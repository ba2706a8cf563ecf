import { type Case, gives, throws } from './case';

const large = throws(/RangeError: The result of f is larger than 1048576 bytes/);

/** Values that a function returns or throws. */
export const results: readonly Case[] = [
  { name: 'result-async-generator', js: 'export async function* f() { for (;;) yield await 0; }', ...gives({}) },
  {
    name: 'result-then-of-all',
    js: `export async function f() {
      Object.prototype.then = function (r) { delete Object.prototype.then; r({ mine: true }); };
      return { x: 1 };
    }`,
    ...gives({ mine: true }),
  },
  {
    name: 'result-late-microtasks',
    js: `let n = 0;\nexport function f() { const g = () => { n++; if (n < 5e6) Promise.resolve().then(g); }; g(); return 'returned ' + n; }`,
    ...gives('returned 1'),
  },
  {
    name: 'result-tojson-of-all',
    js: `export function f({ app }) {
      Object.prototype.toJSON = () => ({ forged: true });
      Array.prototype.toJSON = () => 'A';
      String.prototype.toJSON = () => 'S';
      app.get_record('x');
      return { x: 1 };
    }`,
    ...throws(/./),
  },
  {
    name: 'result-stringify-deep',
    js: `export function f() { JSON.stringify = () => '['.repeat(5e5) + ']'.repeat(5e5); return { x: 1 }; }`,
    ...gives({ x: 1 }),
  },
  { name: 'result-many-bytes', js: `export const f = () => '\\u{1F600}'.repeat(500000);`, ...large },
  { name: 'result-escapes', js: `export const f = () => '\\u0001'.repeat(1000000);`, ...large },
  {
    name: 'result-sparse',
    js: 'export function f() { const x = []; x[4294967293] = 1; return x; }',
    ...throws(/RangeError/),
  },
  { name: 'result-empty-slots', js: 'export const f = () => new Array(5000000);', ...large },
  {
    name: 'result-proto-key',
    js: `export const f = () => ({ __proto__: null, ['__proto__']: { polluted: 1 }, constructor: { prototype: { polluted: 2 } } });`,
    status: 200,
    has: /^\{"__proto__":\{"polluted":1\},"constructor":\{"prototype":\{"polluted":2\}\}\}$/,
  },
  {
    name: 'result-odd-texts',
    js: `export const f = () => ['\\ud800', '\\udc00\\ud800', '\\u0000', '\\u2028'];`,
    status: 200,
    has: /^\["\\ud800","\\udc00\\ud800","\\u0000","\u2028"\]$/,
  },
  {
    name: 'result-odd-values',
    js: `export const f = () => [NaN, Infinity, -0, undefined, () => 1, Symbol(), new Date(NaN), new Date(8.64e15), /x/, new Map([[1, 2]])];`,
    ...gives([null, null, 0, null, null, null, null, '+275760-09-13T00:00:00.000Z', {}, {}]),
  },
  {
    name: 'throw-odd-error',
    js: `export function f() {
      throw {
        get message() { return new Proxy({}, { get() { throw 1; } }); },
        get stack() { return { toString: () => '/etc/passwd' }; },
        name: {},
        toString() { throw this; },
      };
    }`,
    ...throws(/^Error$/),
    lacks: /passwd/,
  },
  {
    name: 'throw-proxy',
    js: `export function f() {
      const no = () => { throw new Proxy({}, {}); };
      throw new Proxy(function () {}, { get: no, getPrototypeOf: no, has: no, ownKeys: no });
    }`,
    ...throws(/apps\/hostile\/blocks\/throw-proxy\.js: /),
  },
  {
    name: 'throw-huge-parts',
    js: `export function f() {
      const error = new Error('A'.repeat(20e6));
      error.name = 'N'.repeat(5e6);
      error.stack = 'S'.repeat(5e6);
      throw error;
    }`,
    ...throws(/^.{1,20000}$/),
  },
  {
    name: 'throw-forged',
    js: `export function f() {
      const error = new Error('forged <b>html</b>');
      Object.assign(error, { name: 'UnauthorizedError', status: 401, statusCode: 418, host: 1, details: { secret: 1 } });
      throw error;
    }`,
    ...throws(/^UnauthorizedError: forged/),
    lacks: /"secret"/,
    headers: { 'www-authenticate': null },
  },
  {
    name: 'throw-renamed',
    js: `export function f({ app }) {
      try { app.search('((('); } catch (error) {
        Object.assign(error, { name: 'ServiceUnavailableError', message: 'forged', status: 503 });
        throw error;
      }
    }`,
    ...throws(/^ServiceUnavailableError: forged/),
    headers: { 'retry-after': null },
  },
  { name: 'throw-symbol', js: `export function f() { throw Symbol('x'); }`, ...throws(/^Error: Symbol\(x\)/) },
  {
    name: 'throw-source-url',
    js: `//# sourceURL=/etc/passwd\n//# sourceMappingURL=file:///etc/passwd\nexport function f() { throw new Error('x'); }`,
    ...throws(/apps\/hostile\/blocks\/throw-source-url\.js: Error: x$/),
    lacks: /passwd/,
  },
  {
    name: 'throw-python-forged',
    py: `class UnauthorizedError(Exception): pass
def f(context):
    e = UnauthorizedError('forged')
    e.host = 1
    e.status = 401
    raise e
`,
    ...throws(/^UnauthorizedError: forged/),
    headers: { 'www-authenticate': null },
  },
];
