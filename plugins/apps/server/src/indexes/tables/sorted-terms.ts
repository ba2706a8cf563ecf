import { MAX_SEQ, type Sql } from '../../database';
import { tablesOf } from './layout';

/** The table that sorts a generation's terms by index, term and weight, where no database index does. */
export const sortedTable = (terms: string): string => `${terms}_sorted`;
/** Terms that were deleted since they were sorted; exists only while the sorted table is filled. */
export const goneTable = (terms: string): string => `${terms}_gone`;

/** Terms that one statement sorts: it blocks this process for some tenths of a second, but not writers of others. */
const runSize = 200_000;
/** Terms of the first transaction; later ones take about `stepTime` ms each. */
const firstStep = 2_000;
const stepTime = 25;

const columns = 'ix, term, weight, record';
const definition = `(ix integer not null, term blob not null, weight integer not null, record integer not null, primary key (${columns})) without rowid`;
const of = (row: string) => `${row}.ix, ${row}.term, ${row}.weight, ${row}.record`;

export interface SortTools {
  /** The connection, outside of transactions. */
  sql: Sql;
  /** Runs a transaction, as long as the generation belongs to the builder. */
  transact(work: (sql: Sql) => Promise<void>): Promise<void>;
  /** Pauses after a step that began at `began`; rejects when the build must end. */
  pause(began: number): Promise<unknown>;
}

/**
 * Makes the sorted table of a generation whose table of terms is filled, while others write. SQLite creates an index in one
 * transaction, which blocks all writers; here terms are sorted in temporary tables, which blocks none, and copied step by
 * step. Triggers apply all changes made meanwhile and later.
 */
export async function sortTerms(tools: SortTools, generation: string): Promise<void> {
  const { terms } = tablesOf(generation);
  const [sorted, gone] = [sortedTable(terms), goneTable(terms)];
  await tools.transact(async (sql) => {
    for (const table of [sorted, gone]) await sql.change(`create table ${table} ${definition}`);
    await makeTriggers(sql, terms, {
      added: `delete from ${gone} where (${columns}) = (${of('new')});`,
      removed: `insert or ignore into ${gone} values (${of('old')});`,
    });
  });
  for (let after = -1; after < MAX_SEQ; ) {
    const until = await endOfRun(tools.sql, terms, after);
    await copyRun(tools, generation, after, until);
    after = until;
  }
  await tools.transact(async (sql) => {
    for (const name of ['add', 'remove']) await sql.change(`drop trigger ${terms}_${name}`);
    await makeTriggers(sql, terms, { added: '', removed: '' });
    await sql.change(`drop table ${gone}`);
  });
}

async function makeTriggers(sql: Sql, terms: string, more: { added: string; removed: string }): Promise<void> {
  const sorted = sortedTable(terms);
  await sql.change(
    `create trigger ${terms}_add after insert on ${terms} begin insert or ignore into ${sorted} values (${of('new')}); ${more.added} end`,
  );
  await sql.change(
    `create trigger ${terms}_remove after delete on ${terms} begin delete from ${sorted} where (${columns}) = (${of('old')}); ${more.removed} end`,
  );
}

/** The record up to which one statement sorts terms: about `runSize` of them. */
async function endOfRun(sql: Sql, terms: string, after: number): Promise<number> {
  const text = `select record from ${terms} where record > ? order by record limit 1 offset ?`;
  const [row] = await sql.rows(text, [after, runSize]);
  return row ? Number(row.record) : MAX_SEQ;
}

/** Copies the terms of the records after `after` up to `until`, without deleted ones. */
async function copyRun({ sql, transact, pause }: SortTools, generation: string, after: number, until: number) {
  const { terms } = tablesOf(generation);
  const run = `temp.apps_sorting_${generation}`;
  const found = `select ${columns} from ${terms} where record > ${after} and record <= ${until} order by ${columns}`;
  await sql.change(`create temp table apps_sorting_${generation} as ${found}`);
  try {
    const [row] = await sql.rows(`select max(rowid) as last from ${run}`);
    const last = Number(row?.last ?? 0);
    const copy = `insert or ignore into ${sortedTable(terms)} select ${of('s')} from ${run} s where s.rowid > ? and s.rowid <= ? and not exists (select 1 from ${goneTable(terms)} g where (${of('g')}) = (${of('s')}))`;
    let size = firstStep;
    for (let from = 0; from < last; ) {
      const began = performance.now();
      const to = from + size;
      await transact(async (trx) => {
        await trx.change(copy, [from, to]);
      });
      const pace = stepTime / Math.max(1, performance.now() - began);
      from = to;
      size = Math.max(100, Math.round(size * Math.min(1.5, pace)));
      await pause(began);
    }
  } finally {
    await sql.change(`drop table if exists ${run}`);
  }
}
