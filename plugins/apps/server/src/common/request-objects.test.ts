import { describe, expect, test } from 'vitest';
import { OwnValue, objectsWith, RequestMap, RequestSet, type SetEntry } from './request-objects';

describe('a value of an object', () => {
  const seen = new OwnValue<object, number>('seen');

  test('is that of the object alone', () => {
    const object = { a: 1 };
    seen.set(object, 7);
    expect(seen.get(object)).toBe(7);
    expect(seen.get({ ...object })).toBeUndefined();
    expect(seen.get(Object.create(object))).toBeUndefined();
    expect(seen.get(structuredClone(object))).toBeUndefined();
  });

  test('is seen by nothing else', () => {
    const object = { a: 1 };
    seen.set(object, 7);
    expect(JSON.stringify(object)).toBe('{"a":1}');
    expect([...Object.keys(object), ...Object.entries(object).flat()]).toEqual(['a', 'a', 1]);
    expect(object).toEqual({ a: 1 });
  });

  test('is made once, and can be replaced and forgotten', () => {
    const object = {};
    const made: number[] = [];
    const make = () => made.push(1);
    expect([seen.getOrMake(object, make), seen.getOrMake(object, make)]).toEqual([1, 1]);
    seen.set(object, 5);
    expect(seen.get(object)).toBe(5);
    seen.set(object, undefined);
    expect(seen.getOrMake(object, make)).toBe(2);
  });

  test('of the same name elsewhere is another one', () => {
    const object = {};
    seen.set(object, 7);
    expect(new OwnValue<object, number>('seen').get(object)).toBeUndefined();
  });
});

describe('objects with getters', () => {
  const make = objectsWith<{ count: number }>(
    {
      b: (state) => state.count,
      a: (state) => {
        state.count += 1;
        return state.count;
      },
      token: () => 'secret',
    },
    ['token'],
  );

  test('list their properties in the order of the getters, without the hidden ones', () => {
    expect(Object.keys(make({ count: 0 }))).toEqual(['b', 'a']);
    expect(JSON.stringify(make({ count: 3 }))).toBe('{"b":3,"a":4}');
    expect(Object.hasOwn(make({ count: 0 }), 'a')).toBe(true);
  });

  test('read them when they are looked at, each from its own state', () => {
    const [one, other] = [make({ count: 0 }), make({ count: 10 })];
    expect([one.a, one.a, other.a, one.b, one.token]).toEqual([1, 2, 11, 2, 'secret']);
  });
});

test('a set of requests is a Set in its order, whatever comes and goes', () => {
  let random = 1;
  const next = (max: number) => {
    random = (random * 48_271) % 2_147_483_647;
    return random % max;
  };
  const set = new RequestSet<number>();
  const oracle = new Set<number>();
  const entries: SetEntry<number>[] = [];
  for (let step = 0; step < 2_000; step += 1) {
    if (entries.length === 0 || next(5) < 3) {
      entries.push(set.add(step));
      oracle.add(step);
    } else {
      const [entry] = entries.splice(next(entries.length), 1) as [SetEntry<number>];
      oracle.delete(entry.value as number);
      set.delete(entry);
      // It may be deleted twice.
      set.delete(entry);
      expect(entry).toEqual({ value: undefined, previous: undefined, next: undefined });
    }
    expect(set.size).toBe(oracle.size);
    if (step % 50 === 0) expect(set.values()).toEqual([...oracle]);
  }
  const wanted = [...oracle][3];
  expect(set.find((value) => value === wanted)).toBe(wanted);
  expect(set.find((value) => value < 0)).toBeUndefined();
});

test('a map of requests holds the value of each number until it is deleted', () => {
  const map = new RequestMap<string>();
  map.set(1, 'a');
  map.set(2, 'b');
  map.set(2, 'c');
  expect([map.size, map.get(2), map.get(3), map.values()]).toEqual([2, 'c', undefined, ['a', 'c']]);
  map.delete(1);
  map.delete(1);
  expect([map.size, map.get(1), map.values()]).toEqual([1, undefined, ['c']]);
  map.clear();
  expect([map.size, map.values()]).toEqual([0, []]);
});
