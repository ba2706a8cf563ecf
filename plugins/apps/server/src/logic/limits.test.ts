import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contextOf, fakeHost, limits, programOf, runOnce, startRuntime } from './testing/harness';
import type { LogicRuntime } from './types';

let runtime: LogicRuntime;
const logicTime = 1000;
/** Lower than the default: a busy machine needs half a millisecond for each call. */
const hostCalls = 200;
beforeAll(async () => {
  runtime = await startRuntime({ logicTime, hostCalls, isolates: 2 });
  await runOnce(runtime, 'function f() {}');
});
afterAll(() => runtime.destroy());

/** The name and message of the error that ends `body`, and its duration. */
async function failing(body: string, source = `async function f(context) { ${body} }`) {
  const begin = performance.now();
  const result = await runOnce(runtime, source).catch((error: unknown) => ({
    ok: false as const,
    error: error as Error,
  }));
  const time = performance.now() - begin;
  return { time, text: result.ok ? JSON.stringify(result.value) : `${result.error.name}: ${result.error.message}` };
}

/** For tests of other limits: on a busy machine they must not exceed the time first. */
function unhurried(): void {
  let hurried: LogicRuntime;
  beforeAll(async () => {
    hurried = runtime;
    runtime = await startRuntime({ logicTime: 10_000, hostCalls, isolates: 2 });
  });
  afterAll(async () => {
    await runtime.destroy();
    runtime = hurried;
  });
}

const healthy = async () => expect(await runOnce(runtime, 'function f() { return 1 }')).toMatchObject({ value: 1 });

describe('over the time', () => {
  const bodies = [
    'for (;;);',
    'await new Promise(() => {})',
    'return new Promise(() => {})',
    '(function again() { Promise.resolve().then(again) })(); return 1',
    'await null; for (;;);',
    'for (;;) try { for (;;); } catch {}',
    'return { toJSON() { for (;;); } }',
    'return { get a() { for (;;); } }',
    'throw new Proxy({}, { getOwnPropertyDescriptor() { for (;;); } })',
    'Error.prepareStackTrace = () => { for (;;); }; throw new Error("x")',
    'return { then() { for (;;); } }',
    '/^(a+)+$/.test("a".repeat(40) + "b")',
    'for (;;) try { await context.app.log("x") } catch {}',
  ];
  test.each(bodies)('%s', async (body) => {
    const { text, time } = await failing(body);
    expect(text).toMatch(/^LogicTimeoutError: .* longer than 1000 ms|^LogicError: .*more than 200 host calls/);
    expect(time).toBeLessThan(logicTime + 400);
    await healthy();
  });

  test('at the top level of the file', async () => {
    expect((await failing('', 'for (;;);')).text).toMatch(/^LogicTimeoutError/);
    await healthy();
  });

  test('a slow host counts', async () => {
    const host = fakeHost();
    host.count = () => new Promise(() => undefined);
    const begin = performance.now();
    await expect(
      runOnce(runtime, 'function f(c) { for (;;) try { c.app.count() } catch {} }', { host }),
    ).rejects.toMatchObject({ name: 'LogicTimeoutError' });
    expect(performance.now() - begin).toBeLessThan(logicTime + 400);
    await healthy();
  });
});

describe('over the memory, or the stack', () => {
  const cases: [string, RegExp][] = [
    ['return Array(1e8).fill(0).length', /^LogicError: .*64 MB|^LogicTimeout/],
    ['const s = new Set(); for (let i = 0; ; i++) s.add(i)', /^LogicError: .*64 MB|^LogicTimeout/],
    ['const a = []; for (;;) a.push({ x: 1 })', /^LogicError: .*64 MB|^LogicTimeout/],
    ['let b = 3n; for (;;) b = b * b', /^LogicError|^LogicTimeout/],
    ['return "a".repeat(1e8).replace(/a/g, "bbbbbbbbbbbb").length', /^LogicError|^LogicTimeout/],
    ['const x = []; x[4e9] = 1; x[1e8] = 2; x.sort()', /^LogicError|^LogicTimeout/],
    ['const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1))', /^LogicError|^LogicTimeout/],
    ['(function again() { again() })()', /^LogicError: RangeError: Maximum call stack/],
    ['(function again() { context.app.log(1); again() })()', /^LogicError/],
  ];
  test.each(cases)('%s', async (body, expected) => {
    const bystander = runOnce(runtime, 'async function f(c) { for (let i = 0; i < 20; i++) c.app.count(); return 1 }', {
      host: slowHost(10),
    });
    expect((await failing(body)).text).toMatch(expected);
    expect(await bystander).toMatchObject({ value: 1 });
    await healthy();
  });
});

