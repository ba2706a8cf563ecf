import { type Dialect, type Sql, yieldToOthers } from '../../database';
import { fieldIndexes, type Layout, tablesOf } from './layout';
import { goneTable, sortedTable } from './sorted-terms';

/** InnoDB accepts 64 indexes per table; columns without one are correct, only slower. */
const MAX_INDEXED_COLUMNS = 60;

/** Creates the empty tables of a generation. */
export async function createTables(sql: Sql, dialect: Dialect, generation: string, layout: Layout): Promise<void> {
  const { fields, terms, bodies } = tablesOf(generation);
  const { key, long } = dialect.types;
  const definitions = columnsOf(layout)
    .map((column) => `, ${column} ${key} not null`)
    .join('');
  await sql.change(`create table ${fields} (record integer not null primary key${definitions})${dialect.tableEnding}`);
  await sql.change(
    `create table ${terms} (record integer not null, ix integer not null, term ${key} not null, weight integer not null, ` +
      `primary key (record, ix, term))${dialect.clusteredEnding}`,
  );
  await sql.change(
    `create table ${bodies} (record integer not null, ix integer not null, body ${long} not null, ` +
      `primary key (record, ix))${dialect.tableEnding}`,
  );
  if (dialect.sortedTerms) await createBodiesIndex(sql, dialect, bodies);
}

/** Creates the indexes of a generation's tables; `online`: during writes. */
export async function createIndexes(
  sql: Sql,
  dialect: Dialect,
  generation: string,
  layout: Layout,
  online: boolean,
): Promise<void> {
  const { fields, terms, bodies } = tablesOf(generation);
  const create = async (table: string, name: string, columns: string) => {
    const began = performance.now();
    await sql.change(dialect.createIndex(`${table}_${name}`, table, columns, online));
    await yieldToOthers(dialect, began);
  };
  for (const column of columnsOf(layout).slice(0, MAX_INDEXED_COLUMNS)) {
    await create(fields, column, `${column}, record`);
  }
  if (dialect.sortedTerms) return;
  await create(terms, 'ix', 'ix, term, weight, record');
  await createBodiesIndex(sql, dialect, bodies, online);
}

/** Creates the index that tells whether an index has bodies. Rows are inserted in its order, so that it may be created first. */
async function createBodiesIndex(sql: Sql, dialect: Dialect, bodies: string, online = false): Promise<void> {
  await sql.change(dialect.createIndex(`${bodies}_ix`, bodies, 'ix', online));
}

/** Updates the database's statistics of the filled tables, where its plans depend on them. */
export async function analyzeTables(sql: Sql, dialect: Dialect, generation: string): Promise<void> {
  if (!dialect.analyze) return;
  for (const table of Object.values(tablesOf(generation))) await sql.change(`${dialect.analyze} ${table}`);
}

/** Drops the tables of generations that no state names any more. */
export async function dropTables(sql: Sql, generations: readonly string[]): Promise<void> {
  for (const generation of generations) {
    const { terms, ...others } = tablesOf(generation);
    // The table with the triggers first.
    const tables = [terms, sortedTable(terms), goneTable(terms), ...Object.values(others)];
    for (const table of tables) await sql.change(`drop table if exists ${table}`);
  }
}

function columnsOf(layout: Layout): string[] {
  return fieldIndexes(layout).map((index) => `k${index.number}`);
}
