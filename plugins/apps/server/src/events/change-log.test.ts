import type { Core } from '@strapi/strapi';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createChangeLog } from './change-log';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a listener that comes during the poll for one that has left begins no second loop', async () => {
  let answer = (_rows: object[]) => {};
  const findMany = vi.fn(() => new Promise((resolve) => (answer = resolve)));
  const strapi = { db: { query: () => ({ findOne: async () => null, findMany }) } } as unknown as Core.Strapi;
  const receive = vi.fn();
  const log = createChangeLog({ strapi, logger: { warn: vi.fn() } as never, receive });

  const leave = log.listen();
  await vi.waitFor(() => expect(findMany).toHaveBeenCalledTimes(1));
  leave();
  const leaveAgain = log.listen();
  answer([]);
  findMany.mockImplementation(async () => [{ id: 1, origin: 'other', tokens: '["a"]' }]);
  await vi.advanceTimersByTimeAsync(5_500);
  expect(findMany).toHaveBeenCalledTimes(6);
  expect(receive.mock.calls).toEqual([[['a']]]);
  leaveAgain();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(findMany).toHaveBeenCalledTimes(6);
});
