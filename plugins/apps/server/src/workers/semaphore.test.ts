import { expect, test } from 'vitest';
import { createSemaphore } from '.';

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

const share = (all: number) => Math.max(1, all - Math.floor(all / 4));
const shared = (permits: number) => createSemaphore({ permits, queue: permits * 32, share });

/** Acquires `count` permits; `held` has the granted ones, `refused` the statuses of the others. */
function crowd(semaphore: ReturnType<typeof createSemaphore>, user: string, count: number, timeout = 1000) {
  const held: (() => void)[] = [];
  const refused: number[] = [];
  for (let one = 0; one < count; one += 1)
    semaphore.acquire(user, timeout).then(
      (release) => held.push(release),
      ({ status }) => refused.push(status),
    );
  return { held, refused };
}

test.each([
  { max: 8, gets: 6 },
  { max: 4, gets: 3 },
  { max: 2, gets: 2 },
  { max: 1, gets: 1 },
])('a user gets $gets of $max permits, and others get the rest', async ({ max, gets }) => {
  const semaphore = shared(max);
  const greedy = crowd(semaphore, 'greedy', 20);
  const other = crowd(semaphore, 'other', 20);
  await soon();
  expect([greedy.held.length, other.held.length]).toEqual([gets, max - gets]);
});

test('a released permit goes to the first one who waits and has not reached their share', async () => {
  const semaphore = shared(4);
  const first = crowd(semaphore, 'first', 5);
  const second = crowd(semaphore, 'second', 2);
  await soon();
  expect([first.held.length, second.held.length]).toEqual([3, 1]);
  second.held[0]?.();
  second.held[0]?.();
  await soon();
  expect([first.held.length, second.held.length]).toEqual([3, 2]);
  first.held[0]?.();
  await soon();
  expect([first.held.length, second.held.length]).toEqual([4, 2]);
});

test('a user does not get the whole queue; who waits too long is refused', async () => {
  const semaphore = shared(2);
  const greedy = crowd(semaphore, 'greedy', 100, 500);
  const other = crowd(semaphore, 'other', 10, 500);
  await soon();
  expect([greedy.held.length, greedy.refused.length]).toEqual([2, 50]);
  expect(other.refused).toEqual([]);
  await expect.poll(() => [greedy.refused.length, other.refused.length]).toEqual([98, 10]);
  expect(new Set([...greedy.refused, ...other.refused])).toEqual(new Set([503]));
});
