import { describe, expect, test } from 'vitest';
import { AppsError } from '../../common/errors';
import { processClock } from '../../common/time/process-clock';
import { contextOf, fakeHost, limits, programOf, runOnce, useRuntime } from '../testing/harness';
import type { LogicHost, LogicRuntime } from '../types';

const runtime = useRuntime({ isolates: 1, logicTime: 20_000 });

const call = (name: string, contained = false) => ({ name, contained });
const open = (source: string, host: LogicHost = fakeHost(), budget = runtime.budget(), context = contextOf()) =>
  runtime.open(programOf(source), context, host, budget);

test('context lives as long as the session; undefined functions; properties', async () => {
  const session = await open(
    'function on_display(c) { c.title = "T"; c.made = new Date(0); c.f = () => 1; c.n = 1n; c.list = [1]; }\nfunction a(c) { return c.title }',
  );
  expect(await session.call([call('on_display'), call('a'), call('none')])).toEqual([
    { ok: true, defined: true, value: null },
    { ok: true, defined: true, value: 'T' },
    { ok: true, defined: false, value: null },
  ]);
  expect(await session.properties()).toEqual({ title: 'T', made: '1970-01-01T00:00:00.000Z', list: [1] });
  session.close();
  session.close();
  await expect(session.call([call('a')])).rejects.toMatchObject({ name: 'ServiceUnavailableError' });
});

test('a contained failure is an outcome, another one ends the batch; the session continues', async () => {
  const session = await open('function bad() { throw new Error("x") }\nfunction good() { return 1 }');
  expect(await session.call([call('bad', true), call('good')])).toMatchObject([
    { ok: false, error: { name: 'LogicError' } },
    { value: 1 },
  ]);
  await expect(session.call([call('good'), call('bad')])).rejects.toMatchObject({ name: 'LogicError' });
  expect(await session.call([call('good')])).toMatchObject([{ value: 1 }]);
  session.close();
});

test('a promise that never settles is a failure of its function only; what settles it later changes nothing', async () => {
  const session = await open(
    'let go; async function never(c) { c.before = 1; await new Promise((settle) => { go = settle }); c.after = 2 }\n' +
      'function late() { go(); return 1 }\nfunction good(c) { return [c.before, c.after ?? null] }',
  );
  const never = 'Error: The function never waits for a promise that never settles';
  expect(await session.call([call('never', true), call('good'), call('late'), call('never', true)])).toMatchObject([
    { ok: false, error: { name: 'LogicError', message: never } },
    { value: [1, null] },
    { value: 1 },
    { ok: false, error: { message: never } },
  ]);
  await expect(session.call([call('never'), call('good')])).rejects.toMatchObject({ message: never });
  expect(await session.call([call('good')])).toMatchObject([{ value: [1, 2] }]);
  session.close();
});

describe('what a function begins and does not await', () => {
  const later = (steps: number, n = 2) =>
    `async function later(c) { const r = await c.app.get_record("r"); ${'await c.app.count(); '.repeat(steps)}r.n = ${n} }
     function f(c) { later(c); return 1 }
     function bad(c) { later(c); throw new Error('bad') }`;

  test.each([0, 1, 2, 20])('goes on before its changes are written, through %i steps more', async (steps) => {
    const host = fakeHost({ r: { n: 1 } });
    const session = await open(later(steps), host);
    expect(await session.call([call('f')])).toMatchObject([{ value: 1 }]);
    session.close();
    expect(host.stored).toEqual({ r: { n: 2 } });
  });

  test('goes on also after several functions, of which one fails', async () => {
    const host = fakeHost({ r: { n: 1 } });
    const session = await open(later(3), host);
    expect(await session.call([call('f', true), call('bad', true)])).toMatchObject([{ value: 1 }, { ok: false }]);
    session.close();
    expect(host.stored).toEqual({ r: { n: 2 } });
  });

  test.each([0, 1, 2])('ends the call with the refusal of its change, after %i steps more', async (steps) => {
    const host = fakeHost({ r: { n: 1 } });
    host.changeRecord = () => Promise.reject(new AppsError('ForbiddenError', 'There is a rule against it'));
    const session = await open(later(steps), host);
    const refused = { name: 'ForbiddenError', message: 'There is a rule against it' };
    await expect(session.call([call('f', true)])).rejects.toMatchObject(refused);
    session.close();
  });
});

test("the host's own error is rethrown, and a conflict is never contained", async () => {
  const host = fakeHost();
  host.count = () => Promise.reject(new AppsError('CsrfError', 'No token'));
  host.createRecord = () => Promise.reject(new AppsError('ConflictError', 'Collided'));
  const session = await open('function a(c) { c.app.count() }\nfunction b(c) { c.app.create_record() }', host);
  await expect(session.call([call('a')])).rejects.toMatchObject({ name: 'CsrfError', status: 403 });
  expect(await session.call([call('a', true)])).toMatchObject([{ ok: false, error: { name: 'CsrfError' } }]);
  await expect(session.call([call('b', true)])).rejects.toMatchObject({ name: 'ConflictError' });
  session.close();
});

test('setContext with a record: the next call sees it as the same object that get_record returns', async () => {
  const host = fakeHost({ r: { n: 1 } });
  const session = await open(
    'let held; function a(c) { held = c.app.get_record("r"); return c.record }\nfunction b(c) { return [c.record === held, c.record.n] }',
    host,
  );
  expect(await session.call([call('a')])).toMatchObject([{ value: null }]);
  session.setContext({ record: { id: 'r', url: 'u', items: { n: 2 } } });
  expect(await session.call([call('b')])).toMatchObject([{ value: [true, 2] }]);
  session.close();
});

