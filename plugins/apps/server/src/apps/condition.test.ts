import { expect, test } from 'vitest';
import type { IndexDeclarations } from '../indexes/types';
import type { ReadCondition } from '../records/types';
import { type ChangedRecord, conditionOf, matchTopic, testOf } from './live-topics';

const key = { site: 's', app: 'a' };
const indexes: IndexDeclarations = new Map([
  ['id', 'field'],
  ['article', 'field'],
  ['text', 'text'],
]);
const others: IndexDeclarations = new Map([...indexes, ['more', 'field']]);

const state = (items: object, creator: string | null = null, cut?: string[]) =>
  ({ id: 'r', creator, items, ...(cut && { cut }) }) as ChangedRecord['after'];
const waiting = state({ article: 'one', _state: 'unconfirmed', _held: true });
const [one, two] = [state({ article: 'one' }), state({ article: 'two' })];

interface Row {
  title: string;
  asked?: Partial<ReadCondition>;
  change: ChangedRecord;
  declared?: IndexDeclarations | null;
  wakes: boolean;
}

test.each<Row>([
  { title: 'a new match', change: { before: null, after: one }, wakes: true },
  { title: 'a new record that does not match', change: { before: null, after: two }, wakes: false },
  { title: 'a match that is changed', change: { before: one, after: one }, wakes: true },
  { title: 'one that no longer matches', change: { before: one, after: two }, wakes: true },
  { title: 'one that matches now', change: { before: two, after: one }, wakes: true },
  { title: 'a match that is deleted', change: { before: one, after: null }, wakes: true },
  {
    title: 'a count with a match that is changed',
    asked: { isCount: true },
    change: { before: one, after: one },
    wakes: false,
  },
  { title: 'a count with one match more', asked: { isCount: true }, change: { before: two, after: one }, wakes: true },
  {
    title: 'a match of another creator',
    asked: { creator: 'u' },
    change: { before: null, after: state({ article: 'one' }, 'v') },
    wakes: false,
  },
  {
    title: 'a match of the creator',
    asked: { creator: 'u' },
    change: { before: null, after: state({ article: 'one' }, 'u') },
    wakes: true,
  },
  {
    title: 'a match of another block',
    asked: { block: 'b' },
    change: { before: null, after: state({ article: 'one', block: 'c' }) },
    wakes: false,
  },
  {
    title: 'a match of the block',
    asked: { block: 'b' },
    change: { before: null, after: state({ article: 'one', block: 'b' }) },
    wakes: true,
  },
  {
    title: 'a value by its name',
    asked: { query: 'article == given', names: { given: 'two' } },
    change: { before: null, after: two },
    wakes: true,
  },
  {
    title: 'an item that is not known and is looked at',
    change: { before: null, after: state({}, null, ['article']) },
    wakes: true,
  },
  {
    title: 'an item that is not known and is not looked at',
    change: { before: null, after: state({ article: 'two' }, null, ['text']) },
    wakes: false,
  },
  {
    title: 'a word that only contains such a name',
    asked: { query: "article == 'one' and id != 'text1'" },
    change: { before: null, after: state({ article: 'two' }, null, ['text']) },
    wakes: false,
  },
  {
    title: 'a record that is not confirmed, for those who do not see it',
    asked: { confirmed: true },
    change: { before: null, after: waiting },
    wakes: false,
  },
  { title: 'the same, for an editor', change: { before: null, after: waiting }, wakes: true },
  {
    title: 'a count, when a record is confirmed',
    asked: { confirmed: true, isCount: true },
    change: { before: waiting, after: one },
    wakes: true,
  },
  {
    title: 'the count of an editor, when a record is confirmed',
    asked: { isCount: true },
    change: { before: waiting, after: one },
    wakes: false,
  },
  { title: 'an app with other indexes', declared: others, change: { before: null, after: two }, wakes: true },
  { title: 'an app that is gone', declared: null, change: { before: null, after: two }, wakes: true },
  {
    title: 'the same, for the records of another creator',
    declared: null,
    asked: { creator: 'u' },
    change: { before: null, after: two },
    wakes: false,
  },
  {
    title: 'a condition that is wrong',
    asked: { query: 'none == 1' },
    change: { before: null, after: two },
    wakes: true,
  },
  { title: 'items for other indexes', change: { before: null, after: two, indexes: 'other' }, wakes: true },
])('$title', ({ asked, change, declared = indexes, wakes }) => {
  const topic = matchTopic(key, { query: "article == 'one'", indexes, isCount: false, ...asked });
  const condition = conditionOf(topic);
  if (!condition) throw new Error('no condition');
  expect(testOf(condition, declared)(change)).toBe(wakes);
});
