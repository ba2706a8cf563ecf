import { type Dialect, MAX_SEQ, type Sql, yieldToOthers } from '../database';
import type { IndexDeclarations, IndexType } from './types';

/**
 * Version of the format of index entries; increase it when the entries of a record change. Writers also write to
 * generations of other formats, but searches have a new one built.
 */
const format = 3;

/** One set of index tables of an app. Writes go to all that are not `planned`; searches use a `ready` one. */
export interface Generation {
  id: string;
  /** See `format`; absent in generations of the first format. */
  format?: number;
  indexes: StoredLayout;
  /** `planned`: tables are being created; `building`: being filled with existing records; `indexing`: filled; `ready`: complete. */
  phase: 'planned' | 'building' | 'indexing' | 'ready';
  /** The builder that owns it: one that timed out and was replaced notices it here. */
  builder: string;
  /** Last heartbeat of the builder, milliseconds since 1970. */
  at: number;
  /** Existing records up to this one are in it. */
  after: number;
  /** Indexes of its tables are created after these are filled. */
  late?: boolean;
  /** Records indexed so far, and all at the start of the build. */
  done: number;
  total: number;
}

export type AppGenerations = Generation[];

/** A generation of this format, without tables. */
export function planned(id: string, indexes: StoredLayout): Generation {
  return { id, format, indexes, phase: 'planned', builder: '', at: 0, after: 0, done: 0, total: 0 };
}

/** Whether its entries have the format of this version of the plugin. */
export const isCurrent = (generation: Generation): boolean => generation.format === format;

const table = 'apps_index_states';
const locks = 'apps_commit_locks';

/** Creates the tables with a row per scope (an app): one lock guards an app's generations, another the commits of its records. */
export async function createStateTable(sql: Sql, dialect: Dialect): Promise<void> {
  const create = (name: string, columns: string) =>
    sql.change(
      `create table if not exists ${name} (scope varchar(64) not null primary key${columns})${dialect.tableEnding}`,
    );
  await create(table, `, state ${dialect.types.text} not null`);
  // Where there is one writer, no commits run at the same time.
  if (!dialect.oneWriter) await create(locks, '');
}

/** A select of the app's generations as text; no row when it has never had any. */
export const stateSelect = `select state from ${table} where scope = ?`;

/** The app's generations as last committed, or in this transaction, and their text, to detect later changes. */
export async function readStateText(sql: Sql, scope: string): Promise<{ text: string; state: AppGenerations }> {
  const [row] = await sql.rows(stateSelect, [scope]);
  const text = (row?.state as string | undefined) ?? '[]';
  return { text, state: JSON.parse(text) as AppGenerations };
}

export async function readState(sql: Sql, scope: string): Promise<AppGenerations> {
  return (await readStateText(sql, scope)).state;
}

/** Scopes of all apps that have, or had, indexes. */
export async function readScopes(sql: Sql): Promise<string[]> {
  return (await sql.rows(`select scope from ${table}`)).map((row) => row.scope as string);
}

/**
 * The app's generations, locked until the transaction ends: `share` for writers of records, which share the lock,
 * `update` for a change of the generations, which waits for all of them.
 */
export async function lockState(
  sql: Sql,
  dialect: Dialect,
  scope: string,
  mode: 'share' | 'update',
): Promise<AppGenerations> {
  const text = `select state from ${table} where scope = ?${mode === 'share' ? dialect.shareLock : dialect.updateLock}`;
  const [row] = await sql.rows(text, [scope]);
  if (row) return JSON.parse(row.state as string) as AppGenerations;
  // Without a row there is nothing to lock, and a builder could start unnoticed.
  const { verb, ending } = dialect.insertIgnore;
  await sql.change(`${verb} into ${table} (scope, state) values (?, '[]')${ending}`, [scope]);
  if (!dialect.oneWriter) await addLock(sql, dialect, scope);
  const [made] = await sql.rows(text, [scope]);
  return made ? (JSON.parse(made.state as string) as AppGenerations) : [];
}

/**
 * How the commit of a transaction that writes records of an app is locked against others: `shared` with those that write a few
 * records, `alone` for one whose searches must not change meanwhile; `apart` takes no part, because it may last longer.
 */
export type CommitLock = 'shared' | 'alone' | 'apart';

function addLock(sql: Sql, { insertIgnore: { verb, ending } }: Dialect, scope: string): Promise<number> {
  return sql.change(`${verb} into ${locks} (scope) values (?)${ending}`, [scope]);
}

/** The app's generations, locked for a writer of records until the transaction ends, and the commits of its records. */
export async function lockForWriter(
  sql: Sql,
  dialect: Dialect,
  scope: string,
  commits: CommitLock,
): Promise<AppGenerations> {
  if (dialect.oneWriter || commits === 'apart') return lockState(sql, dialect, scope, 'share');
  if (commits === 'shared') {
    const text = `select s.state as state from ${table} s, ${locks} l where s.scope = ? and l.scope = s.scope${dialect.shareLock}`;
    const [row] = await sql.rows(text, [scope]);
    if (row) return JSON.parse(row.state as string) as AppGenerations;
    await addLock(sql, dialect, scope);
  }
  await lockCommits(sql, dialect, scope, commits);
  return lockState(sql, dialect, scope, 'share');
}

