import { AsyncLocalStorage } from 'node:async_hooks';
import type { Items } from '../../../shared/json';
import { AppsError } from '../errors';
import { type BuildTools, build, forget, type RecordSource } from './build';
import { checkIndexes } from './check';
import { createSql, type HostDatabase, isFailure, type Row, type Sql } from './database';
import { dialects } from './dialects';
import { tablesOf } from './layout';
import { type RecordWrite, writeRows } from './rows';
import { checkSearch, countGeneration, placeOf, type RecordsTable, searchGeneration } from './search';
import { covers, createStateTable, type Generation, lockState, readState, type State } from './state';
import { dropTables } from './tables';
import { inTransaction } from './transaction';
import type { IndexCheck, IndexDeclarations, SearchOptions } from './types';

export type { RecordSource } from './build';
export {
  createSql,
  type HostDatabase,
  isFailure,
  marks,
  type Row,
  type Sql,
  StorageError,
  translateError,
} from './database';
export { type Client, type Dialect, dialects, isUnavailable } from './dialects';
export type { IndexedRecord } from './entries';
export { encodeText } from './keys';
export { parseQuery, queryLimits } from './query';
export type { RecordWrite } from './rows';
export type { RecordsTable } from './search';
export { inTransaction } from './transaction';

/** The connection a caller uses; `open`: it is in a transaction, in which nothing can be built or waited for. */
export interface Access {
  sql: Sql;
  open: boolean;
}

/** An index is missing and cannot be built in the open transaction: build it outside, then run everything again. */
export class IndexMissing extends Error {
  constructor(readonly build: () => Promise<void>) {
    super('an index must be built first');
  }
}

/** Front of the room: the indexes of all apps, derived from the records table and rebuilt from it at any time. */
export interface Indexes {
  /** Makes the room's own table; once a process, outside transactions. */
  prepare(): Promise<void>;
  /** To be called in every transaction that writes records of the app, before it does: which generations it must write to. */
  lock(sql: Sql, scope: string): Promise<Generation[]>;
  /** Brings the index rows in line with the writes of the transaction. */
  write(sql: Sql, generations: readonly Generation[], writes: readonly RecordWrite[]): Promise<void>;
  /** Rows of the records table that match, in the order of contract section 9. Missing indexes are built first. */
  search(
    access: Access,
    scope: string,
    declared: IndexDeclarations,
    options: SearchOptions,
  ): Promise<{ rows: Row[]; total?: number }>;
  count(access: Access, scope: string, declared: IndexDeclarations, query?: string, names?: Items): Promise<number>;
  /** Builds a generation with exactly the declared indexes; `rebuild`: drops the old ones before. */
  refresh(scope: string, declared: IndexDeclarations, rebuild: boolean): Promise<void>;
  /** Forgets all indexes of the app in the transaction; the returned function is for after its commit. */
  clear(sql: Sql, scope: string): Promise<() => Promise<void>>;
  /** Compares all records and index rows of all apps; `repair`: mends what is wrong. */
  check(repair: boolean): Promise<IndexCheck>;
  /** How far the building of the app's indexes is, by whichever process; null when nothing is being built. */
  progress(scope: string): Promise<{ done: number; total: number } | null>;
  destroy(): Promise<void>;
}

export interface IndexesOptions {
  database: HostDatabase;
  table: RecordsTable;
  source: RecordSource;
  /** How long (ms) a search waits for an index to be built before 503. Default 5,000. */
  patience?: number;
  /** Up to how many records a search looks at one by one rather than walking an index. Default 5,000. */
  few?: number;
}

/** How long (ms) indexes are trusted to hold all records before they are looked at again. */
const recheck = 2_000;

