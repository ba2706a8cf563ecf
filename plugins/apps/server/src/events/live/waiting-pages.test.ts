import { expect, test, vi } from 'vitest';
import { isAppsError } from '../../common/errors';
import { createWaitingPages, type WaitingPages } from './live';

/** Processes that count in one table. */
function processes(number: number) {
  const parts = new Map<string, number>();
  const told = vi.fn();
  const made = Array.from({ length: number }, (_, holder) =>
    createWaitingPages({
      report: () => {},
      async count(address, pages) {
        told(address, holder, pages);
        parts.set(`${address} ${holder}`, pages);
        await new Promise((resolve) => setImmediate(resolve));
        return [...parts].reduce((sum, [name, part]) => sum + (name.startsWith(`${address} `) ? part : 0), 0);
      },
    }),
  );
  return { made, told };
}

/** Opens pages at once; how many are open then, and functions that close them. */
async function opened(pages: WaitingPages, count: number, address = 'a') {
  const tried = await Promise.allSettled(Array.from({ length: count }, () => pages.admit(address)));
  const closes = tried.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const refused = tried.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(refused.every((error) => isAppsError(error, 'RateLimitError'))).toBe(true);
  return closes;
}

test('the pages of most addresses are counted nowhere else', async () => {
  const { made, told } = processes(1);
  const [pages] = made as [WaitingPages];
  for (const address of ['a', 'b', 'c']) expect(await opened(pages, 9, address)).toHaveLength(9);
  expect([pages.size(), told.mock.calls.length]).toEqual([27, 0]);
});

test('an address has 200 in all processes, also when they come at once', async () => {
  const { made } = processes(3);
  const opens = await Promise.all(made.map((pages) => opened(pages, 150)));
  // Where two count at the same moment, each sees the page of the other.
  expect(opens.flat().length).toBeGreaterThan(200 - made.length);
  expect(opens.flat().length).toBeLessThanOrEqual(200);
  expect(await opened(made[0] as WaitingPages, 1, 'b')).toHaveLength(1);
});

test('each further process has up to 9 pages of an address that are not counted', async () => {
  const { made } = processes(2);
  const [one, two] = made as [WaitingPages, WaitingPages];
  expect(await opened(one, 300)).toHaveLength(200);
  expect(await opened(two, 300)).toHaveLength(9);
});

test('closed pages make room, in all processes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'Date'] });
  try {
    const { made, told } = processes(2);
    const [one, two] = made as [WaitingPages, WaitingPages];
    const closes = await opened(one, 200);
    await opened(two, 20);
    for (const close of [...closes, ...closes]) close();
    expect(one.size()).toBe(0);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(told.mock.lastCall).toEqual(['a', 0, 0]);
    expect(await opened(two, 300)).toHaveLength(191);
    const before = told.mock.calls.length;
    await vi.advanceTimersByTimeAsync(35_000);
    expect(told.mock.calls.slice(before).map(([, holder]) => holder)).toContain(1);
    await two.destroy();
    expect(told.mock.lastCall).toEqual(['a', 1, 0]);
  } finally {
    vi.useRealTimers();
  }
});

test('without the table, each process has its own 200', async () => {
  const report = vi.fn();
  const pages = createWaitingPages({ report, count: async () => Promise.reject(new Error('no database')) });
  expect(await opened(pages, 300)).toHaveLength(200);
  expect(report).toHaveBeenCalled();
});
