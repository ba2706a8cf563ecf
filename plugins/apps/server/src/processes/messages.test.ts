import type { Core } from '@strapi/strapi';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createMessages } from './messages';

const now = Date.UTC(2026, 0, 1);
beforeEach(() => void vi.useFakeTimers({ now }));
afterEach(() => void vi.useRealTimers());

function opened(query: object) {
  const rows = { deleteMany: vi.fn(), findOne: vi.fn(async () => null), ...query };
  const strapi = { db: { query: () => rows } } as unknown as Core.Strapi;
  const [receive, knowsSince, report, send] = [vi.fn(), vi.fn(), vi.fn(), vi.fn()];
  const insert = vi.fn(async () => {});
  let signal = () => {};
  const on = (_topic: string, call: () => void) => {
    signal = call;
  };
  const signals = { send, on };
  const messages = createMessages({ strapi, insert, signals, report, origin: 'own' });
  messages.subscribe({ receive, knowsSince });
  return { messages, rows, insert, receive, knowsSince, report, send, signal: () => signal() };
}

const row = (id: number, more: object = {}) => ({
  id,
  origin: 'other',
  tokens: '["a"]',
  records: JSON.stringify({ at: now, apps: {} }),
  ...more,
});

test('the first poll reads the last minute, later ones what is new', async () => {
  const findMany = vi.fn(async (_query: object) => [row(2)]);
  const { messages, receive, knowsSince, report } = opened({ findMany });
  const { ready, stop } = messages.listen();
  await ready;
  expect(receive.mock.calls).toMatchObject([[{ tokens: ['a'], at: now }, true]]);
  expect(knowsSince.mock.lastCall).toEqual([now - 60_000]);
  const third = row(3, { tokens: '["b"]', records: null });
  findMany.mockImplementation(async (query) => ('select' in query ? [row(2), third] : [third]));
  await vi.advanceTimersByTimeAsync(3_500);
  expect(receive.mock.calls.slice(1)).toMatchObject([[{ tokens: ['b'], said: null }, false]]);
  stop();
  expect(report).not.toHaveBeenCalled();
});

test('a listener that comes soon after another has left begins no second loop; one that comes later begins again', async () => {
  const findMany = vi.fn(async () => []);
  const { messages, knowsSince } = opened({ findMany });
  messages.listen().stop();
  const second = messages.listen();
  await vi.advanceTimersByTimeAsync(5_500);
  expect(findMany).toHaveBeenCalledTimes(6);
  second.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(knowsSince.mock.lastCall).toEqual([Number.POSITIVE_INFINITY]);
  const polls = findMany.mock.calls.length;
  expect(polls).toBeLessThan(20);
  const third = messages.listen();
  await third.ready;
  expect(findMany).toHaveBeenCalledTimes(polls + 1);
  expect(knowsSince.mock.lastCall?.[0]).toBeLessThan(Number.POSITIVE_INFINITY);
  third.stop();
});

test('polls that fail are reported once, until one has not', async () => {
  const findMany = vi.fn(async () => Promise.reject(new Error('no database')));
  const { messages, report } = opened({ findMany });
  const { stop } = messages.listen();
  await vi.advanceTimersByTimeAsync(3_500);
  expect([findMany.mock.calls.length, report.mock.calls.length]).toEqual([4, 1]);
  findMany.mockResolvedValueOnce([] as never);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(report).toHaveBeenCalledTimes(2);
  stop();
  messages.destroy();
});

test('a signal is a look at once, of which one in a look is another', async () => {
  let end = () => {};
  const findMany = vi.fn(async () => []);
  const { messages, signal } = opened({ findMany });
  signal();
  expect(findMany).not.toHaveBeenCalled();
  const { ready, stop } = messages.listen();
  await ready;
  await vi.advanceTimersByTimeAsync(1);
  const look = new Promise<never[]>((resolve) => {
    end = () => resolve([]);
  });
  findMany.mockReturnValueOnce(look);
  signal();
  signal();
  expect(findMany).toHaveBeenCalledTimes(2);
  end();
  await vi.advanceTimersByTimeAsync(1);
  expect(findMany).toHaveBeenCalledTimes(3);
  stop();
  messages.destroy();
  signal();
  expect(findMany).toHaveBeenCalledTimes(3);
});

test('what is written is signalled, and deleted after a minute, also when nothing more happens', async () => {
  const { messages, rows, insert, send } = opened({});
  await messages.write({ at: now, tokens: ['a'], said: { apps: {} } });
  const data = { origin: 'own', tokens: '["a"]', records: JSON.stringify({ at: now, apps: {} }) };
  expect(insert.mock.calls).toEqual([[data]]);
  expect(send.mock.calls).toEqual([['changes']]);
  await vi.advanceTimersByTimeAsync(62_000);
  expect(rows.deleteMany).toHaveBeenCalledTimes(1);
  messages.destroy();
});
