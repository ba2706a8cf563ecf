import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { contextOf, fakeHost, programOf, useRuntime } from './testing/harness';
import type { LogicBudget, LogicHost, LogicProgram } from './types';

const logicTime = 1000;
const runtime = useRuntime({ logicTime, hostTime: 300, isolates: 6 });

const answer = { status: 200, headers: { 'x-a': 'b' }, text: '{"a":[1]}' };

/** A host whose calls out take so long. */
function hostOf(budget: LogicBudget, time: number, app = 'app'): LogicHost {
  const host = fakeHost();
  host.fetch = () => runtime.outside(budget, app, 5000, () => pause(time).then(() => answer));
  return host;
}

async function run(program: LogicProgram, make: (budget: LogicBudget) => LogicHost, budget = runtime.budget()) {
  const session = await runtime.open(program, contextOf(), make(budget), budget);
  try {
    const [outcome] = await session.call([{ name: 'f', contained: true }]);
    return outcome?.ok ? outcome.value : outcome?.error.message;
  } finally {
    session.close();
  }
}

const javascript = (body: string) => programOf(`export function f(context) { ${body} }`);
const python = (...lines: string[]) =>
  programOf(['def f(context):', ...lines.map((line) => `    ${line}`)].join('\n'), 'blocks/test.py');

const parts = ['status', 'ok', 'headers', 'text', 'json'] as const;
const all = [200, true, { 'x-a': 'b' }, '{"a":[1]}', { a: [1] }];

describe.each([
  ['JavaScript', javascript(`const a = context.fetch('x'); return [${parts.map((part) => `a.${part}`)}]`)],
  ['Python', python("a = context.fetch('x')", `return [${parts.map((part) => `a.${part}`)}]`)],
])('a call out of %s', (_language, program) => {
  test('may take longer than logic has time, and has an answer', async () => {
    expect(await run(program, (budget) => hostOf(budget, logicTime * 1.5))).toEqual(all);
  });
});

describe.each([
  ['JavaScript', javascript("context.fetch('x'); for (;;);")],
  ['Python', python("context.fetch('x')", 'while True:', '    pass')],
])('%s after a call', (_language, program) => {
  test('has its own time, no more', async () => {
    const begin = performance.now();
    await expect(run(program, (budget) => hostOf(budget, 700))).rejects.toThrow('ran longer than 1000 ms');
    const time = performance.now() - begin;
    expect(time).toBeGreaterThan(600 + logicTime);
  });
});

test('logic that goes on after many calls has what is left of its time', async () => {
  const body =
    "for (let i = 0; i < 4; i += 1) { context.fetch('x'); const end = Date.now() + 150; while (Date.now() < end); } return 'ok'";
  expect(await run(javascript(body), (budget) => hostOf(budget, 400))).toBe('ok');
});

test('the time of an outer block stands still too, and the calls that wait take nothing of the thread', async () => {
  const inner = javascript("context.fetch('x'); return 'inner'");
  const outer = javascript("context.block.display(); return 'outer'");
  const budget = runtime.budget();
  const host = fakeHost();
  let isBusy = true;
  host.displayBlock = async () => {
    expect(await run(inner, () => hostOf(budget, logicTime * 1.5), budget)).toBe('inner');
    return '';
  };
  const others = (async () => {
    while (isBusy) {
      const end = performance.now() + 8;
      while (performance.now() < end);
      await pause(2);
    }
  })();
  expect(await run(outer, () => host, budget)).toBe('outer');
  isBusy = false;
  await others;
  // Others have had the thread for a second.
  expect(budget.shared.host.time).toBeLessThan(300);
});

test('slow calls of one app leave isolates and calls to other apps', async () => {
  const program = javascript("try { context.fetch('x'); return 'called' } catch (error) { return error.name }");
  let asked = 0;
  const controller = new AbortController();
  const released = new Promise((resolve) => controller.signal.addEventListener('abort', resolve));
  const slowHost = (budget: LogicBudget) => {
    const host = fakeHost();
    host.fetch = () => {
      asked += 1;
      return runtime.outside(budget, 'slow', 60_000, () => released.then(() => answer));
    };
    return host;
  };
  const slow = Array.from({ length: 5 }, () => run(program, slowHost));
  await vi.waitFor(() => expect(asked).toBe(5), 10_000);
  const other = javascript("return context.fetch('x').text");
  expect(await run(other, (budget) => hostOf(budget, 1, 'other'))).toBe(answer.text);
  controller.abort();
  // Of six isolates three are for calls, two of them for one app, and one call of it may wait.
  expect((await Promise.all(slow)).sort()).toEqual(['RateLimitError', 'RateLimitError', 'called', 'called', 'called']);
});