/**
 * Locks the commits of an app, or those that count something together, until the transaction ends. Where there is one writer, they
 * never run at the same time.
 */
export async function lockCommits(
  sql: Sql,
  dialect: Dialect,
  name: string,
  mode: Exclude<CommitLock, 'apart'>,
): Promise<void> {
  if (dialect.oneWriter) return;
  const text = `select scope from ${locks} where scope = ?${mode === 'alone' ? dialect.updateLock : dialect.shareLock}`;
  const [row] = await sql.rows(text, [name]);
  if (row) return;
  await addLock(sql, dialect, name);
  await sql.rows(text, [name]);
}

export async function saveState(sql: Sql, scope: string, state: AppGenerations): Promise<void> {
  await sql.change(`update ${table} set state = ? where scope = ?`, [JSON.stringify(state), scope]);
}

/** Whether a generation has the needed indexes, with their types, in this format. */
export function covers(generation: Generation, needed: IndexDeclarations): boolean {
  const held = new Map(generation.indexes);
  return isCurrent(generation) && [...needed].every(([name, type]) => held.get(name) === type);
}

/** One index of a generation; its number identifies its column and its rows in the generation's tables. */
export interface LaidOutIndex {
  readonly name: string;
  readonly type: IndexType;
  readonly number: number;
}

/** The indexes of one generation of an app's index tables, by name. */
export type IndexLayout = ReadonlyMap<string, LaidOutIndex>;

/** The stored form: name and type, in the order of their numbers. */
export type StoredLayout = [string, IndexType][];

/**
 * The field index of the records' creators, by which searches find those of one (docs/decisions/own-records.md). A generation
 * has it, and each other of the plugin's own, once a search has needed it.
 */
export const CREATOR_INDEX = '@creator';

/** The keyword index of the files that records name, by which their removal finds the records that still do (docs/decisions/files.md). */
export const FILES_INDEX = '@files';

/** The keyword index of records that wait until they are confirmed, which others than editors do not see (docs/decisions/confirmation.md). */
export const UNCONFIRMED_INDEX = '@unconfirmed';

/** The field index of the blocks that records belong to, by which logic searches for the records of one (docs/reference/logic.md#contextapp). */
export const BLOCK_INDEX = '@block';

/** Field indexes of an app's declarations. */
export const MAX_FIELD_INDEXES = 190;

/**
 * Field indexes of a generation, those of the plugin among them: a row of InnoDB has 8,126 bytes, and none of its columns of up to 40 bytes
 * are stored elsewhere.
 */
const MAX_COLUMNS = 197;

/** Whether a generation with these indexes can have tables. */
export const fits = (stored: StoredLayout): boolean => fieldIndexes(layoutOf(stored)).length <= MAX_COLUMNS;

/** Whether an index is the plugin's own, which no app declares and no query can name: names of elements have no `@`. */
export const isOwnIndex = (name: string): boolean => name.startsWith('@');

/** All declared indexes and `id`, which is always a field index, in order of name. */
export function storedLayout(declared: IndexDeclarations): StoredLayout {
  const all = new Map<string, IndexType>([...declared, ['id', 'field']]);
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1));
}

export function layoutOf(stored: StoredLayout): IndexLayout {
  return new Map(stored.map(([name, type], number) => [name, { name, type, number }]));
}

/** The layout's field indexes; each has a column `k<number>`. */
export function fieldIndexes(layout: IndexLayout): LaidOutIndex[] {
  return [...layout.values()].filter((index) => index.type === 'field');
}

/** Names of a generation's tables: `fields` has one row per record, `terms` keywords and words, `bodies` texts too long for keys. */
export interface Tables {
  fields: string;
  terms: string;
  bodies: string;
}

export function tablesOf(generation: string): Tables {
  return {
    fields: `apps_index_${generation}_fields`,
    terms: `apps_index_${generation}_terms`,
    bodies: `apps_index_${generation}_bodies`,
  };
}

/** The table that sorts a generation's terms by index, term and weight, where no database index does. */
export const sortedTable = (terms: string): string => `${terms}_sorted`;
/** Terms that were deleted since they were sorted; exists only while the sorted table is filled. */
const goneTable = (terms: string): string => `${terms}_gone`;

/** Terms that one statement sorts: it blocks this process for some tenths of a second, but not writers of others. */
const runSize = 200_000;
/** Terms of the first transaction; later ones take about `stepTime` ms each. */
const firstStep = 2_000;
const stepTime = 25;

const columns = 'ix, term, weight, record';
const definition = `(ix integer not null, term blob not null, weight integer not null, record integer not null, primary key (${columns})) without rowid`;
const of = (row: string) => `${row}.ix, ${row}.term, ${row}.weight, ${row}.record`;

interface SortTools {
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

/** InnoDB accepts 64 indexes per table; columns without one are correct, only slower. */
export const MAX_INDEXED_COLUMNS = 60;

/** Creates the empty tables of a generation. */
export async function createTables(sql: Sql, dialect: Dialect, generation: string, layout: IndexLayout): Promise<void> {
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
  layout: IndexLayout,
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

function columnsOf(layout: IndexLayout): string[] {
  return fieldIndexes(layout).map((index) => `k${index.number}`);
}
