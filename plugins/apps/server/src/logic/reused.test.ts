import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runBody, setReuse, startRuntime } from './testing/harness';

/**
 * The tests of logic once more, with a context for each program that serves all its sessions: each test twice, so that its second
 * run finds the context of the first, and must get the same answers; once where a session ends its context. Where this engine was not audited, contexts are fresh here too.
 */
describe('in reused contexts', { repeats: 1 }, async () => {
  beforeAll(() => setReuse(0));
  afterAll(() => setReuse(null));
  // The query makes these modules other ones than those that vitest runs by themselves.
  await import('./context.test?reused');
  await import('./context-records.test?reused');
  await import('./globals.test?reused');
  await import('./limits.test?reused');
  await import('./looked.test?reused');
  await import('./modules.test?reused');
  await import('./results.test?reused');
  await import('./session/session.test?reused');
});

test('the clock stands still and goes on in the sessions of one context', async () => {
  setReuse(0);
  let stoppedAt: number | null = null;
  const runtime = await startRuntime({ isolates: 1 }, [], () => stoppedAt);
  setReuse(null);
  const read = () => runBody(runtime, 'return [Date.now(), new Date().getTime(), Object.isSealed(Object.prototype)]');
  try {
    const began = Date.now();
    const [isSealed, ...times] = ((await read()) as unknown[]).reverse();
    expect(isSealed).toBe(true);
    for (const time of times) expect(time).toBeGreaterThanOrEqual(began);
    stoppedAt = 1_000;
    expect(await read()).toEqual([1_000, 1_000, true]);
    stoppedAt = null;
    expect(((await read()) as number[])[0]).toBeGreaterThanOrEqual(began);
  } finally {
    await runtime.destroy();
  }
});
