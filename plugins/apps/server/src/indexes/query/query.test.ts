import { describe, expect, test } from 'vitest';
import { AppsError } from '../../common/errors';
import { processorTime } from '../../common/testing/processor-time';
import type { IndexDeclarations } from '../types';
import { checkQuery, parseQuery } from './check';

const declared: IndexDeclarations = new Map([
  ['total', 'field'],
  ['author', 'field'],
  ['a-b.c', 'field'],
  ['any', 'field'],
  ['tags', 'keyword'],
  ['body', 'text'],
]);
const names = {
  low: 1,
  list: ['x', 'y'],
  one: 'z',
  bad: {},
  nested: [[1]],
  long: Array.from({ length: 1001 }, (_, at) => at),
  megabyte: 'a'.repeat(1_000_000),
  __proto__: null,
};

function check(query: string) {
  const tree = parseQuery(query);
  return tree && checkQuery(tree, declared, names);
}

const compare = (index: string, comparator: string, value: unknown) => ({ kind: 'compare', index, comparator, value });

describe('valid queries', () => {
  test.each<[string, unknown]>([
    ['', null],
    ['  \n', null],
    ['total == 1', compare('total', '==', 1)],
    ['total!=-1.5e3', compare('total', '!=', -1500)],
    ['total<-5', compare('total', '<', -5)],
    ['total == .5', compare('total', '==', 0.5)],
    ['total == 1e+2', compare('total', '==', 100)],
    ['1 < total', compare('total', '>', 1)],
    ['low <= total', compare('total', '>=', 1)],
    ["'x' == author", compare('author', '==', 'x')],
    ['a-b.c == True', compare('a-b.c', '==', true)],
    ['any == None', compare('any', '==', null)],
    ['any in any([1])', { kind: 'oneOf', index: 'any', values: [1] }],
    ["id == 'it\\'s \\n \\u00e9\\x41 \\d'", compare('id', '==', "it's \n éA \\d")],
    ['author == "say \'hi\'"', compare('author', '==', "say 'hi'")],
    ['1 < total <= low', { kind: 'and', children: [compare('total', '>', 1), compare('total', '<=', 1)] }],
    ["'x' in tags", { kind: 'keywords', index: 'tags', mode: 'any', values: ['x'] }],
    ["'x' not in tags", { kind: 'not', child: { kind: 'keywords', index: 'tags', mode: 'any', values: ['x'] } }],
    ['tags in all(list)', { kind: 'keywords', index: 'tags', mode: 'all', values: ['x', 'y'] }],
    ['tags in any(one)', { kind: 'keywords', index: 'tags', mode: 'any', values: ['z'] }],
    [
      'tags not in any((one, "b",))',
      { kind: 'not', child: { kind: 'keywords', index: 'tags', mode: 'any', values: ['z', 'b'] } },
    ],
    ['tags in any()', { kind: 'constant', value: false }],
    ['tags in all([])', { kind: 'constant', value: true }],
    ['total in all(1, 2)', { kind: 'and', children: [compare('total', '==', 1), compare('total', '==', 2)] }],
    [
      '\'a "b c" -d e*\' in body',
      {
        kind: 'text',
        index: 'body',
        query: [
          [
            { words: ['a'], prefix: false, negated: false },
            { words: ['b', 'c'], prefix: false, negated: false },
            { words: ['d'], prefix: false, negated: true },
            { words: ['e'], prefix: true, negated: false },
          ],
        ],
      },
    ],
    [
      "'Ä or !! OR b-c' in body",
      {
        kind: 'text',
        index: 'body',
        query: [
          [{ words: ['a'], prefix: false, negated: false }],
          [{ words: ['b', 'c'], prefix: false, negated: false }],
        ],
      },
    ],
    ["'' in body", { kind: 'text', index: 'body', query: [] }],
    ["body == 'a'", { kind: 'text', index: 'body', query: [[{ words: ['a'], prefix: false, negated: false }]] }],
    ["'' != body", { kind: 'not', child: { kind: 'text', index: 'body', query: [] } }],
    [
      'not total == 1 and total == 2 or total == 3',
      {
        kind: 'or',
        children: [
          { kind: 'and', children: [{ kind: 'not', child: compare('total', '==', 1) }, compare('total', '==', 2)] },
          compare('total', '==', 3),
        ],
      },
    ],
    [
      'total == 1 & (total == 2 | total == 3)',
      {
        kind: 'and',
        children: [
          compare('total', '==', 1),
          { kind: 'or', children: [compare('total', '==', 2), compare('total', '==', 3)] },
        ],
      },
    ],
    [`${'('.repeat(50)}total == 1${')'.repeat(50)}`, compare('total', '==', 1)],
    [
      `total in any(${Array.from({ length: 1000 }, () => 1).join()})`,
      { kind: 'oneOf', index: 'total', values: Array.from({ length: 1000 }, () => 1) },
    ],
  ])('%s', (query, expected) => {
    expect(check(query)).toEqual(expected);
  });
});

