import type { Sql } from './database';
import type { Dialect } from './dialects';
import type { StoredLayout } from './layout';
import type { IndexDeclarations } from './types';

/**
 * Version of the format of index entries, increased when the entries of a record change. Writers also write to generations
 * of other formats, but searches have a new one built.
 */
const format = 2;

/** One set of index tables of an app. Every write goes to all of them that are not `planned`; searches use a `ready` one. */
export interface Generation {
  id: string;
  /** See `format`; absent in generations of the first format. */
  format?: number;
  indexes: StoredLayout;
  /** `planned`: tables are being made; `building`: being filled with old records; `indexing`: filled; `ready`: complete. */
  phase: 'planned' | 'building' | 'indexing' | 'ready';
  /** Which builder's it is: one that was thought dead finds out that it is no longer its own. */
  builder: string;
  /** Last sign of life of the builder, milliseconds since 1970. */
  at: number;
  /** Old records up to this one are in it. */
  after: number;
  /** Its tables get their indexes when they are filled. */
  late?: boolean;
  /** Records indexed so far, and all at the beginning of the building. */
  done: number;
  total: number;
}

export type State = Generation[];

/** A generation of this format, whose tables are to be made. */
export function planned(id: string, indexes: StoredLayout): Generation {
  return { id, format, indexes, phase: 'planned', builder: '', at: 0, after: 0, done: 0, total: 0 };
}

/** Whether its entries are what this version of the plugin writes. */
export const isCurrent = (generation: Generation): boolean => generation.format === format;

const table = 'apps_index_states';

/** Makes the table of states: one row a scope (an app), so that one lock guards an app's generations. */
export async function createStateTable(sql: Sql, dialect: Dialect): Promise<void> {
  await sql.change(
    `create table if not exists ${table} (scope varchar(64) not null primary key, state ${dialect.types.text} not null)${dialect.tableEnding}`,
  );
}

/** A select of the app's generations as text; no row when it has never had any. */
export const stateSelect = `select state from ${table} where scope = ?`;

/** The app's generations as last committed (or as this transaction sees them), as text too: to see whether they still are. */
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
 * The app's generations, kept as they are until the transaction ends: `share` for writers of records, of which many may
 * hold it at once, `update` for who changes the generations, who waits for all of them.
 */
export async function lockState(sql: Sql, dialect: Dialect, scope: string, mode: 'share' | 'update'): Promise<State> {
  const text = `select state from ${table} where scope = ?${mode === 'share' ? dialect.shareLock : dialect.updateLock}`;
  const [row] = await sql.rows(text, [scope]);
  if (row) return JSON.parse(row.state as string) as State;
  // Without a row there would be nothing to lock, and a builder could begin unseen.
  const { verb, ending } = dialect.insertIgnore;
  await sql.change(`${verb} into ${table} (scope, state) values (?, '[]')${ending}`, [scope]);
  const [made] = await sql.rows(text, [scope]);
  return made ? (JSON.parse(made.state as string) as State) : [];
}

export async function saveState(sql: Sql, scope: string, state: State): Promise<void> {
  await sql.change(`update ${table} set state = ? where scope = ?`, [JSON.stringify(state), scope]);
}

/** Whether a generation holds the indexes that are needed, with their types, in this format. */
export function covers(generation: Generation, needed: IndexDeclarations): boolean {
  const held = new Map(generation.indexes);
  return isCurrent(generation) && [...needed].every(([name, type]) => held.get(name) === type);
}
