import { describe, expect, test } from 'vitest';
import { sharesOf, simulate } from '../benchmarks/support/queueing.mjs';

describe('shares of the processors', () => {
  test.each([
    ['two threads on one processor', [1, 1], 1, [0.5, 0.5]],
    ['fewer threads than processors', [1], 2, [1]],
    ['a thread has one processor at most', [10, 1, 1], 2, [1, 0.5, 0.5]],
    ['by weight', [3, 1], 1, [0.75, 0.25]],
    ['no thread', [], 1, []],
  ])('%s', (_, weights, processors, shares) => {
    expect(
      sharesOf(
        weights.map((weight) => ({ weight })),
        processors,
      ),
    ).toEqual(shares);
  });
});

describe('a closed network', () => {
  const one = { pools: { server: { processors: 1 } }, seconds: 20 };
  const server = { pool: 'server', threads: 1, weight: 1 };
  const each = { pool: 'server', threads: Number.POSITIVE_INFINITY, weight: 1 };
  const network = { pool: 'network', threads: Number.POSITIVE_INFINITY, weight: 1 };

  /** Rates that follow from the laws of queueing: utilisation, and Little's law. */
  test.each([
    ['one station is the bound', 8, one.pools, { server }, [{ station: 'server', milliseconds: 2 }], 500],
    [
      'two stations on one processor share it',
      8,
      one.pools,
      { server, each },
      [
        { station: 'server', milliseconds: 2 },
        { station: 'each', milliseconds: 2 },
      ],
      250,
    ],
    [
      'one client waits for itself only',
      1,
      { server: { processors: 2 }, network: { processors: Number.POSITIVE_INFINITY } },
      { server, network },
      [
        { station: 'server', milliseconds: 2 },
        { station: 'network', milliseconds: 3 },
      ],
      200,
    ],
    [
      'a busy thread takes half',
      8,
      { server: { processors: 1, others: [1] } },
      { server },
      [{ station: 'server', milliseconds: 2 }],
      250,
    ],
    [
      'one thread uses one of two processors',
      8,
      { server: { processors: 2 } },
      { server },
      [{ station: 'server', milliseconds: 2 }],
      500,
    ],
  ])('%s', (_, clients, pools, stations, route, rate) => {
    const found = simulate({ clients, pools, stations, routes: [route], seconds: one.seconds });
    expect(found.rate / rate).toBeCloseTo(1, 1);
    // Little's law.
    expect((found.rate * found.mean) / 1000).toBeCloseTo(clients, 0);
  });

  test('two server processes on two processors answer twice as many', () => {
    const route = (station) => [{ station, milliseconds: 2 }];
    const found = simulate({
      clients: 8,
      pools: { server: { processors: 2 } },
      stations: { first: server, second: server },
      routes: [route('first'), route('second')],
      seconds: 50,
    });
    expect(found.rate / 1000).toBeCloseTo(1, 1);
  });
});
