import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { firstAttempt, nextAttempt, type RunnerAttempt } from './supervisor/runner-pool';
import { contextOf, fakeHost, programOf, useRuntime } from './testing/harness';
import type { LogicBudget, LogicHost, LogicProgram } from './types';

const logicTime = 2500;
const runtime = useRuntime({ logicTime, hostTime: 5000 });

// The first session of a language prepares its isolate, which takes long on a busy machine.
beforeAll(async () => {
  await run(javascript('return 1'), () => fakeHost());
  await run(python('return 1'), () => fakeHost());
}, 60_000);

const answer = { status: 200, headers: { 'x-a': 'b' }, text: '{"a":[1]}' };

/** A host whose calls out take so long. */
function hostOf(budget: LogicBudget, time: number, app = 'app'): LogicHost {
  const host = fakeHost();
  host.fetch = () => runtime.outside(budget, app, 5000, () => pause(time).then(() => answer));
  return host;
}

async function run(
  program: LogicProgram,
  make: (budget: LogicBudget) => LogicHost,
  budget = runtime.budget(),
  sandbox = runtime,
) {
  // As a request: again where its runner ends, for example because an endless function of the test before has not left its isolate.
  for (let attempt: RunnerAttempt = firstAttempt; ; ) {
    const session = await sandbox.open(program, contextOf(), make(budget), budget);
    try {
      const [outcome] = await session.call([{ name: 'f', contained: true }]);
      return outcome?.ok ? outcome.value : outcome?.error.message;
    } catch (error) {
      const next = nextAttempt(error, attempt);
      if (!next) throw error;
      attempt = next;
    } finally {
      session.close();
    }
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
    expect(await run(program, (budget) => hostOf(budget, logicTime * 1.2))).toEqual(all);
  });
});

describe('the body of a call out', () => {
  const items = { id: 'r', n: [1] };
  const noted = async (program: LogicProgram) => {
    const bodies: unknown[] = [];
    const host = fakeHost({ r: { n: [1] } });
    host.fetch = ({ options }) => {
      bodies.push(options.body);
      return answer;
    };
    host.addFetch = ({ options }) => {
      bodies.push(options.body);
      return '1';
    };
    expect(await run(program, () => host)).toBeNull();
    return bodies;
  };

  test.each<[string, unknown]>([
    ["c.app.get_record('r')", items],
    ["{ r: c.app.get_record('r') }", { r: items }],
    ["[c.app.get_record('r')]", [items]],
    ['new (class { a = 1 })()', { a: 1 }],
    ['c.request.form', { form: 'yes' }],
    ["new URL('http://x/')", 'http://x/'],
    ["new URLSearchParams({ a: '1' })", 'a=1'],
    ['new Date(NaN)', 'Invalid Date'],
    ['5', '5'],
    ["'text'", 'text'],
  ])('JavaScript: %s', async (body, sent) => {
    const calls = `const c = context; c.fetch('x', { body: ${body} }); c.jobs.fetch('x', { body: ${body} }); return null`;
    expect(await noted(javascript(calls))).toEqual([sent, sent]);
  });

  test('Python: a record', async () => {
    const calls = ['context.fetch', 'context.jobs.fetch'].map(
      (call) => `${call}('x', body=context.app.get_record('r'))`,
    );
    expect(await noted(python(...calls))).toEqual([items, items]);
  });
});

describe.each([
  ['JavaScript', javascript("context.fetch('x'); for (;;);")],
  ['Python', python("context.fetch('x')", 'while True:', '    pass')],
])('%s after a call', (_language, program) => {
  test('has its own time, no more', async () => {
    const begin = performance.now();
    await expect(run(program, (budget) => hostOf(budget, 700))).rejects.toThrow(`ran longer than ${logicTime} ms`);
    const time = performance.now() - begin;
    expect(time).toBeGreaterThan(600 + logicTime);
  });
});

test.each([
  ['JavaScript', javascript("context.fetch('x'); for (;;);")],
  ['Python', python("context.fetch('x')", 'while True:', '    pass')],
])(
  '%s has its own time, no more, also while another session of the request still waits',
  async (_language, endless) => {
    const budget = runtime.budget();
    const other = run(javascript("context.fetch('x'); return 'ok'"), () => hostOf(budget, logicTime * 2), budget);
    await expect(run(endless, () => hostOf(budget, 300), budget)).rejects.toMatchObject({ name: 'LogicTimeoutError' });
    expect(await other).toBe('ok');
  },
);

test('logic that goes on after many calls has what is left of its time', async () => {
  const body =
    "for (let i = 0; i < 4; i += 1) { context.fetch('x'); const end = Date.now() + 300; while (Date.now() < end); } return 'ok'";
  expect(await run(javascript(body), (budget) => hostOf(budget, 700))).toBe('ok');
});

test('the time of an outer block stands still too, and the calls that wait take nothing of the thread', async () => {
  const inner = javascript("context.fetch('x'); return 'inner'");
  const outer = javascript("context.block.display(); return 'outer'");
  const budget = runtime.budget();
  let worked = 0;
  const innerHost = fakeHost();
  innerHost.fetch = () =>
    runtime.outside(budget, 'app', 5000, async () => {
      // The thread works for others while the request waits.
      const end = performance.now() + logicTime * 1.2;
      while (performance.now() < end) {
        const begin = performance.now();
        while (performance.now() < begin + 8);
        worked += 8;
        await pause(2);
      }
      return answer;
    });
  const host = fakeHost();
  host.displayBlock = async () => {
    expect(await run(inner, () => innerHost, budget)).toBe('inner');
    return '';
  };
  expect(await run(outer, () => host, budget)).toBe('outer');
  expect(budget.shared.host.time).toBeLessThan(worked / 2);
});

describe('slow calls of one app', () => {
  const unhurried = useRuntime({ logicTime: 30_000, isolates: 6 });

  test('leave isolates and calls to other apps', async () => {
    const program = javascript("try { context.fetch('x'); return 'called' } catch (error) { return error.name }");
    const end = new AbortController();
    const ended = new Promise((resolve) => end.signal.addEventListener('abort', resolve));
    let asked = 0;
    const call = async (app: string, until: Promise<unknown>) => {
      const budget = unhurried.budget();
      const host = fakeHost();
      host.fetch = () => {
        asked += 1;
        return unhurried.outside(budget, app, 60_000, () => until.then(() => answer));
      };
      return run(program, () => host, budget, unhurried);
    };
    const slow = Array.from({ length: 5 }, () => call('slow', ended));
    await vi.waitFor(() => expect(asked).toBe(5), 50_000);
    expect(await call('other', Promise.resolve())).toBe('called');
    end.abort();
    // Of six isolates three are for calls, two of them for one app, and one call of it may wait.
    const results = (await Promise.all(slow)).sort();
    expect(results).toEqual(['RateLimitError', 'RateLimitError', 'called', 'called', 'called']);
  });
});