function slowHost(milliseconds: number) {
  const host = fakeHost();
  host.count = () => new Promise((resolve) => setTimeout(resolve, milliseconds, 1));
  return host;
}

describe('results', () => {
  unhurried();

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
    expect((await failing(body)).text).toMatch(expected);
    await healthy();
  });
});

describe('results together', () => {
  unhurried();

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

  // With another constructor the prelude's own promises use the `then` of the theme.
  const takeOver = (then: string) => `Promise.prototype.constructor = null; Promise.prototype.then = ${then}; return 1`;
  const text = (size: string) => `'"' + "x".repeat(${size}) + '"'`;
  const cases: [string, RegExp][] = [
    [takeOver(`function (done) { done(${text('48 * 2 ** 20')}) }`), /together larger|broke its sandbox|64 MB/],
    [takeOver(`function (done) { done(${text('2 ** 21')}) }`), /together larger|broke its sandbox/],
    [takeOver(`function (_, fail) { fail(${text('48 * 2 ** 20')}) }`), /^LogicError/],
    [
      takeOver(`function (_, fail) { fail({ message: ${text('48 * 2 ** 20')}, stack: ${text('3e7')} }) }`),
      /^LogicError/,
    ],
    [takeOver('function (done) { done(new Uint8Array(1e5)) }'), /^LogicError/],
    [takeOver(`function (done) { done({ toString: () => ${text('48 * 2 ** 20')} }) }`), /^LogicError/],
  ];
  test.each(cases)('%s', async (body, expected) => {
    expect((await failing(body)).text).toMatch(expected);
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
    expect((await failing(body)).text).toMatch(expected);
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

describe('counts', () => {
  unhurried();

  test('host calls', async () => {
    const host = fakeHost();
    await expect(
      runOnce(runtime, 'function f(c) { for (;;) try { c.app.count() } catch {} }', { host }),
    ).rejects.toMatchObject({
      name: 'LogicError',
      message: expect.stringContaining('more than 200 host calls'),
    });
    expect(host.calls.length).toBeLessThanOrEqual(hostCalls);
    await healthy();
  });

  test('log entries and their size', async () => {
    const host = fakeHost();
    const outcome = await runOnce(
      runtime,
      'function f(c) { for (let i = 0; i < 200; i++) c.app.log("x".repeat(1e5)) }',
      { host },
    );
    expect(outcome).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('More than 100 log entries') },
    });
    expect(host.logs).toHaveLength(100);
    expect(host.logs[0]?.message).toHaveLength(limits.logEntrySize);
  });

  test('answers of the host', async () => {
    const host = fakeHost();
    host.documents = async () => 'x'.repeat(17 * 1024 * 1024);
    host.count = async () => 5n as never;
    const source =
      'function f(c) { const of = (g) => { try { g() } catch (e) { return e.name } };' +
      ' return [of(() => c.api.documents("x").findMany()), of(() => c.app.count())] }';
    expect(await runOnce(runtime, source, { host })).toMatchObject({
      value: ['PayloadTooLargeError', 'InternalServerError'],
    });
  });

  test('arguments', async () => {
    expect((await failing('context.app.search("x".repeat(3e6))')).text).toMatch(/search: more than 2097152 characters/);
  });
});

test('globals that evade the limits do not exist', async () => {
  const body = `return [typeof SharedArrayBuffer, typeof WebAssembly, typeof Atomics, typeof WeakRef, typeof FinalizationRegistry,
    typeof process, typeof setTimeout, typeof fetch, typeof __define, typeof exports.constructor.constructor("return this.process")(),
    new ArrayBuffer(8, { maxByteLength: 1e9 }).resizable === true, new (new Uint8Array(1).buffer.constructor)(8, { maxByteLength: 16 }).resizable === true,
    new ArrayBuffer(8) instanceof ArrayBuffer, ArrayBuffer.isView(new Uint8Array(1))]`;
  const names = Array.from({ length: 10 }, () => 'undefined');
  expect(JSON.parse((await failing(body)).text)).toEqual([...names, false, false, true, true]);
  expect((await failing('const load = require; load("fs")')).text).toMatch(/require is not available/);
  expect(
    (await failing('return await new Function("return import(\'fs\')")().then(() => "in", () => "refused")')).text,
  ).toBe('"refused"');
});

test('context and its properties stay within the session', async () => {
  const spoil =
    'function f(c) { globalThis.left = 1; Object.prototype.left = 2; Array.prototype.map = null; c.left = 3; return 1 }';
  const readLeft = 'function f(c) { return [typeof left, typeof ({}).left, typeof [].map, typeof c.left] }';
  for (let round = 0; round < 6; round += 1) {
    expect(await runOnce(runtime, spoil)).toMatchObject({ value: 1 });
    expect(await runOnce(runtime, readLeft)).toMatchObject({
      value: ['undefined', 'undefined', 'function', 'undefined'],
    });
  }
  expect(contextOf().record).toBeNull();
});

test('a session beside others that use much memory is not ended for it', async () => {
  const crowded = await startRuntime({ isolates: 8 });
  const host = fakeHost();
  host.count = () => new Promise((resolve) => setTimeout(() => resolve(0), 20));
  const greedy = 'function f(c) { const s = "ab".repeat(1e8); s.charCodeAt(7); for (;;) c.app.count(); }';
  const busy = 'function f() { const end = Date.now() + 400; while (Date.now() < end); return "done" }';
  const outcome = (source: string) =>
    runOnce(crowded, source, { host }).catch((error: Error) => ({ ok: false as const, error }));
  const others = Promise.all(Array.from({ length: 5 }, () => outcome(greedy)));
  const honest = await Promise.all(Array.from({ length: 3 }, () => outcome(busy)));
  expect(honest).toEqual(Array(3).fill({ ok: true, defined: true, value: 'done' }));
  for (const { ok } of await others) expect(ok).toBe(false);
  expect(await runOnce(crowded, busy)).toMatchObject({ value: 'done' });
  await crowded.destroy();
}, 30_000);

test.each(['before', 'beside'])(
  'a session that exhausts the memory of its runner %s others gets the error, and they do not',
  async (way) => {
    const shared = await startRuntime({ logicTime: 20_000, isolates: 8 });
    const swell = 'function f() { const all = []; for (;;) all.push("x".repeat(9) + all.length); }';
    const honest = 'function f() { const end = Date.now() + 160; while (Date.now() < end); return "done" }';
    const swelling = runOnce(shared, swell).catch((error: Error) => ({ ok: false, error }));
    if (way === 'before') await swelling;
    const answers: unknown[] = [];
    const lane = async () => {
      for (let turn = 0; turn < 10; turn += 1) answers.push(await runOnce(shared, honest).catch(String));
    };
    await Promise.all(Array.from({ length: 6 }, lane));
    expect(answers).toEqual(Array(60).fill({ ok: true, defined: true, value: 'done' }));
    expect(await swelling).toMatchObject({ ok: false, error: { message: expect.stringContaining('64 MB') } });
    await shared.destroy();
  },
  60_000,
);

test('many requests of a bad block do not block others', async () => {
  const shared = await startRuntime({ logicTime, isolates: 4 });
  const answered: string[] = [];
  const loops = Array.from({ length: 8 }, () =>
    runOnce(shared, 'function f() { for (;;); }').catch(() => answered.push('loop')),
  );
  for (let turn = 0; turn < 3; turn += 1)
    await runOnce(shared, 'function f() { return 1 }').then(() => answered.push('well'));
  expect(answered).toEqual(['well', 'well', 'well']);
  await Promise.all(loops);
  await shared.destroy();
}, 30_000);

test('host calls of one message end with the session, and yield to others meanwhile', async () => {
  const host = fakeHost();
  let made = 0;
  host.getRecord = async () => {
    made += 1;
    const until = performance.now() + 20;
    while (performance.now() < until);
    return null;
  };
  // The prelude sends several calls in a message only for changes; a program that bypasses it may send any.
  const program = programOf(
    {
      'blocks/test.py':
        'def f(context):\n    eval("_bridge")("H" + eval("_text")([["getRecord", {"app": None, "id": "x"}]] * 150))',
    },
    'blocks/test.py',
  );
  let turns = 0;
  const counting = setInterval(() => {
    turns += 1;
  }, 5);
  const error = await runOnce(runtime, program, { host }).catch((thrown: Error) => thrown);
  const counted = made;
  expect(error).toMatchObject({ name: 'LogicTimeoutError' });
  expect(turns).toBeGreaterThan(10);
  await new Promise((resolve) => setTimeout(resolve, 100));
  clearInterval(counting);
  expect(made).toBe(counted);
  expect(counted).toBeLessThan(100);
});
