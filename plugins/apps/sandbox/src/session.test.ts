import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Session, type SessionOptions } from './session';

const ms = (count: number) => BigInt(count) * 1_000_000n;

const given: SessionOptions['program'] = { language: 'javascript', key: 'p', modules: [] };

test('processor time is that of the isolate since the session began; of one that is gone all time', async () => {
  const isolate = { isDisposed: false, cpuTime: ms(700) };
  const pool = { take: () => ({ native: isolate, events: null }) } as unknown as SessionOptions['pool'];
  const before = { memory: 0, time: 0 };
  const none = () => undefined;
  const events = { send: none, ended: none, gone: none };
  const session = new Session({ id: 1, program: given, pool, messageSize: 1, before, ...events });
  isolate.cpuTime = ms(730);
  expect(session.processorTime).toBe(30);
  await pause(5);
  isolate.isDisposed = true;
  expect(session.processorTime).toBeGreaterThanOrEqual(4);
  expect(session.processorTime).toBeLessThan(10_000);
});

describe('a host call of a session that is over is answered after its isolate was disposed of', () => {
  afterEach(() => void vi.useRealTimers());

  const start = () => {
    const native = { isDisposed: false, cpuTime: 0n };
    const discard = vi.fn();
    const pool = { take: () => ({ native, events: null }), discard } as unknown as SessionOptions['pool'];
    const none = () => undefined;
    const events = { send: none, ended: none, gone: none };
    const before = { memory: 0, time: 0 };
    return {
      session: new Session({
        id: 1,
        program: { ...given, language: 'python' },
        pool,
        messageSize: 100,
        before,
        ...events,
      }),
      discard,
    };
  };

  test.each<[when: string, call: (session: Session) => Promise<string>]>([
    [
      'while it waits',
      (session) => {
        const reply = session.host('[]');
        session.stop();
        return reply;
      },
    ],
    ['that ends it', (session) => session.host('x'.repeat(101))],
    [
      'after its end',
      (session) => {
        session.stop();
        return session.host('[]');
      },
    ],
  ])('%s', async (_when, call) => {
    vi.useFakeTimers();
    const { session, discard } = start();
    const answered = vi.fn();
    void call(session).then(answered);
    await vi.advanceTimersByTimeAsync(40);
    expect([discard.mock.calls.length, answered.mock.calls.length]).toEqual([1, 0]);
    await vi.advanceTimersByTimeAsync(20);
    expect(answered).toHaveBeenCalledWith('');
  });
});
