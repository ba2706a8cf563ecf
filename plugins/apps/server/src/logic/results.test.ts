import { describe, expect, test } from 'vitest';
import { contextOf, fakeHost, programOf, runOnce, useRuntime } from './testing/harness';

// On a busy machine no test may exceed the time before it exceeds the limit that it is about.
const runtime = useRuntime({ logicTime: 10_000, isolates: 2 });

const healthy = async () => expect(await runOnce(runtime, 'function f() { return 1 }')).toMatchObject({ value: 1 });

/** The result of a function with this body, or the name and message of its error. */
async function textOf(body: string): Promise<string> {
  try {
    const result = await runOnce(runtime, `async function f(context) { ${body} }`);
    return result.ok ? JSON.stringify(result.value) : `${result.error.name}: ${result.error.message}`;
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

describe('results', () => {
  const cases: [string, RegExp][] = [
    ['return undefined', /^null$/],
    ['return () => 1', /^null$/],
    ['return Symbol("x")', /^null$/],
    ['return NaN', /^null$/],
    ['return [undefined, () => 1, Symbol("x")]', /^\[null,null,null\]$/],
    ['return "x".repeat(1024 * 1024 - 2)', /^"x+"$/],
    ['return "x".repeat(1024 * 1024)', /^LogicError: RangeError: The result of f is larger than 1048576 bytes/],
    ['return "é".repeat(600 * 1024)', /^LogicError: RangeError: The result of f is larger/],
    ['return 1n', /^LogicError: TypeError: The result of f is a BigInt/],
    ['return { a: 1n }', /^LogicError: TypeError: .*BigInt/],
    ['const a = {}; a.a = a; return a', /^LogicError: TypeError: .*circular/],
    ['let a = []; for (let i = 0; i < 900; i++) a = [a]; return a', /^\[{901}\]{901}$/],
    ['let a = []; for (let i = 0; i < 2000; i++) a = [a]; return a', /^LogicError: A result is nested too deeply/],
    // Only Node.js 26 and later can serialize it.
    ['let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a', /^LogicError: (RangeError|A result is nested)/],
    ['JSON.stringify = () => "{}"; String = null; Promise.prototype.then = null; return 5', /^5$/],
    ['Object.prototype.toJSON = () => "x"; return 5', /^5|^"x"$/],
    [
      'Object.prototype.toJSON = () => 5; Array.prototype.toJSON = () => 6; context.app.count()',
      /^LogicError: The logic broke its sandbox/,
    ],
    [
      'Array.prototype[Symbol.iterator] = null; Map.prototype.values = null; context.app.count(); return 5',
      /^5$|^LogicError/,
    ],
    ['Array.prototype.join = () => "not JSON"; Array.prototype.push = () => 0; return 5', /^5$|^LogicError/],
  ];
  test.each(cases)('%s', async (body, expected) => {
    expect(await textOf(body)).toMatch(expected);
    await healthy();
  });
});

describe('results together', () => {
  test('the results of all functions of a request are bounded together', async () => {
    const names = Array.from({ length: 5 }, (_, at) => `f${at}`);
    const source = names.map((name) => `function ${name}() { return "x".repeat(5e5) }`).join('\n');
    const session = await runtime.open(programOf(source), contextOf(), fakeHost(), runtime.budget());
    const calls = names.map((name) => ({ name, contained: true }));
    expect(await session.call(calls.slice(0, 4))).toHaveLength(4);
    const error = await session.call(calls).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ name: 'LogicError', message: expect.stringMatching(/together larger than 2097152/) });
    session.close();
    await healthy();
  });

  // With another constructor `await` of the function's promise calls the `then` of the theme: what that gives is its result.
  const takeOver = (then: string) => `Promise.prototype.constructor = null; Promise.prototype.then = ${then}; return 1`;
  const text = (size: string) => `'"' + "x".repeat(${size}) + '"'`;
  const cases: [string, RegExp][] = [
    [takeOver(`function (done) { done(${text('48 * 2 ** 20')}) }`), /result of f is larger|64 MB/],
    [takeOver(`function (done) { done(${text('2 ** 21')}) }`), /^LogicError: RangeError: The result of f is larger/],
    [takeOver(`function (_, fail) { fail(${text('48 * 2 ** 20')}) }`), /^LogicError/],
    [
      takeOver(`function (_, fail) { fail({ message: ${text('48 * 2 ** 20')}, stack: ${text('3e7')} }) }`),
      /^LogicError/,
    ],
    [takeOver('function (done) { done(new Uint8Array(3)) }'), /^\{"0":0,"1":0,"2":0\}$/],
    [takeOver(`function (done) { done({ toString: () => ${text('48 * 2 ** 20')} }) }`), /^\{\}$/],
  ];
  test.each(cases)('%s', async (body, expected) => {
    expect(await textOf(body)).toMatch(expected);
    await healthy();
  });
});

