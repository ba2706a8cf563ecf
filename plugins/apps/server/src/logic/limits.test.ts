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

/** Where sessions end their context, its second run would find none (reused.test.ts). */
const once = { repeats: 0 };

const healthy = async () => expect(await runOnce(runtime, 'function f() { return 1 }')).toMatchObject({ value: 1 });

describe('over the time', once, () => {
  const bodies = [
    'for (;;);',
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

// Nothing can settle it any more: the answer does not wait for the time limit.
test.each([
  'await new Promise(() => {})',
  'return new Promise(() => {})',
  'return { then() {} }',
  'await null; for await (const x of [1, new Promise(() => {})]) context.app.log(x)',
])('an error at once: %s', async (body) => {
  const { text, time } = await failing(body);
  expect(text).toBe('LogicError: Error: The function f waits for a promise that never settles');
  expect(time).toBeLessThan(logicTime);
});

describe('over the memory, or the stack', () => {
  const ends: [string, RegExp][] = [
    ['return Array(1e8).fill(0).length', /^LogicError: .*64 MB|^LogicTimeout/],
    ['const s = new Set(); for (let i = 0; ; i++) s.add(i)', /^LogicError: .*64 MB|^LogicTimeout/],
    ['const a = []; for (;;) a.push({ x: 1 })', /^LogicError: .*64 MB|^LogicTimeout/],
    ['const x = []; x[4e9] = 1; x[1e8] = 2; x.sort()', /^LogicError|^LogicTimeout/],
    ['const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1))', /^LogicError|^LogicTimeout/],
  ];
  const fails: [string, RegExp][] = [
    ['let b = 3n; for (;;) b = b * b', /^LogicError|^LogicTimeout/],
    ['return "a".repeat(1e8).replace(/a/g, "bbbbbbbbbbbb").length', /^LogicError|^LogicTimeout/],
    ['(function again() { again() })()', /^LogicError: RangeError: Maximum call stack/],
    ['(function again() { context.app.log(1); again() })()', /^LogicError/],
  ];
  const check = async (body: string, expected: RegExp) => {
    const bystander = runOnce(runtime, 'async function f(c) { for (let i = 0; i < 20; i++) c.app.count(); return 1 }', {
      host: slowHost(10),
    });
    expect((await failing(body)).text).toMatch(expected);
    expect(await bystander).toMatchObject({ value: 1 });
    await healthy();
  };
  test.each(ends)('%s', once, check);
  test.each(fails)('%s', check);
});

function slowHost(milliseconds: number) {
  const host = fakeHost();
  host.count = () => new Promise((resolve) => setTimeout(resolve, milliseconds, 1));
  return host;
}

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

test('a session beside others that use much memory is not ended for it', { ...once, timeout: 30_000 }, async () => {
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
});

test.each(['before', 'beside'])(
  'a session that exhausts the memory of its runner %s others gets the error, and they do not',
  { ...once, timeout: 60_000 },
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
);

test('many requests of a bad block do not block others', async () => {
  const shared = await startRuntime({ logicTime: 20_000, isolates: 4 });
  const answered: string[] = [];
  const loops = Array.from({ length: 8 }, () =>
    runOnce(shared, 'function f() { for (;;); }').catch(() => answered.push('loop')),
  );
  for (let turn = 0; turn < 3; turn += 1)
    await runOnce(shared, 'function f() { return 1 }').then(() => answered.push('well'));
  expect(answered).toEqual(['well', 'well', 'well']);
  await shared.destroy();
  await Promise.all(loops);
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
