import { describe, expect, test } from 'vitest';
import type { Visit } from '../run/types';
import { Group, type Kept, KeptResults } from './exact';

const visitOf = (query: object, more: object = {}): Visit =>
  ({ request: { url: '/x', query, headers: {}, form: {}, ...more }, parentRequest: null }) as unknown as Visit;

const keptOf = (value: string, names: string[] = [], size = 100): Kept<string> => ({
  value,
  reads: [],
  heldAt: null,
  inputs: { names: new Set(names), checked: new Map(), until: null, beginsVisitor: false },
  size,
});

const found = (group: Group<string>, visit: Visit) => [...group.matching(visit)].map(([, { value }]) => value);

describe('a kept result is for visits that agree in what it has looked at', () => {
  test.each<[what: string, names: string[], made: object, asked: object, isSame: boolean]>([
    ['nothing', [], { a: '1' }, { a: '2', utm: 'x' }, true],
    ['another parameter', ['request.query.a'], { a: '1' }, { a: '1', b: '2' }, true],
    ['its value', ['request.query.a'], { a: '1' }, { a: '2' }, false],
    ['a missing one', ['request.query.a'], {}, { a: '' }, false],
    ['a list', ['request.query.a'], { a: ['1', '2'] }, { a: '1,2' }, false],
    ['a name with a dot', ['request.query.a.b'], { 'a.b': '1' }, { 'a.b': '2' }, false],
    ['a name of Object', ['request.query.constructor'], {}, { b: '1' }, true],
    ['all of them', ['request.query'], { a: '1' }, { a: '1', b: '2' }, false],
  ])('%s', (_, names, made, asked, isSame) => {
    const group = new Group<string>();
    group.set(visitOf(made), keptOf('kept', names));
    expect(found(group, visitOf(asked))).toEqual(isSame ? ['kept'] : []);
  });

  test('the ways to look at a request are tried in turn', () => {
    const group = new Group<string>();
    group.set(visitOf({ a: '1' }), keptOf('short', ['request.query.a']));
    group.set(visitOf({ a: '2', b: '3' }), keptOf('long', ['request.query.a', 'request.query.b']));
    expect(found(group, visitOf({ a: '1', b: '9' }))).toEqual(['short']);
    expect(found(group, visitOf({ a: '2', b: '3' }))).toEqual(['long']);
    expect(found(group, visitOf({ a: '2', b: '4' }))).toEqual([]);
  });
});

test('a hundred thousand different parameters, blocks and texts leave a bounded memory', () => {
  const results = new KeptResults<string>();
  const group = results.group('one');
  for (let n = 0; n < 100_000; n += 1)
    results.change(group, () => group.set(visitOf({ a: String(n) }), keptOf('x', ['request.query.a'], 1_000)));
  expect(group.size).toBeLessThanOrEqual(200 * 1_100);
  for (let n = 0; n < 5_000; n += 1) {
    const other = results.group(`other ${n}`);
    results.change(other, () => other.set(visitOf({}), keptOf('x', [], 1_000_000)));
  }
  const left = Array.from({ length: 100 }, (_, n) => results.group(`other ${4_999 - n}`).size);
  expect(left.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(32_000_000);
  expect(left[0]).toBeGreaterThanOrEqual(1_000_000);
});

test('what requests contain counts too', () => {
  const group = new Group<string>();
  const long = 'x'.repeat(100_000);
  for (let n = 0; n < 200; n += 1) group.set(visitOf({ a: `${n} ${long}` }), keptOf('x', ['request.query.a']));
  expect(group.size).toBeGreaterThan(3_000_000);
  expect(group.size).toBeLessThanOrEqual(4_000_000);
  expect(found(group, visitOf({ a: `0 ${long}` }))).toEqual([]);
  expect(group.set(visitOf({}), keptOf('x', [], 4_000_000))).toBe(false);
});
