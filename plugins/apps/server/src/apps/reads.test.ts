import { describe, expect, test } from 'vitest';
import type { IndexDeclarations } from '../indexes/types';
import type { ReadCondition } from '../records/types';
import { conditionOf, LiveReads, topics } from './live-topics';

const key = { site: 's', app: 'a' };
const indexes: IndexDeclarations = new Map([['id', 'field']]);
const search = (query: string, more: Partial<ReadCondition> = {}): ReadCondition => ({
  query,
  indexes,
  isCount: false,
  ...more,
});

function listed(...reads: [id?: string, creator?: string, condition?: ReadCondition][]) {
  const all = new LiveReads();
  for (const [id, creator, condition] of reads) all.observer.onRead?.(key, id, creator, condition);
  return all.list();
}

const any = topics.any(key);
const own = [topics.own(key, 'user:a'), topics.creators(key)];

test.each<[string, Parameters<typeof listed>, string[], string[]]>([
  ['a record', [['r']], [topics.record(key, 'r'), topics.bulk(key)], [any]],
  ['any records', [[]], [any], [any]],
  ['any records and one of them', [['r'], []], [any], [any]],
  ['own records', [[undefined, 'user:a']], own, own],
  ['a search without a condition', [[undefined, undefined, search(' ')]], [any], [any]],
  ['a search of own records', [[undefined, 'user:a', search('', { creator: 'user:a' })]], own, own],
  [
    'a search of those that nobody has made',
    [[undefined, '', search('a', { creator: '' })]],
    [topics.own(key, ''), own[1] as string],
    [topics.own(key, ''), own[1] as string],
  ],
  ['a condition that is too long', [[undefined, undefined, search(`a == '${'x'.repeat(500)}'`)]], [any], [any]],
])('the topics of a read of %s', (_what, reads, live, wider) => {
  expect(listed(...reads)).toEqual({ live, any: wider });
});

describe('a condition', () => {
  const only = (condition: ReadCondition) => {
    const { live, any: wider } = listed([undefined, condition.creator, condition]);
    expect(live).toHaveLength(1);
    return { condition: conditionOf(live[0] as string), wider };
  };

  test('is a topic, with the names that it has', () => {
    const asked = search('article == wanted', { names: { wanted: 'a', other: 'b' }, block: 'comment' });
    const { condition, wider } = only(asked);
    expect(condition).toMatchObject({
      key,
      query: asked.query,
      names: { wanted: 'a' },
      block: 'comment',
      isCount: false,
    });
    expect(wider).toEqual([any]);
  });

  test('of own records is about these', () => {
    const { condition, wider } = only(search('x == 1', { creator: 'user:a' }));
    expect(condition?.creator).toBe('user:a');
    expect(wider).toEqual(own);
  });

  test('of a count needs no query', () => expect(only(search('', { isCount: true })).condition?.isCount).toBe(true));

  test('other topics are none', () => expect(conditionOf(any)).toBeNull());
});

describe('very much', () => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => n);

  test.each([
    ['40 records', listed(...many(39).map((n): [string] => [String(n)])).live.length, 40],
    ['41 records', listed(...many(41).map((n): [string] => [String(n)])).live, [any]],
    ['100,000 records', listed(...many(100_000).map((n): [string] => [String(n)])).live, [any]],
    [
      'ten searches',
      listed(...many(10).map((n): [undefined, undefined, ReadCondition] => [undefined, undefined, search(`n == ${n}`)]))
        .live.length,
      10,
    ],
    [
      '100,000 searches',
      listed(
        ...many(100_000).map((n): [undefined, undefined, ReadCondition] => [undefined, undefined, search(`n == ${n}`)]),
      ).live,
      [any],
    ],
  ])('%s', (_what, found, expected) => expect(found).toEqual(expected));
});