test('calls of one session run one after the other', async () => {
  const session = await open(
    'let n = 0; async function a(c) { const before = n; c.app.count(); await null; n = before + 1; return n }',
  );
  const outcomes = await Promise.all([1, 2, 3].map(() => session.call([call('a')])));
  expect(outcomes.flat()).toMatchObject([{ value: 1 }, { value: 2 }, { value: 3 }]);
  session.close();
});

describe('nested sessions', () => {
  const source = 'function f(c) { return c.params.depth + c.app.count() }';

  /** A host whose `count` opens the same block one level deeper. */
  function nestingHost(budget: ReturnType<LogicRuntime['budget']>, depth: number, maxDepth: number): LogicHost {
    const host = fakeHost();
    host.count = async () => {
      if (depth === maxDepth) return 0;
      const context = contextOf({ params: { depth: depth + 1 } });
      const session = await open(source, nestingHost(budget, depth + 1, maxDepth), budget, context);
      try {
        const [outcome] = await session.call([call('f')]);
        return outcome?.ok ? Number(outcome.value) : -1;
      } finally {
        session.close();
      }
    };
    return host;
  }

  const run = async (maxDepth: number) => {
    const budget = runtime.budget();
    const session = await open(source, nestingHost(budget, 0, maxDepth), budget, contextOf({ params: { depth: 0 } }));
    return session.call([call('f')]).finally(() => session.close());
  };

  test('do not wait for the permit of the outer one', async () => {
    expect(await Promise.all([run(8), run(8)])).toMatchObject([[{ value: 36 }], [{ value: 36 }]]);
  });

  test('have a limit', async () => {
    await expect(run(1000)).rejects.toMatchObject({
      name: 'LogicError',
      message: expect.stringContaining('nested deeper than 16'),
    });
    expect(await run(1)).toMatchObject([{ value: 1 }]);
  });

  test('share the host calls and the time', async () => {
    const budget = runtime.budget();
    budget.shared.hostCalls = limits.hostCalls - 1;
    const session = await open('function f(c) { c.app.count(); c.app.count() }', fakeHost(), budget);
    await expect(session.call([call('f')])).rejects.toMatchObject({
      message: expect.stringContaining('more than 1000 host calls'),
    });
    session.close();
    const late = runtime.budget();
    late.shared.deadline = processClock.now() - 1;
    await expect(open('function f() {}', fakeHost(), late)).rejects.toMatchObject({
      name: 'LogicTimeoutError',
      status: 504,
    });
  });
});

test('more sessions than isolates wait for a permit; too many are refused', async () => {
  const held = await open('function f() { return 1 }');
  const waiting = Array.from({ length: 40 }, () =>
    runOnce(runtime, 'function f() { return 1 }').catch((error: unknown) => error),
  );
  held.close();
  const results = await Promise.all(waiting);
  const refused = results.filter((result) => result instanceof AppsError);
  // 32 sessions may wait, 24 of them of one program.
  expect(refused.length).toBe(16);
  expect(refused[0]).toMatchObject({ name: 'ServiceUnavailableError', status: 503, headers: { 'Retry-After': '1' } });
  expect(
    results
      .filter((result) => !(result instanceof AppsError))
      .every((result) => (result as { value: number }).value === 1),
  ).toBe(true);
});

test('logic beside other logic of its request waits for a permit; its waits count once, the budget is one', async () => {
  const budget = runtime.budget();
  const source = 'function f(c) { return c.app.count() }';
  const held = await open(source, fakeHost(), runtime.beside(budget));
  const [begun, deadline] = [performance.now(), budget.shared.deadline];
  const order: string[] = [];
  const others = [1, 2].map(async () => {
    const session = await open(source, fakeHost(), runtime.beside(budget));
    order.push('opened');
    await session.call([call('f')]);
    session.close();
  });
  await new Promise((done) => setTimeout(done, 20));
  order.push('closed');
  held.close();
  await Promise.all(others);
  expect(order).toEqual(['closed', 'opened', 'opened']);
  expect(budget.shared.deadline - deadline).toBeLessThanOrEqual(performance.now() - begun);
  expect(budget.shared.deadline).toBeGreaterThan(deadline);
  expect(budget.shared.hostCalls).toBe(2);
  expect(runtime.beside(budget, { losses: 2, spent: 0 }).losses).toBe(2);
});

test('a top level that fails is a LogicError, and releases its permit', async () => {
  for (let round = 0; round < 3; round += 1) {
    await expect(open('\nthrow new Error("top")')).rejects.toMatchObject({
      name: 'LogicError',
      position: { file: 'blocks/test.js', line: 2 },
    });
  }
  expect(await runOnce(runtime, 'function f() { return 1 }')).toMatchObject({ value: 1 });
});

describe('problems of a program', () => {
  const cases: [string, string, number, unknown][] = [
    ['nothing', 'function f() {}', 10_000, null],
    ['its syntax', '\n)', 10_000, { name: 'LogicError', position: { file: 'blocks/test.js', line: 2, column: 1 } }],
    [
      'not known in time',
      'function g() {}',
      0,
      { name: 'LogicError', message: expect.stringContaining('still being compiled') },
    ],
  ];
  test.each(cases)('%s', async (_name, source, time, expected) => {
    const problem = await runtime.problem(programOf(source), performance.now() + time);
    if (expected === null) expect(problem).toBeNull();
    else expect(problem).toMatchObject(Object(expected));
  });
});
