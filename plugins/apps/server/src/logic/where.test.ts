import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { AppsError } from '../common/errors';
import { fakeHost, programOf, runOnce, useRuntime } from './testing/harness';

/** The position of logic when it was ended (docs/errors.md). */
const runtime = useRuntime({ logicTime: 600, isolates: 2, hostCalls: 1_000_000 });
beforeAll(async () => {
  for (const program of [javascript('function f() {}'), python('def f(context):', '    pass')]) {
    // On a busy machine the first run may take longer than logic has.
    await vi.waitFor(() => runOnce(runtime, program), { timeout: 30_000 });
  }
});

const lines = (...text: string[]) => text.join('\n');
const javascript = (...text: string[]) => programOf(lines(...text));
const python = (...text: string[]) => programOf({ 'blocks/test.py': lines(...text) }, 'blocks/test.py');

/** A slow host, so that a loop of calls exceeds its time before it has made too many calls. */
function slowHost() {
  const host = fakeHost();
  host.count = () => new Promise((resolve) => setTimeout(resolve, 20, 1));
  return host;
}

async function errorOf(program: ReturnType<typeof programOf>): Promise<AppsError> {
  const result = await runOnce(runtime, program, { host: slowHost() }).catch((error: unknown) => ({ error }));
  return (result as { error: AppsError }).error;
}

describe('over the time', () => {
  const cases: [what: string, program: ReturnType<typeof programOf>, line: number | undefined, says: RegExp][] = [
    ['a loop', javascript('function f() {', '  for (;;);', '}'), 2, /block "test", the function "f"$/],
    [
      'after await',
      javascript('async function f() {', '  await null;', '  for (;;) g();', '}', 'function g() {}'),
      3,
      /./,
    ],
    ['another function', javascript('function f() {', '  g();', '}', 'function g() { for (;;); }'), 4, /function "f"/],
    ['a pattern', javascript('function f() {', '  /^(a+)+$/.test("a".repeat(40) + "b");', '}'), 2, /./],
    ['host calls', javascript('function f(c) {', '  for (;;)', '    c.app.count();', '}'), 3, /function "f"/],
    ['caught', javascript('function f(c) {', '  for (;;) try {', '    c.app.count();', '  } catch {}', '}'), 3, /./],
    [
      'no position',
      javascript(
        'function f() {',
        '  const test = RegExp.prototype.test.bind(/^(a+)+$/);',
        '  return Promise.resolve("a".repeat(40) + "b").then(test);',
        '}',
      ),
      undefined,
      /line unknown/,
    ],
    ['the top level', javascript('const f = 1;', 'for (;;);'), 2, /top level/],
    [
      'Python: a loop',
      python('def f(context):', '    n = 0', '    while True:', '        n = n + 1'),
      4,
      /function "f"/,
    ],
    [
      'Python: a range',
      python('def f(c):', '    for i in range(10 ** 9):', '        g(i)', 'def g(i):', '    return i'),
      4,
      /./,
    ],
    ['Python: host calls', python('def f(c):', '    while True:', '        c.app.count()'), 3, /function "f"/],
    [
      'Python: caught',
      python(
        'def f(c):',
        '    while True:',
        '        try:',
        '            len("x")',
        '        except Exception:',
        '            pass',
      ),
      4,
      /./,
    ],
    ['Python: no position', python('def f(c):', '    while True:', '        pass'), undefined, /"f", line unknown/],
  ];
  // On a busy machine the sandbox may get no processor time in the milliseconds that it has to send its stack.
  test.each(cases)('%s', { retry: 2 }, async (_what, program, line, says) => {
    const { name, message, reason, position } = await errorOf(program);
    expect(`${name}: ${message}`).toBe('LogicTimeoutError: The logic of this request ran longer than 600 ms');
    expect(reason).toMatch(says);
    // Either line of a loop is right.
    if (line === undefined) expect(position?.line).toBeUndefined();
    else expect([line - 1, line, line + 1]).toContain(position?.line);
    expect(await runOnce(runtime, 'function f() { return 1 }')).toMatchObject({ value: 1 });
  });
});

test("Python's log entries have lines", async () => {
  const host = fakeHost();
  const source = [
    'from lib.b import other',
    'def f(context):',
    '    app = context.app',
    '    app.log("one", (1, 2),',
    '        "two")',
    '    print("three",) # (',
    '    print()',
    '    app.log(other(context))',
    '    print("a", "b", sep="-")',
    '    print(*["c"], **{"sep": ""})',
    '    app.log(n for n in [1])',
    '    log = app.log',
    '    log("alias")',
  ];
  const files = { 'blocks/test.py': lines(...source), 'lib/b.py': 'def other(c):\n    print("b")\n    return "x"' };
  expect(await runOnce(runtime, programOf(files, 'blocks/test.py'), { host })).toMatchObject({ ok: true });
  expect(host.logs.map(({ line, message }) => `${line} ${message}`)).toEqual([
    '4 one [1,2] two',
    '6 three',
    '7 ',
    '2 b',
    '8 x',
    '9 a-b',
    'null c',
    expect.stringMatching(/^null /),
    'null alias',
  ]);
});

describe('a rejected promise that nothing awaits', () => {
  const cases: [program: ReturnType<typeof programOf>, says: RegExp, line: number | undefined][] = [
    [javascript('function f() {', '  Promise.reject(new TypeError("no"));', '}'), /rejected: TypeError: no$/, 2],
    [javascript('function f() {', '  g();', '}', 'async function g() {', '  await null;', '  null.x;', '}'), /null/, 6],
    [javascript('function f() {', '  Promise.reject("text");', '}'), /Error: text/, undefined],
  ];
  test.each(cases)('%#', async (program, says, line) => {
    const { name, message, position } = await errorOf(program);
    expect(name).toBe('LogicError');
    expect(message).toMatch(says);
    expect(position?.line).toBe(line);
  });
});
