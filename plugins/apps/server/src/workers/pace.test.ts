import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { paced, SLICE } from './pace';

/** Blocks the event loop. */
function busy(time: number): void {
  const end = performance.now() + time;
  while (performance.now() < end);
}

/** Iterations of the event loop until the work is done. */
async function iterations(work: Promise<unknown>): Promise<number> {
  let count = 0;
  let isDone = false;
  void work.then(() => (isDone = true));
  for (; !isDone; count += 1) await setImmediate();
  return count;
}

test('a queue behind a pause is worked off one short piece in each iteration of the event loop', async () => {
  await paced(() => busy(SLICE + 2));
  const order: number[] = [];
  const pieces = Array.from({ length: 50 }, (_, at) => paced(() => order.push(at)));
  await pieces[0];
  expect(await iterations(Promise.all(pieces))).toBeLessThan(100);
  expect(order).toEqual([...Array(50).keys()]);
});

test('a pause follows each longer piece, and the others wait', async () => {
  const times: number[] = [];
  const long = () => {
    times.push(performance.now());
    busy(SLICE + 2);
  };
  await Promise.all([paced(long), paced(long), paced(long)]);
  // The first two begin before the first pause is known.
  await Promise.all([paced(long), paced(long)]);
  const [, , , fourth = 0, fifth = 0] = times;
  expect(fifth - fourth).toBeGreaterThan((SLICE + 2) * 1.4);
});