describe('queries that are refused, with position and reason', () => {
  test.each<[string, number, RegExp]>([
    ['total', 6, /the query ends, expected a comparison/],
    ['total ==', 9, /the query ends, expected an index, a name or a value/],
    ['total = 1', 7, /use == to compare/],
    ["author == 'x", 11, /no closing quote/],
    ['author == #', 11, /unexpected "#"/],
    ['total == 1 total == 2', 12, /found "total", expected "and", "or" or the end/],
    ['(total == 1', 12, /the query ends, expected "\)"/],
    ['total == 1)', 11, /found "\)"/],
    ['and total == 1', 1, /found "and"/],
    ['total == and', 10, /found "and"/],
    ['total not 5', 11, /expected "in"/],
    ['total == 1e999', 10, /too large/],
    ['total == -x', 10, /neither a name nor a number/],
    ['other == 1', 1, /no index named "other"/],
    ['1 < other', 5, /no index named "other"/],
    ["'x' in __proto__", 8, /no index named "__proto__"/],
    ['1 == 2', 6, /expected the name of an index/],
    ['total == unknown', 10, /no value is given for the name "unknown"/],
    ['total == toString', 10, /no value is given/],
    ['total == bad', 10, /a string, a number, a boolean or null/],
    ['total in any(nested)', 14, /a string, a number, a boolean or null/],
    ['total in any(long)', 1, /more than 1000 list values/],
    ['author in any(list) or total in any(long)', 24, /more than 1000 list values/],
    ['1 < total > 3', 11, /takes < and <= only, not >/],
    ['1 > total < 3', 11, /takes < and <= only, not >/],
    ['1 < total < 3 < 4', 15, /two comparisons/],
    ["tags == 'x'", 1, /keyword index: use "value in tags"/],
    ["body < 'x'", 1, /text index: use "value in body"/],
    ["'x' in author", 8, /field index: use ==/],
    ['true in body', 1, /words are strings/],
    [`${'('.repeat(51)}total == 1${')'.repeat(51)}`, 52, /nested deeper than 50/],
    [`${'not '.repeat(51)}total == 1`, 205, /nested deeper than 50/],
    [`total == 1${' '.repeat(10_240)}`, 1, /longer than 10240 bytes/],
    [`'${'a '.repeat(301)}' in body`, 1, /more than 300 words/],
    [`'${'a '.repeat(150)}' in body or '${'a '.repeat(151)}' in body`, 315, /more than 300 words/],
    [`'${'a-b '.repeat(101)}' in body`, 1, /more than 100 phrases/],
    [`'${'a* '.repeat(21)}' in body`, 1, /more than 20 prefixes/],
    [`'${'a or '.repeat(101)}a' in body`, 1, /more than 100 alternatives/],
    [`'${'-a '.repeat(101)}' in body`, 1, /more than 100 excluded/],
    [`${"'a' in body|".repeat(250)}'a' in body`, 3001, /more than 250 conditions/],
    [`${'total==1|'.repeat(250)}total==1`, 2251, /more than 250 conditions/],
    [`${'0<total<9|'.repeat(125)}total==1`, 1251, /more than 250 conditions/],
    [`${"'a' in tags|".repeat(250)}'a' in tags`, 3008, /more than 250 conditions/],
    ['megabyte in body', 1, /more than 10000 characters of search texts/],
  ])('%s', (query, position, reason) => {
    let error: unknown;
    try {
      check(query);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(AppsError);
    expect(error).toMatchObject({ name: 'BadRequestError', details: { position } });
    expect((error as AppsError).message).toMatch(reason);
    expect((error as AppsError).message).toContain(`position ${position}`);
  });

  test('an unknown index is named in the details', () => {
    expect(() => check('other == 1')).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ index: 'other' }) }),
    );
  });

  test.each([
    `'${'a '.repeat(300)}' in body`,
    `'${'a-b '.repeat(100)}' in body`,
    `'${'a or '.repeat(100)}a' in body`,
    `'${'-a '.repeat(100)}' in body`,
    `${'total==1|'.repeat(249)}total==1`,
  ])('as much as is taken: %s', (query) => {
    expect(check(query)).not.toBeNull();
  });

  test('hostile text is refused or parsed in little time', async () => {
    const queries = [
      "'".repeat(10_000),
      '\\'.repeat(10_000),
      '1e'.repeat(5_000),
      '-'.repeat(10_000),
      `"${'\\"'.repeat(5_000)}`,
      '['.repeat(10_000),
      '.'.repeat(10_000),
      `${'a.'.repeat(5_000)}+`,
      `${'1'.repeat(10_000)}x`,
    ];
    const checkAll = () => {
      for (const query of queries) expect(() => check(query)).toThrow(AppsError);
    };
    expect(await processorTime(checkAll)).toBeLessThan(500);
  });
});
