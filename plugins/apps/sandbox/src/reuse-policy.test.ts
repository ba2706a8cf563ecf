import { describe, expect, test } from 'vitest';
import { ReusePolicy } from './reuse-policy';

const minute = 60_000;

function policy(after: number | null = 3) {
  let now = 0;
  const made = new ReusePolicy(after, () => now);
  const pass = (time: number) => {
    now += time;
  };
  return { policy: made, pass };
}

test('a program gets a reused context after some sessions; without reuse never', () => {
  const { policy: one } = policy();
  expect([0, 2, 3].map((sessions) => one.mayMake('p', sessions))).toEqual([false, false, true]);
  const { policy: none } = policy(null);
  expect([none.mayMake('p', 100), none.mayUse('p')]).toEqual([false, false]);
});

describe('a program has fresh contexts for a while', () => {
  test('after two changed contexts within a minute, not after two in two minutes', () => {
    const { policy: one, pass } = policy();
    one.changed('p');
    pass(minute + 1);
    one.changed('p');
    expect(one.mayUse('p')).toBe(true);
    pass(minute - 1);
    one.changed('p');
    expect([one.mayUse('p'), one.mayMake('p', 9), one.mayUse('other')]).toEqual([false, false, true]);
    pass(minute);
    expect(one.mayUse('p')).toBe(true);
  });

  test('twice as long each time, up to an hour; after a quiet hour a minute again', () => {
    const { policy: one, pass } = policy();
    for (const length of [1, 2, 4, 8, 16, 32, 60, 60]) {
      one.pause('p');
      pass(length * minute - 1);
      expect(one.mayUse('p'), `${length}`).toBe(false);
      pass(1);
      expect(one.mayUse('p'), `${length}`).toBe(true);
    }
    pass(60 * minute);
    one.pause('p');
    pass(minute);
    expect(one.mayUse('p')).toBe(true);
  });
});

test('no number of programs makes a runner make more than ten a second in the long run', () => {
  const { policy: one, pass } = policy();
  let made = 0;
  for (let time = 0; time < 10_000; time += 10) {
    for (const program of ['a', 'b', 'c', 'd']) if (one.mayMake(program, 3)) made += 1;
    pass(10);
  }
  expect(made).toBeGreaterThanOrEqual(190);
  expect(made).toBeLessThanOrEqual(200);
});
