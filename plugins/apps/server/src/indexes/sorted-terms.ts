import type { Sql } from './database';
import { tablesOf } from './layout';

/** The table of a generation's terms by index, term and weight, where that is not an index of the database. */
export const sortedTable = (terms: string): string => `${terms}_sorted`;
/** Terms that were deleted since they were put in order; only while the sorted table is filled. */
export const goneTable = (terms: string): string => `${terms}_gone`;

/** Terms that one statement sorts: for some tenths of a second other processes can write, but this one is blocked. */
const runSize = 200_000;
/** Terms of the first transaction; then as many as take `stepTime` ms. */
const firstStep = 2_000;
const stepTime = 25;
/** Ids of Strapi's tables are 32-bit integers. */
const maxSeq = 2 ** 31 - 1;

const columns = 'ix, term, weight, record';
const definition = `(ix integer not null, term blob not null, weight integer not null, record integer not null, primary key (${columns})) without rowid`;
const of = (row: string) => `${row}.ix, ${row}.term, ${row}.weight, ${row}.record`;

export interface SortTools {
  /** The connection, outside of transactions. */
  sql: Sql;
  /** A transaction, while the generation is still the builder's. */
  transact(work: (sql: Sql) => Promise<void>): Promise<void>;
  /** Between two steps, of which the last one began at `began`; rejects when the building is to end. */
  rest(began: number): Promise<unknown>;
}

/**
 * Makes the sorted table of a generation whose table of terms is filled, while others write. SQLite makes an index in one
 * transaction, which blocks all writers; here terms are sorted in temporary tables, which blocks none, and copied step by step.
 * Triggers apply all changes made meanwhile and later.
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
  for (let after = -1; after < maxSeq; ) {
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

/** The record up to which there are about so many terms as are put in order at once. */
async function endOfRun(sql: Sql, terms: string, after: number): Promise<number> {
  const text = `select record from ${terms} where record > ? order by record limit 1 offset ?`;
  const [row] = await sql.rows(text, [after, runSize]);
  return row ? Number(row.record) : maxSeq;
}

/** Copies the terms of the records behind `after` up to `until`, but for those that are gone. */
async function copyRun({ sql, transact, rest }: SortTools, generation: string, after: number, until: number) {
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
      await rest(began);
    }
  } finally {
    await sql.change(`drop table if exists ${run}`);
  }
}
