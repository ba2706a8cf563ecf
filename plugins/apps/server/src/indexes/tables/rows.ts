import { chunks } from '../../common/lists';
import { marks, type Sql } from '../database/database';
import type { Dialect } from '../dialects';
import { type Entries, entriesOf, type IndexedRecord } from './entries';
import { fieldIndexes, type Layout, layoutOf, tablesOf } from './layout';
import type { Generation } from './state';

/** A record before and after a change; `before` is null for a new record, `after` for a deleted one. */
export interface RecordWrite {
  before: IndexedRecord | null;
  after: IndexedRecord | null;
}

/** Applies the writes to the rows of one generation. Unchanged rows are not written. */
export async function writeRows(sql: Sql, generation: Generation, writes: readonly RecordWrite[]): Promise<void> {
  const layout = layoutOf(generation.indexes);
  const removed: number[] = [];
  const added: IndexedRecord[] = [];
  for (const { before, after } of writes) {
    if (before && after && before.seq === after.seq) await updateRows(sql, generation.id, layout, before, after);
    else {
      if (before) removed.push(before.seq);
      if (after) added.push(after);
    }
  }
  await deleteRows(sql, generation.id, removed);
  await insertRows(sql, generation.id, layout, added);
}

/** Deletes all rows of the records. */
async function deleteRows(sql: Sql, generation: string, seqs: readonly number[]): Promise<void> {
  for (const chunk of chunks(seqs, 500)) {
    for (const table of Object.values(tablesOf(generation))) {
      await sql.change(`delete from ${table} where record in (${marks(chunk)})`, chunk);
    }
  }
}

/** Records after `after` up to `until`; `visible`: without those of pending batches. */
export interface RowRange {
  after: number;
  until: number;
  visible: boolean;
}

/** Deletes all rows of the records in the range. */
export async function deleteRange(sql: Sql, generation: string, { after, until, visible }: RowRange): Promise<void> {
  const kept = visible ? sql.visible('record') : '';
  for (const table of Object.values(tablesOf(generation))) {
    await sql.change(`delete from ${table} where ${kept}record > ? and record <= ?`, [after, until]);
  }
}

/**
 * Inserts all rows of records, and skips existing ones: they were inserted with the record, and are equal, because they
 * depend only on it.
 */
export function addRows(
  sql: Sql,
  dialect: Dialect,
  generation: string,
  layout: Layout,
  records: readonly IndexedRecord[],
): Promise<void> {
  const { verb, ending } = dialect.insertIgnore;
  const ignoring: Sql = { ...sql, insert: (table, columns, rows) => sql.insert(table, columns, rows, ending, verb) };
  return insertRows(ignoring, generation, layout, records);
}

/** Inserts all rows of records that have none. */
async function insertRows(
  sql: Sql,
  generation: string,
  layout: Layout,
  records: readonly IndexedRecord[],
): Promise<void> {
  const all = records.map((record) => ({ seq: record.seq, entries: entriesOf(layout, record) }));
  const tables = tablesOf(generation);
  const columns = ['record', ...fieldIndexes(layout).map((index) => `k${index.number}`)];
  await sql.insert(
    tables.fields,
    columns,
    all.map(({ seq, entries }) => [seq, ...entries.keys]),
  );
  await insertTerms(sql, generation, all);
  await insertBodies(sql, generation, all);
}

type SeqEntries = { seq: number; entries: Pick<Entries, 'terms' | 'bodies'> };

function insertTerms(sql: Sql, generation: string, all: readonly SeqEntries[]): Promise<unknown> {
  const rows = all.flatMap(({ seq, entries }) =>
    entries.terms.map(({ index, term, rank }) => [seq, index, term, rank]),
  );
  return sql.insert(tablesOf(generation).terms, ['record', 'ix', 'term', 'weight'], rows);
}

function insertBodies(sql: Sql, generation: string, all: readonly SeqEntries[]): Promise<unknown> {
  const rows = all.flatMap(({ seq, entries }) => entries.bodies.map(({ index, body }) => [seq, index, body]));
  return sql.insert(tablesOf(generation).bodies, ['record', 'ix', 'body'], rows);
}

async function updateRows(
  sql: Sql,
  generation: string,
  layout: Layout,
  before: IndexedRecord,
  after: IndexedRecord,
): Promise<void> {
  const tables = tablesOf(generation);
  const seq = after.seq;
  const old = entriesOf(layout, before);
  const now = entriesOf(layout, after);
  const columns = fieldIndexes(layout);
  const changed = old.keys.flatMap((key, at) => (now.keys[at]?.equals(key) ? [] : at));
  if (changed.length) {
    const assignments = changed.map((at) => `k${columns[at]?.number} = ?`).join(', ');
    await sql.change(`update ${tables.fields} set ${assignments} where record = ?`, [
      ...changed.map((at) => now.keys[at]),
      seq,
    ]);
  }
  const terms = difference(old.terms, now.terms, (term) => `${term.rank} ${term.term.toString('latin1')}`);
  await deleteParts(sql, tables.terms, seq, terms.indexes);
  await insertTerms(sql, generation, [{ seq, entries: { terms: terms.entries, bodies: [] } }]);
  const bodies = difference(old.bodies, now.bodies, (body) => body.body.toString('latin1'));
  await deleteParts(sql, tables.bodies, seq, bodies.indexes);
  await insertBodies(sql, generation, [{ seq, entries: { terms: [], bodies: bodies.entries } }]);
}

/** Numbers of the indexes whose entries differ, and their new entries. */
function difference<T extends { index: number }>(
  old: T[],
  now: T[],
  text: (entry: T) => string,
): { indexes: number[]; entries: T[] } {
  const summary = (entries: T[], index: number) =>
    entries
      .filter((entry) => entry.index === index)
      .map(text)
      .sort()
      .join('\n');
  const numbers = [...new Set([...old, ...now].map((entry) => entry.index))];
  const indexes = numbers.filter((index) => summary(old, index) !== summary(now, index));
  return { indexes, entries: now.filter((entry) => indexes.includes(entry.index)) };
}

async function deleteParts(sql: Sql, table: string, seq: number, indexes: number[]): Promise<void> {
  if (indexes.length)
    await sql.change(`delete from ${table} where record = ? and ix in (${marks(indexes)})`, [seq, ...indexes]);
}
