import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { processClock } from '../../common/time/process-clock';
import type { Limits } from '../../config.types';
import { createLogicRuntime, firstAttempt, nextAttempt } from '..';
import { contextOf, fakeHost, inProcess, limits, programOf, runOnce } from '../testing/harness';
import type { LogicRuntime } from '../types';

describe('a runner that fails', () => {
  const folder = mkdtempSync(join(tmpdir(), 'apps-runner-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** A runtime whose runner is the given program; it has `send(kind, session, text)` and `onMessage(take)`. */
  function withRunner(name: string, source: string, logicTime = 300, changed: Partial<Limits> = {}): LogicRuntime {
    const runnerPath = join(folder, `${name.replaceAll(' ', '-')}.js`);
    writeFileSync(
      runnerPath,
      `const pipe = new (require('node:net').Socket)({ fd: 3, readable: true, writable: true });
      pipe.on('close', () => process.exit(0));
      const send = (kind, session = 0, text = '') =>
        pipe.write(kind + ' ' + session + ' ' + Buffer.byteLength(text) + '\\n' + text);
      const onMessage = (take) => pipe.on('data', (data) => take(JSON.parse(String(data).split('\\n')[1])[0]));
      send('ready');
      ${source}`,
    );
    const logger = { error: vi.fn() };
    return createLogicRuntime({
      limits: { ...limits, logicTime, ...changed },
      sandbox: { command: [] },
      logger,
      runnerPath,
      workers: inProcess,
    });
  }

  const broken = { name: 'LogicError', message: 'The logic broke its sandbox', position: { file: 'blocks/test.js' } };
  const cases: [string, string, object][] = [
    ['is silent', 'onMessage(() => undefined);', { name: 'LogicTimeoutError' }],
    ['is stuck', 'onMessage(() => { for (;;); });', { name: 'LogicTimeoutError' }],
    ['crashes', 'onMessage(() => process.abort());', { name: 'LogicError', message: expect.stringContaining('64 MB') }],
    ['gives up', 'onMessage(() => process.exit(1));', { name: 'ServiceUnavailableError' }],
    [
      'has no isolated-vm',
      `send('unavailable', 0, 'isolated-vm does not load: run "npm install" (/a/path of the machine)');
      pipe.end(() => process.exit(1));`,
      { name: 'ServiceUnavailableError', reason: 'isolated-vm does not load: run "npm install"' },
    ],
    ['talks nonsense', "onMessage(({ session }) => send('done', session, '{'));", broken],
    ...['5', '["weather"]', '[5]', '["request.cookies"]', '{}'].map((looked): [string, string, object] => [
      `says that logic has looked at ${looked}`,
      `onMessage(({ session }) =>
        send('done', session, '{"value":{"functions":[],"outcomes":[]},"looked":${looked}}'));`,
      broken,
    ]),
    ['asks nonsense', "onMessage(({ session }) => send('host', session, '[5]'));", broken],
    [
      'answers twice',
      "onMessage(({ session }) => { send('host', session, '[5]'); send('host', session, '[5]') });",
      broken,
    ],
    ['asks for its program again', "onMessage(({ session }) => send('failed-unknown-program', session));", broken],
    [
      'says it with much text',
      "onMessage(({ session }) => send('failed-program', session, 'x'.repeat(5000)));",
      broken,
    ],
    ['has another reason', "onMessage(({ session }) => send('failed-constructor', session));", broken],
    ['sends another kind', "onMessage(({ session }) => send('__proto__', session, '{}'));", broken],
    ['sends JSON lines', `onMessage(({ session }) => pipe.write(JSON.stringify([{ session }]) + '\\n'));`, broken],
    ['sends a line without end', "onMessage(() => pipe.write('x'.repeat(1e6)));", broken],
    ['declares too much', "onMessage(({ session }) => pipe.write('done ' + session + ' 999999999\\n'));", broken],
    ['sends too much', "onMessage(({ session }) => send('done', session, 'x'.repeat(7e6)));", broken],
    [
      'speaks of sessions that there are not',
      "onMessage(() => { for (let id = 0; id < 5000; id += 1) send('done', id + 1000, '{}') });",
      broken,
    ],
    [
      'repeats itself for ever',
      "onMessage(() => setInterval(() => { for (let n = 0; n < 500; n += 1) send('ready') }));",
      broken,
    ],
  ];
  test.each(cases)('%s', async (name, source, expected) => {
    // Only what is about time ends by its time, also on a busy machine.
    const failing = withRunner(name, source, 'name' in expected && expected.name === 'LogicTimeoutError' ? 300 : 5_000);
    const begin = performance.now();
    await expect(runOnce(failing, 'function f() {}')).rejects.toMatchObject(expected);
    expect(performance.now() - begin).toBeLessThan(3000);
    await failing.destroy();
  });

  test('gives a result that is too large: a contained function fails alone, another one with its call', async () => {
    const source = `const take = ({ type, session, data }) => {
        if (!data) return;
        const texts = ['x'.repeat(1e6 + 1), 'x'];
        const outcomes = JSON.parse(data).calls.map((_call, at) => ({ defined: true, value: texts[at] }));
        const value = type === 'open' ? { functions: ['f', 'g'], outcomes } : outcomes;
        send('done', session, JSON.stringify({ value }));
      };
      pipe.on('data', (data) => {
        for (const line of String(data).split('\\n')) if (line.startsWith('[')) JSON.parse(line).forEach(take);
      });`;
    const large = withRunner('large', source, 5_000, { resultSize: 1_000_000 });
    const call = async (contained: boolean) => {
      const session = await large.open(programOf('function f() {}'), contextOf(), fakeHost(), large.budget());
      return session.call(['f', 'g'].map((name) => ({ name, contained }))).finally(() => session.close());
    };
    const error = { name: 'LogicError', message: 'The result of f is larger than 1000000 bytes' };
    expect(await call(true)).toMatchObject([
      { ok: false, error },
      { ok: true, value: 'x' },
    ]);
    await expect(call(false)).rejects.toMatchObject(error);
    await large.destroy();
  });

  test('no longer reads messages: it is ended before the time of its logic is over, and the request may run again', async () => {
    const stuck = withRunner('stuck', 'onMessage(() => { for (;;); });', 20_000);
    const begin = performance.now();
    const opened = stuck.open(programOf('function f() {}'), contextOf(), fakeHost(), stuck.budget());
    expect(nextAttempt(await opened.catch((error) => error), firstAttempt)).toEqual({ losses: 1, spent: 0 });
    expect(performance.now() - begin).toBeLessThan(20_000);
    await stuck.destroy();
  }, 30_000);

  test('answers while its logic runs: it is not ended', async () => {
    const source = `pipe.on('data', (data) => {
        for (const { type, session } of JSON.parse(String(data).split('\\n')[1])) {
          if (type === 'ping') send('pong');
          const value = type === 'open' ? { functions: [], outcomes: [] } : [{ defined: true, value: 'late' }];
          if (session) setTimeout(send, 1_500, 'done', session, JSON.stringify({ value }));
        }
      });`;
    const slow = withRunner('slow', source, 10_000);
    expect(await runOnce(slow, 'function f() {}')).toMatchObject({ value: 'late' });
    await slow.destroy();
  });

  test('has no memory left, and suspects a session: that runs again alone, in the rest of its time', async () => {
    const source = `onMessage(({ session }) => setTimeout(send, 300, 'failed-crowded', session, ''));`;
    const full = withRunner('full', source, 4_000);
    const error = await full
      .open(programOf('function f() {}'), contextOf(), fakeHost(), full.budget())
      .catch((one) => one);
    const next = nextAttempt(error, firstAttempt);
    expect(next).toEqual({ losses: 2, spent: expect.any(Number) });
    expect(next?.spent).toBeGreaterThan(250);
    expect(nextAttempt(error, next as NonNullable<typeof next>)).toBeNull();
    const left = (spent: number) => full.budget({ losses: 2, spent }).shared.deadline - processClock.now();
    expect([left(300), left(9_000)].map((time) => Math.round(time / 50))).toEqual([74, 20]);
    await full.destroy();
  });

  test('gives a session more time: the server waits for it, but not longer than a request may be delayed', async () => {
    const answer = JSON.stringify({ value: { functions: ['f'], outcomes: [] } });
    const delays = (time: number, text: string) =>
      `onMessage(({ session, type }) => {
        if (type === 'open') send('delayed', session, '${time}');
        if (type === 'open' && ${JSON.stringify(text)}) setTimeout(send, 700, 'done', session, ${JSON.stringify(answer)});
      });`;
    const open = (runtime: LogicRuntime) =>
      runtime.open(programOf('function f() {}'), contextOf(), fakeHost(), runtime.budget());
    const delayed = withRunner('delayed', delays(900, 'answers'), 400);
    expect([...(await open(delayed)).functions]).toEqual(['f']);
    await delayed.destroy();
    const endless = withRunner('endless', delays(999_999, ''), 400);
    const begin = performance.now();
    await expect(open(endless)).rejects.toMatchObject({ name: 'LogicTimeoutError' });
    const time = performance.now() - begin;
    expect(time).toBeGreaterThan(1_100);
    expect(time).toBeLessThan(5_000);
    await endless.destroy();
  });

  test('ends a session in the message in which it opens it: its permit is free again', async () => {
    const source = `onMessage(({ session }) => {
        const done = JSON.stringify({ value: { functions: [], outcomes: [] } });
        const frame = (kind, text) => kind + ' ' + session + ' ' + Buffer.byteLength(text) + '\\n' + text;
        pipe.write(frame('done', done) + frame('failed-memory', ''));
      });`;
    const ending = withRunner('ending', source, 2_000, { isolates: 1 });
    for (let round = 0; round < 3; round += 1) {
      const session = await ending.open(
        programOf(`function f() { ${round} }`),
        contextOf(),
        fakeHost(),
        ending.budget(),
      );
      await expect(session.call([{ name: 'f', contained: true }])).rejects.toMatchObject({ name: 'LogicError' });
      session.close();
    }
    await ending.destroy();
  });

  /** Handles the session of `first` as given; any other crashes the runner after that, and is answered by a new one. */
  const crashing = (first: string) => `let crashes = false;
    pipe.on('data', (data) => {
      for (const { type, session, source } of JSON.parse(String(data).split('\\n')[1])) {
        const isFirst = source?.modules[0].code.includes('first');
        const value = type === 'open' ? { functions: [], outcomes: [] } : [{ defined: true, value: 'again' }];
        const done = () => send('done', session, JSON.stringify({ value }));
        if (crashes && type === 'open') process.abort();
        if (type === 'call') done();
        if (type === 'open') (isFirst ? ${first} : done)();
        crashes ||= isFirst;
      }
    });`;
  test.each([
    ['after one that ended well: it is to blame', 'done', { name: 'LogicError' }],
    ['after one that failed: it runs again', "() => send('failed-memory', session)", { value: 'again' }],
  ])('crashes in its second session, %s', async (what, first, expected) => {
    const runtime = withRunner(what.slice(0, 20), crashing(first), 5_000);
    const session = runtime.open(programOf('function first() {}'), contextOf(), fakeHost(), runtime.budget());
    await session.then((opened) => opened.close()).catch(() => undefined);
    const second = runOnce(runtime, 'function f() {}').catch((error: unknown) => error);
    expect(await second).toMatchObject(expected);
    await runtime.destroy();
  });

  test('is replaced', async () => {
    const source = `onMessage(({ type, session, source }) => {
        if (source?.modules[0].code.includes('crash')) process.abort();
        const value = type === 'open' ? { functions: [], outcomes: [] } : [{ defined: true, value: 'second' }];
        send('done', session, JSON.stringify({ value }));
      });`;
    const replaced = withRunner('replaced', source);
    await expect(runOnce(replaced, 'function f() { crash }')).rejects.toMatchObject({ name: 'LogicError' });
    expect(await runOnce(replaced, 'function f() {}')).toMatchObject({ value: 'second' });
    await replaced.destroy();
  });
});

test('without a runner: 503, logged once a second at most', async () => {
  const error = vi.fn();
  const broken = createLogicRuntime({
    limits,
    sandbox: { command: [] },
    logger: { error },
    runnerPath: join(__dirname, 'none.js'),
    workers: inProcess,
  });
  for (let round = 0; round < 3; round += 1) {
    await expect(
      broken.open(programOf('function f() {}'), contextOf(), fakeHost(), broken.budget()),
    ).rejects.toMatchObject({ status: 503 });
  }
  expect(error).toHaveBeenCalledTimes(1);
  await broken.destroy();
});
