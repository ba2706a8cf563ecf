import type { Dialect, Sql } from '../../database';
import type { IndexDeclarations } from '../types';
import type { StoredLayout } from './tables';

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

export type State = Generation[];

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
export async function readStateText(sql: Sql, scope: string): Promise<{ text: string; state: State }> {
  const [row] = await sql.rows(stateSelect, [scope]);
  const text = (row?.state as string | undefined) ?? '[]';
  return { text, state: JSON.parse(text) as State };
}

export async function readState(sql: Sql, scope: string): Promise<State> {
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
export async function lockState(sql: Sql, dialect: Dialect, scope: string, mode: 'share' | 'update'): Promise<State> {
  const text = `select state from ${table} where scope = ?${mode === 'share' ? dialect.shareLock : dialect.updateLock}`;
  const [row] = await sql.rows(text, [scope]);
  if (row) return JSON.parse(row.state as string) as State;
  // Without a row there is nothing to lock, and a builder could start unnoticed.
  const { verb, ending } = dialect.insertIgnore;
  await sql.change(`${verb} into ${table} (scope, state) values (?, '[]')${ending}`, [scope]);
  if (!dialect.oneWriter) await addLock(sql, dialect, scope);
  const [made] = await sql.rows(text, [scope]);
  return made ? (JSON.parse(made.state as string) as State) : [];
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
export async function lockForWriter(sql: Sql, dialect: Dialect, scope: string, commits: CommitLock): Promise<State> {
  if (dialect.oneWriter || commits === 'apart') return lockState(sql, dialect, scope, 'share');
  if (commits === 'shared') {
    const text = `select s.state as state from ${table} s, ${locks} l where s.scope = ? and l.scope = s.scope${dialect.shareLock}`;
    const [row] = await sql.rows(text, [scope]);
    if (row) return JSON.parse(row.state as string) as State;
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

export async function saveState(sql: Sql, scope: string, state: State): Promise<void> {
  await sql.change(`update ${table} set state = ? where scope = ?`, [JSON.stringify(state), scope]);
}

/** Whether a generation has the needed indexes, with their types, in this format. */
export function covers(generation: Generation, needed: IndexDeclarations): boolean {
  const held = new Map(generation.indexes);
  return isCurrent(generation) && [...needed].every(([name, type]) => held.get(name) === type);
}
