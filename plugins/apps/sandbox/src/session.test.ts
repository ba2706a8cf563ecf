import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Session, type SessionOptions } from './session';

const ms = (count: number) => BigInt(count) * 1_000_000n;

test('processor time is that of the isolate since the session began; of one that is gone all time', async () => {
  const isolate = { isDisposed: false, cpuTime: ms(700) };
  const pool = { take: () => ({ native: isolate, events: null }) } as unknown as SessionOptions['pool'];
  const before = { memory: 0, time: 0 };
  const none = () => undefined;
  const events = { send: none, ended: none, gone: none };
  const session = new Session({ id: 1, language: 'javascript', pool, messageSize: 1, before, ...events });
  isolate.cpuTime = ms(730);
  expect(session.processorTime).toBe(30);
  await pause(5);
  isolate.isDisposed = true;
  expect(session.processorTime).toBeGreaterThanOrEqual(4);
  expect(session.processorTime).toBeLessThan(10_000);
});