describe('thrown values', () => {
  const cases: [string, RegExp][] = [
    ['throw new TypeError("no")', /^LogicError: TypeError: no$/],
    ['throw "text"', /^LogicError: Error: text/],
    ['throw null', /^LogicError: Error: null/],
    ['throw undefined', /^LogicError: Error: undefined/],
    ['throw 5n', /^LogicError: Error: 5/],
    ['throw Symbol("s")', /^LogicError: Error: Symbol\(s\)/],
    ['throw { get message() { for (;;); }, get stack() { for (;;); } }', /^LogicError: Error$/],
    ['throw { message: "plain", name: "Own" }', /^LogicError: Own: plain/],
    ['throw { message: { toString() { return "x" } } }', /^LogicError: Error: an unreadable message/],
    ['throw new Proxy({}, { getOwnPropertyDescriptor() { throw 1 } })', /^LogicError: Error: an unreadable value/],
    ['throw Object.assign(new Error("x".repeat(1e6)), { name: "y".repeat(1e6) })', /^LogicError: y{100}: x{2000}$/],
    ['class Mine extends Error { get name() { return "Mine" } } throw new Mine("m")', /^LogicError: (Mine|Error): m/],
    ['return Promise.reject(new Error("late"))', /^LogicError: Error: late/],
  ];
  test.each(cases)('%s', async (body, expected) => {
    expect(await textOf(body)).toMatch(expected);
  });

  test('errors have file and line, also in an import and at the top level', async () => {
    const cases: [Record<string, string>, { file: string; line: number }][] = [
      [{ 'blocks/a.js': '\n\nfunction f() {\n  null.x;\n}' }, { file: 'blocks/a.js', line: 4 }],
      [
        {
          'blocks/a.ts': "import { b } from '../lib/b';\ninterface X { a: 1 }\nexport const f = () => b();",
          'lib/b.ts': 'type A = 1;\n\nexport const b = () => { throw new Error("x") };',
        },
        { file: 'lib/b.ts', line: 3 },
      ],
      [{ 'blocks/a.js': 'function f() {}\nnull.x;' }, { file: 'blocks/a.js', line: 2 }],
      [
        { 'blocks/a.js': 'async function f() {\n await null;\n throw new Error("x");\n}' },
        { file: 'blocks/a.js', line: 3 },
      ],
      [{ 'blocks/a b(1).js': 'function f() {\n throw new Error("x");\n}' }, { file: 'blocks/a b(1).js', line: 2 }],
    ];
    for (const [files, position] of cases) {
      const outcome = await runOnce(runtime, programOf(files, Object.keys(files)[0])).catch((error: unknown) => ({
        ok: false,
        error,
      }));
      expect(outcome).toMatchObject({ ok: false, error: { name: 'LogicError', position } });
    }
  });

  test('errors reveal nothing of the host', async () => {
    const host = fakeHost();
    host.count = () => Promise.reject(new Error('SELECT secret FROM /srv/app'));
    const outcome = await runOnce(
      runtime,
      'function f(c) { try { c.app.count() } catch (e) { return [e.name, e.message, e.stack, Object.keys(e)] } }',
      { host },
    );
    expect(JSON.stringify(outcome)).toMatch(/InternalServerError/);
    expect(JSON.stringify(outcome)).not.toMatch(/SELECT|srv|work|node_modules|sandbox/);
  });
});
