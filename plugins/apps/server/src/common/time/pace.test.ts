import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { paced, SLICE, shortWork, slices } from './pace';

/** Blocks the event loop. */
function busy<T>(time: number, result?: T): T | undefined {
  const end = performance.now() + time;
  while (performance.now() < end);
  return result;
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

test('work with a list gives its results in order, and lets the event loop run between slices', async () => {
  const list = Array.from({ length: 8 }, (_, at) => at);
  const found: unknown[][] = [];
  const work = (async () => {
    for await (const part of slices(list, (at) => busy(SLICE / 2, at * 2))) found.push(part);
  })();
  expect(await iterations(work)).toBeGreaterThan(2);
  expect(found.flat()).toEqual(list.map((at) => at * 2));
  expect(found.length).toBeGreaterThan(2);
  expect(found.length).toBeLessThan(8);
});

test('a loop of short pieces of work pauses once they have taken a slice', async () => {
  const loop = async () => {
    for (let at = 0; at < 16; at += 1) expect(await shortWork(() => busy(SLICE / 4, at))).toBe(at);
  };
  expect(await iterations(Promise.all([loop(), loop()]))).toBeGreaterThan(2);
});
