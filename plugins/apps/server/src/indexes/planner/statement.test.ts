import { describe, expect, test } from 'vitest';
import type { Parsed } from '../../../../shared/query/parse';
import { dialects } from '../../database';
import { checkQuery, parseQuery } from '../query/check';
import { compare, type PlainCondition } from '../query/operators';
import { inRange, type QueryTarget } from '../query/sql';
import { layoutOf, storedLayout, tablesOf } from '../tables';
import type { IndexDeclarations } from '../types';
import { CountCache, estimate, type RunQuery } from './estimate';
import { lower } from './lower';
import { conditionSql, type Order, selection } from './select';

const declared: IndexDeclarations = new Map([
  ['body', 'text'],
  ['author', 'field'],
  ['total', 'field'],
]);
const target: QueryTarget = {
  dialect: dialects.sqlite,
  layout: layoutOf(storedLayout(declared)),
  tables: tablesOf('g'),
  maxSorted: 5_000,
  maxWalk: 2_000,
  guard: '',
};

function plain(query: string, names = {}): PlainCondition {
  return lower(checkQuery(parseQuery(query) as Parsed, declared, names));
}
const count = (text: string, part: string) => text.split(part).length - 1;
const phrases = (length: number, separator: string) =>
  Array.from({ length }, (_, at) => `"a${at} b${at} c${at}"`).join(separator);

describe('one read of a text tests all its phrases', () => {
  const cases: [string, { q: string }, { bodies: number; terms: number }][] = [
    ['one phrase', { q: '"a b c"' }, { bodies: 1, terms: 3 }],
    ['60 phrases', { q: phrases(60, ' ') }, { bodies: 1, terms: 3 }],
    ['any of 60 phrases', { q: phrases(60, ' or ') }, { bodies: 1, terms: 0 }],
    ['none of 60 phrases', { q: `-${phrases(60, ' -')}` }, { bodies: 1, terms: 0 }],
    ['200 words', { q: Array.from({ length: 200 }, (_, at) => `w${at}`).join(' ') }, { bodies: 0, terms: 4 }],
    ['one word 200 times', { q: 'w '.repeat(200) }, { bodies: 0, terms: 1 }],
    ['any of 60 words', { q: Array.from({ length: 60 }, (_, at) => `w${at}`).join(' or ') }, { bodies: 0, terms: 1 }],
  ];
  test.each(cases)('%s', (_name, names, { bodies, terms }) => {
    const { sql } = conditionSql(target, plain('q in body', names), 'probe');
    expect({ bodies: count(sql, '_bodies'), terms: count(sql, '_terms') }).toEqual({ bodies, terms });
  });

  test('an index that must equal two values matches nothing', () => {
    expect(plain('total in all(list)', { list: Array.from({ length: 1_000 }, (_, at) => at) })).toEqual({
      kind: 'constant',
      value: false,
    });
  });
});

test('what was counted for a walk is too little for a sort of the matches', async () => {
  const cache = new CountCache('g', new Map());
  let statements = 0;
  const run: RunQuery = async (make) => {
    statements += 1;
    const cap = Number(/ limit (\d+)\) d/.exec(make('').sql)?.[1]);
    return [{ n0: Math.min(1_000_000, cap), n1: Math.min(3_000, cap) }];
  };
  const matches = async (maxCount?: number) => {
    const options = maxCount === undefined ? { cache } : { cache, maxCount };
    const { path } = await estimate(run, target, plain("author == 'a' and total == 2"), options);
    return { count: path?.count, statements };
  };
  expect(await matches(500)).toEqual({ count: 500, statements: 1 });
  expect(await matches(500)).toEqual({ count: 500, statements: 1 });
  expect(await matches()).toEqual({ count: 3_000, statements: 2 });
  // What was counted for the second one is enough for both.
  expect(await matches(500)).toEqual({ count: 3_000, statements: 2 });
  expect(await matches()).toEqual({ count: 3_000, statements: 2 });
});

describe('the number of rows that a plan reads', () => {
  const order = (index: string): Order => ({ kind: 'field', index, long: false });
  const path = (records: number) => ({ select: { sql: 'select 1', values: [] }, count: records, source: null });
  const cases: [string, boolean, string, Partial<Parameters<typeof selection>[1]>][] = [
    ['few matches', true, 'author == 1 and total == 1', { path: path(100) }],
    ['few matches of many conditions', false, Array(40).fill('total != 1').join(' and '), { path: path(4_000) }],
    ['a phrase in few', false, `'"a b"' in body`, { path: path(10) }],
    ['a range in its order', true, 'total > 1 and total < 5', { order: order('total') }],
    ['the same, backwards', true, '1 < total < 5', { order: order('total'), reverse: true }],
    ['a distant page of it', false, 'total > 1', { order: order('total'), offset: 1_000_000 }],
    ['a range and something else', false, 'total > 1 and author != 2', { order: order('total') }],
    ['a range of long strings', false, `author > '${'x'.repeat(300)}'`, { order: order('author') }],
    ['many matches in another order', false, 'author == 1', { order: order('total'), path: path(5_000) }],
    ['a negation', false, 'not author == 1', {}],
  ];
  test.each(cases)('%s is short: %s', (_name, short, query, wanted) => {
    const defaults = { condition: plain(query), path: null, order: { kind: 'creation' as const }, reverse: false };
    expect(selection(target, { ...defaults, limit: 20, offset: 0, ...wanted }).short).toBe(short);
  });

  test.each([
    ['total < 5', 'k >= ? and k < ?'],
    ['total > 5', 'k > ? and k < ?'],
    ['total >= 5', 'k >= ? and k < ?'],
    ['total == 5', 'k = ?'],
    ['total == null', 'k = ?'],
    [`author < '${'x'.repeat(300)}'`, 'k >= ? and k <= ?'],
  ])('the range of %s', (query, sql) => {
    const range = compare.range?.(plain(query) as PlainCondition & { kind: 'compare' });
    expect(range && inRange('k', range).sql).toBe(sql);
  });
});
