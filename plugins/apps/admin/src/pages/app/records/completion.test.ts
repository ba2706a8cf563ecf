import { describe, expect, test } from 'vitest';
import type { ColumnSummary, IndexSummary } from '../../../../../shared/admin-api';
import { addressed, completionOf, type Known, queryOfAddress, withSuggestion } from './query';

const index = (name: string, type: IndexSummary['type']): IndexSummary => ({ name, type, state: 'ready' });
const column = (name: string, type: string, values: (string | number)[] = []): ColumnSummary => ({
  name,
  label: name,
  type,
  index: null,
  options: values.map((value) => ({ value, label: String(value) })),
});

const known: Known = {
  indexes: [
    index('id', 'field'),
    index('state', 'field'),
    index('stars', 'field'),
    index('vip', 'field'),
    index('body', 'text'),
    index('tags', 'keyword'),
  ],
  columns: [
    {
      ...column('state', 'SELECT'),
      label: 'Status',
      options: ['open', "can't"].map((value) => ({ value, label: value })),
    },
    column('stars', 'RADIO', [1, 2]),
    column('vip', 'BOOLEAN'),
    { ...column('tags', 'CHECKBOXES', ['red', 'green']), index: 'keyword' },
  ],
};

const fields = ['id', 'state', 'stars', 'vip'];
const all = [...fields, 'body', 'tags'];
const lists = ['in any', 'in all', 'not in any', 'not in all'];

/** A query with its cursor as `|`, and the labels that are offered there. */
const table: [query: string, offered: string[]][] = [
  ['|', [...all, 'not']],
  ['  |', [...all, 'not']],
  ['sta|', ['state', 'stars']],
  ['STA|', ['state', 'stars']],
  ['ags|', ['tags']],
  ['status|', ['state']],
  ['berry|', []],
  ['gre|', ["'green' in tags"]],
  ["'gre|", ["'green' in tags"]],
  ['not |', [...all, 'not']],
  ['(|', [...all, 'not']],
  ['state |', ['==', '!=', '<', '<=', '>', '>=', ...lists]],
  ['body |', ['==', '!=', ...lists]],
  ['tags |', lists],
  ['state <|', ['<=']],
  ['state =|', ['==', '!=', '<=', '>=']],
  ['state==|', []],
  ['state == |', ["'open'", "'can\\'t'", 'null']],
  ['state == op|', ["'open'"]],
  ["state == 'c|", ["'can\\'t'"]],
  ["state == 'can\\'|", ["'can\\'t'"]],
  ['stars > |', ['1', '2', 'null']],
  ['vip == t|', ['true']],
  ['id == |', ['null']],
  ['body == |', []],
  ["state == 'open' |", ['and', 'or']],
  ["state == 'open'|", ['and', 'or']],
  ["(state == 'open' |", ['and', 'or', ')']],
  ["(state == 'open') |", ['and', 'or']],
  ['stars == 1 and |', [...all, 'not']],
  ['stars == 1 | s|', ['state', 'stars', 'tags']],
  ["'red' |", ['in', 'not in', '<', '<=']],
  ["'red' not |", ['in']],
  ["'red' in |", ['body', 'tags']],
  ["'red' in tags |", ['and', 'or']],
  ['1 < |', fields],
  ['1 < stars |', ['<', '<=', 'and', 'or']],
  ['1 < stars <= |', ['1', '2', 'null']],
  ['1 == stars |', ['and', 'or']],
  ['tags in |', ['any', 'all']],
  ['tags not |', ['in any', 'in all']],
  ['tags in any (|', ["'red'", "'green'"]],
  ["tags in any ('red', |", ["'red'", "'green'"]],
  ["tags in any ('red' |", []],
  ['tags in any (state, |', ["'red'", "'green'"]],
  ["tags in any (['red']) |", ['and', 'or']],
  ['st| and vip == true', ['state', 'stars']],
];

/** The first suggestion at the cursor is chosen. */
const chosen: [query: string, becomes: string][] = [
  ['sta|', 'state |'],
  ['st|ars and vip', 'state |and vip'],
  ['(|', '(id |'],
  ['state |', 'state == |'],
  ['state <|5', 'state <= |5'],
  ["state == 'o|", "state == 'open' |"],
  ["state == 'o|pen' and vip", "state == 'open' |and vip"],
  ["state == 'open'|", "state == 'open' and |"],
  ['tags |', 'tags in any (|'],
  ['tags in any (|)', "tags in any ('red' |)"],
  ['gre|', "'green' in tags |"],
];

const at = (marked: string) => {
  // A query may hold `|` too: the last one is the cursor.
  const cursor = marked.lastIndexOf('|');
  return { query: marked.slice(0, cursor) + marked.slice(cursor + 1), cursor };
};

describe('completion of a query', () => {
  test.each(table)('%s', (marked, offered) => {
    const { query, cursor } = at(marked);
    expect(completionOf(known, query, cursor).suggestions.map(({ label }) => label)).toEqual(offered);
  });

  test.each(chosen)('%s becomes %s', (marked, becomes) => {
    const { query, cursor } = at(marked);
    const completion = completionOf(known, query, cursor);
    const [first] = completion.suggestions;
    expect(first && withSuggestion(query, completion, first)).toEqual(at(becomes));
  });

  test('an index comes with its label, its type and its state', () => {
    const [first] = completionOf(known, 'state', 4).suggestions;
    expect(first).toEqual({ label: 'state', detail: 'Status', index: index('state', 'field') });
  });
});

describe('a query in the address of the page', () => {
  /** What Strapi reads of a parameter that it has written. */
  const rewritten = (value: string) => new URLSearchParams(`q=${value}`).get('q') ?? '';

  test.each(["state == 'lent' & day < '2020-01-01'", "title == '50% + #1 ~7E é 🐳'", '~', '%41 ~41', ''])(
    '%s survives being read and written again',
    (query) => {
      expect(queryOfAddress(rewritten(rewritten(addressed(query))))).toBe(query);
    },
  );

  test.each(["state == 'lent'", 'a ~ b', '100 %', 'a & b', '~FF', '~zz'])('%s may be written by a person', (query) => {
    expect(queryOfAddress(query)).toBe(query);
  });
});