export function createIndexes({ database, table, source, patience = 5_000, few = 5_000 }: IndexesOptions): Indexes {
  const dialect = dialects[database.client];
  // Built indexes outlive the request that needs them: never in its transaction.
  const outside = AsyncLocalStorage.snapshot();
  let stopping = false;
  const tools: BuildTools = { database, dialect, source, stopped: () => stopping };
  const running = new Map<string, Promise<void>>();
  /** When each generation was found whole, by its id. */
  const verified = new Map<string, number>();

  /** One building an app and process; a second request waits for the first, then looks again. */
  const builtOnce = (scope: string, work: () => Promise<void>): Promise<void> => {
    const known = running.get(scope);
    if (known) return known;
    const made = outside(work).finally(() => running.delete(scope));
    made.catch(() => undefined);
    running.set(scope, made);
    return made;
  };

  /** False when the tables do not hold as many records as there are: somebody else wrote records (an import). */
  const isWhole = async (sql: Sql, scope: string, generation: Generation): Promise<boolean> => {
    const known = verified.get(generation.id);
    if (known !== undefined && Date.now() - known < recheck) return true;
    const { fields } = tablesOf(generation.id);
    // Counting is done once; the last record, which an import changes, costs nothing to compare.
    const counts = known === undefined;
    const [row] = await sql.rows(
      `select (select max(id) from ${table.name} where scope = ?) as last, (select max(record) from ${fields}) as lastentry` +
        (counts
          ? `, (select count(*) from ${table.name} where scope = ?) as records, (select count(*) from ${fields}) as entries`
          : ''),
      counts ? [scope, scope] : [scope],
    );
    const whole = String(row?.last) === String(row?.lastentry) && String(row?.records) === String(row?.entries);
    if (whole) verified.set(generation.id, Date.now());
    else verified.delete(generation.id);
    return whole;
  };

  const dropAll = async (scope: string): Promise<void> => {
    const dropped = await inTransaction(tools, (sql) => forget(sql, dialect, scope));
    await dropTables(createSql(database.knex(), dialect), dropped);
  };

  /** A generation that holds the needed indexes, completely. */
  const ready = async (
    { sql, open }: Access,
    scope: string,
    declared: IndexDeclarations,
    needed: IndexDeclarations,
  ): Promise<Generation> => {
    const until = Date.now() + patience;
    const wanted = new Map([...declared, ...needed]);
    for (;;) {
      const state: State = open ? await lockState(sql, dialect, scope, 'share') : await readState(sql, scope);
      const generation = state.find((one) => one.phase === 'ready' && covers(one, needed));
      const whole = generation !== undefined && (await isWhole(sql, scope, generation));
      if (generation && whole) return generation;
      const make = () =>
        builtOnce(scope, async () => {
          if (generation) await dropAll(scope);
          await build(tools, scope, wanted, 'add');
        });
      if (open) throw new IndexMissing(() => within(make(), Date.now() + patience));
      await within(make(), until);
    }
  };

  /** Tables may be dropped between choosing a generation and reading it: then there is a newer one. */
  const reading = async <T>(access: Access, read: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await read();
      } catch (error) {
        if (!isFailure(error, 'missing-table') || access.open || attempt === 5) throw error;
      }
    }
  };

  const countAll = (sql: Sql, scope: string) => source.count(sql, scope);

  return {
    prepare: () => createStateTable(createSql(database.knex(), dialect), dialect),

    async lock(sql, scope) {
      const state = await lockState(sql, dialect, scope, 'share');
      return state.filter((generation) => generation.phase !== 'planned');
    },

    async write(sql, generations, writes) {
      for (const generation of generations) await writeRows(sql, generation, writes);
    },

    async search(access, scope, declared, options) {
      const search = checkSearch(declared, options);
      const { sql } = access;
      if (search.needed.size === 0 && !search.condition) {
        const { limit, offset, reverse } = search;
        const order = reverse ? 'r.id desc' : 'r.id';
        const text = `select ${table.columns} from ${table.name} r where r.scope = ? order by ${order} limit ? offset ?`;
        const rows = await sql.rows(text, [scope, limit, offset]);
        return search.withTotal ? { rows, total: await countAll(sql, scope) } : { rows };
      }
      return reading(access, async () => {
        const place = placeOf(dialect, await ready(access, scope, declared, search.needed), few);
        const rows = await searchGeneration(sql, place, table, search);
        if (!search.withTotal) return { rows };
        const total = search.condition
          ? await countGeneration(sql, place, search.condition)
          : await countAll(sql, scope);
        return { rows, total };
      });
    },

    async count(access, scope, declared, query, names) {
      const { condition, needed } = checkSearch(declared, { query, names });
      if (!condition) return countAll(access.sql, scope);
      return reading(access, async () => {
        const place = placeOf(dialect, await ready(access, scope, declared, needed), few);
        return countGeneration(access.sql, place, condition);
      });
    },

    async refresh(scope, declared, rebuild) {
      await running.get(scope)?.catch(() => undefined);
      await builtOnce(scope, async () => {
        if (rebuild) await dropAll(scope);
        while (!stopping && !(await build(tools, scope, declared, 'replace')));
      });
    },

    async clear(sql, scope) {
      const dropped = await forget(sql, dialect, scope);
      return () => dropTables(createSql(database.knex(), dialect), dropped);
    },

    check: (repair) => checkIndexes(tools, repair),

    async progress(scope) {
      const state = await readState(createSql((await database.current()) ?? database.knex(), dialect), scope);
      const building = state.find((generation) => generation.phase !== 'ready');
      return building ? { done: building.done, total: building.total } : null;
    },

    async destroy() {
      stopping = true;
      await Promise.allSettled(running.values());
    },
  };
}

/** The result of `work`, or, when it takes longer, ServiceUnavailableError; the work goes on. */
async function within(work: Promise<void>, until: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new AppsError('ServiceUnavailableError', 'The indexes are being built, try again soon', {
      headers: { 'Retry-After': '2' },
    });
    timer = setTimeout(() => reject(error), Math.max(0, until - Date.now()));
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
