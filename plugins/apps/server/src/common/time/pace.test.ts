import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { expectWork, paceByRequest, paced, SLICE, shortWork, slices, withoutPauses } from './pace';

const requests = new AsyncLocalStorage<object>();
let inTransaction = false;

afterEach(() => {
  inTransaction = false;
  paceByRequest(
    () => undefined,
    () => false,
  );
});

/** Runs the work of one request. */
function request<T>(work: () => Promise<T>): Promise<T> {
  paceByRequest(
    () => requests.getStore(),
    () => inTransaction,
  );
  return requests.run({}, work);
}

function inTransactionOf<T>(work: () => Promise<T>): Promise<T> {
  inTransaction = true;
  return work();
}

/** Begins work of `count` requests that takes several slices of each; resolves once they wait for each other. */
async function heavyRequests(count: number): Promise<{ ended: Promise<unknown>; order: number[] }> {
  const order: number[] = [];
  const one = (at: number) => async () => {
    for (let piece = 0; piece < 4; piece += 1) await shortWork(() => busy(SLICE + 1));
    order.push(at);
  };
  const ended = Promise.all(Array.from({ length: count }, (_, at) => request(one(at))));
  await setImmediate();
  return { ended, order };
}

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

test('what a request does between its pieces of work counts too, once it has waited', async () => {
  let isNext = false;
  await request(async () => {
    await shortWork(() => busy(SLICE + 1));
    const next = setImmediate().then(() => (isNext = true));
    busy(SLICE + 1);
    await shortWork(() => expect(isNext).toBe(true));
    await next;
  });
});

test('a request with little work does not wait behind those with much', async () => {
  const { ended, order } = await heavyRequests(8);
  const light = async () => {
    for (let piece = 0; piece < 5; piece += 1) await paced(() => busy(0.1));
  };
  await request(light);
  expect(order).toEqual([]);
  await ended;
});

test('of those with much work the one that has used least continues first', async () => {
  const { ended, order } = await heavyRequests(8);
  const less = async () => {
    for (let piece = 0; piece < 2; piece += 1) await shortWork(() => busy(3));
  };
  await request(less);
  expect(order.length).toBeLessThan(2);
  await ended;
});

test.each([
  ['in a transaction', inTransactionOf],
  ['while it holds a connection', withoutPauses],
])('work does not wait %s', async (_, holding) => {
  const { ended, order } = await heavyRequests(8);
  const begun = order.length;
  await request(() =>
    holding(async () => {
      for (let piece = 0; piece < 5; piece += 1) await shortWork(() => busy(3));
    }),
  );
  expect(order.length).toBe(begun);
  inTransaction = false;
  await ended;
});

test('work that cannot be measured waits as long as it is expected to take', async () => {
  const { ended, order } = await heavyRequests(2);
  await request(() => expectWork(10 * SLICE));
  expect(order.length).toBeGreaterThan(0);
  await ended;
});

test.each([
  ['paced', (work: () => void) => paced(work)],
  ['expectWork', (work: () => void) => expectWork(SLICE + 1).then(work)],
] as const)('of requests that begin %s at once one works in each iteration', async (_name, piece) => {
  let iteration = 0;
  const counted = setInterval(() => {
    iteration += 1;
  }, 0);
  const worked: number[] = [];
  const work = () => {
    worked.push(iteration);
    busy(SLICE + 1);
  };
  const begin = pause(20 * SLICE);
  const one = async () => {
    await shortWork(() => busy(2));
    await begin;
    await piece(work);
  };
  await Promise.all(Array.from({ length: 5 }, () => request(one)));
  clearInterval(counted);
  expect(new Set(worked).size).toBe(5);
});
