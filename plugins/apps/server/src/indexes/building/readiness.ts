import { AsyncLocalStorage } from 'node:async_hooks';
import { AppsError, unavailable } from '../../common/errors';
import { within } from '../../common/time/pace';
import { createSql, inTransaction, isFailure, type Row, readerOf, type Sql, type Transaction } from '../../database';
import {
  type AppGenerations,
  covers,
  dropTables,
  type Generation,
  isCurrent,
  isOwnIndex,
  lockState,
  readState,
  readStateText,
  storedLayout,
  tablesOf,
} from '../tables';
import type { IndexDeclarations, Progress } from '../types';
import { type BuildTools, build, forget } from './build';

/** The connection of a caller; `trx`: its open transaction, in which an index can be neither built nor awaited. */
export interface Access {
  sql: Sql;
  trx: Transaction | undefined;
  /** The work of the caller can run again: it ends for the build, so that the wait takes none of the time of its logic. */
  runsAgain?: boolean;
}

/** An index is missing, and the caller's transaction or time must not wait for it: build it outside, then run the work again. */
export class IndexMissing extends Error {
  constructor(readonly build: () => Promise<void>) {
    super('an index must be built first');
  }
}

/** A generation to search in. */
export interface Ready {
  generation: Generation;
  /** What named it, if read earlier: the search must verify that it still holds. */
  remembered?: Remembered;
}

/** What was read of an app a while ago, which the statement of a search verifies. */
export interface Remembered {
  scope: string;
  /** The state that named the generation. */
  text: string;
  /** The condition that the generation has the app's last record; undefined when it was checked a moment ago. */
  whole: { sql: string; values: unknown[] } | undefined;
}

/** Provides complete indexes to searches: builds missing ones, or waits for their build. */
export interface Readiness {
  /**
   * A complete generation with the needed indexes. Builds it first, with all declared ones; when that takes longer than a
   * request may wait, ServiceUnavailableError with the progress. IndexMissing in an open transaction, and for work that runs again.
   * ConflictError in a preview that needs others than the live ones.
   */
  ready(access: Access, scope: string, declared: IndexDeclarations, needed: IndexDeclarations): Promise<Ready>;
  /** A search has verified that the generation has the app's last record. */
  confirm(generation: Generation): void;
  /** Drops what is remembered of an app's indexes, so that it is read again. */
  forget(scope: string): void;
  /** See Indexes.refresh. */
  refresh(scope: string, declared: IndexDeclarations, rebuild: boolean): Promise<void>;
  /** See Indexes.progress. */
  progress(scope: string): Promise<Progress | null>;
  /** The app's generations that searches can use at once. */
  complete(scope: string): Promise<Generation[]>;
  /** Resolves when this process builds no index. */
  settled(): Promise<void>;
}

/** Milliseconds after which the completeness of an index is checked again. */
const recheck = 2_000;

/** No app declares the plugin's own indexes: a search has needed those that there are, and the next one will again. */
function withOwn(state: AppGenerations, declared: IndexDeclarations): IndexDeclarations {
  const own = state.flatMap(({ indexes }) => indexes.filter(([name]) => isOwnIndex(name)));
  return new Map([...declared, ...own]);
}

/** Refuses to build an index that is not declared by the app that visitors see. */
function refuseOthers(live: IndexDeclarations, needed: IndexDeclarations): void {
  const known = new Map(storedLayout(live));
  for (const [name, type] of needed) {
    if (isOwnIndex(name) || known.get(name) === type) continue;
    throw new AppsError(
      'ConflictError',
      `A preview builds no index: "${name}" is a ${type} index once the file is saved, or the theme is active`,
    );
  }
}

/** The condition that the tables have the app's last record, which other code that writes records (an import) changes. */
function wholeSql(records: string, scope: string, { id }: Generation): Remembered['whole'] {
  const last = `coalesce((select max(id) from ${records} where scope = ?), 0)`;
  return { sql: `${last} = coalesce((select max(record) from ${tablesOf(id).fields}), 0)`, values: [scope] };
}

/** `records`: name of the records table; `timeout`: how long (ms) a search waits for a build before 503. */
export function createReadiness(tools: BuildTools, records: string, timeout: number): Readiness {
  const { database, dialect, stopped } = tools;
  // Indexes outlive the request that needs them: they are never built in its transaction.
  const outside = AsyncLocalStorage.snapshot();
  const running = new Map<string, Promise<void>>();
  /** When each generation was found complete, by its id. */
  const verified = new Map<string, number>();
  /** The last read states, by scope. */
  const known = new Map<string, { text: string; state: AppGenerations }>();

  /** One build per app and process; a second request waits for the first, then checks again. */
  const builtOnce = (scope: string, work: () => Promise<void>): Promise<void> => {
    const begun = running.get(scope);
    if (begun) return begun;
    const made = outside(work).finally(() => running.delete(scope));
    made.catch(() => undefined);
    running.set(scope, made);
    return made;
  };

  const isTrusted = ({ id }: Generation): boolean => Date.now() - (verified.get(id) ?? 0) < recheck;

  const usable = (state: AppGenerations, needed: IndexDeclarations): Generation | undefined =>
    state.find((one) => one.phase === 'ready' && covers(one, needed));

  const readAgain = async ({ sql, trx }: Access, scope: string): Promise<AppGenerations> => {
    if (trx) return lockState(sql, dialect, scope, 'share');
    const read = await readStateText(sql, scope);
    known.set(scope, read);
    return read.state;
  };

  /**
   * False when the tables hold a different number of records: other code has written records (an import). Outside a transaction
   * also when they are gone: another process may replace a generation just after its state was read.
   */
  const isWhole = async ({ sql, trx }: Access, scope: string, generation: Generation): Promise<boolean> => {
    if (isTrusted(generation)) return true;
    const row = await lastRows(sql, scope, generation).catch((error) => {
      if (trx || !isFailure(error, 'missing-table')) throw error;
    });
    const whole =
      row !== undefined && String(row.last) === String(row.lastentry) && String(row.records) === String(row.entries);
    if (whole) verified.set(generation.id, Date.now());
    else verified.delete(generation.id);
    return whole;
  };

  const lastRows = async (sql: Sql, scope: string, generation: Generation): Promise<Row | undefined> => {
    const { fields } = tablesOf(generation.id);
    // Counts once; afterwards it compares the last record, which an import changes, at no cost.
    const counts = !verified.has(generation.id);
    const [row] = await sql.rows(
      `select (select max(id) from ${records} where scope = ?) as last, (select max(record) from ${fields}) as lastentry` +
        (counts
          ? `, (select count(*) from ${records} where scope = ?) as records, (select count(*) from ${fields}) as entries`
          : ''),
      counts ? [scope, scope] : [scope],
    );
    return row;
  };

  /** @param id drops only if this generation is still the app's: another process may have replaced it */
  const dropAll = async (scope: string, id?: string): Promise<void> => {
    const dropped = await inTransaction(tools, (sql) => forget(sql, dialect, scope, id));
    await dropTables(createSql(database.knex(), dialect), dropped);
  };

  const stateOf = async (scope: string): Promise<AppGenerations> =>
    readState(createSql((await database.current()) ?? readerOf(database), dialect), scope);

  const progress: Readiness['progress'] = async (scope) => {
    const state = await stateOf(scope);
    const building = state.find((generation) => generation.phase !== 'ready');
    return building ? { done: building.done, total: building.total } : null;
  };

  const orUnavailable = async (scope: string, work: Promise<void>, until: number): Promise<void> => {
    if ((await within(work, until - Date.now())) !== 'late') return;
    const details = { progress: await progress(scope) };
    throw unavailable('The indexes are being built, try again soon', 2, { details });
  };

  const ready: Readiness['ready'] = async (access, scope, declared, needed) => {
    const { trx, runsAgain } = access;
    const remembered = trx ? undefined : known.get(scope);
    const old = remembered && usable(remembered.state, needed);
    if (old && verified.has(old.id)) {
      const whole = isTrusted(old) ? undefined : wholeSql(records, scope, old);
      return { generation: old, remembered: { scope, text: remembered.text, whole } };
    }
    const until = Date.now() + timeout;
    const wanted = new Map([...(declared.live ?? declared), ...needed]);
    for (;;) {
      const generation = usable(await readAgain(access, scope), needed);
      const whole = generation !== undefined && (await isWhole(access, scope, generation));
      if (generation && whole) return { generation };
      if (declared.live) refuseOthers(declared.live, needed);
      const make = () =>
        builtOnce(scope, async () => {
          if (generation) await dropAll(scope, generation.id);
          await build(tools, scope, wanted, 'add');
        });
      if (trx || runsAgain) throw new IndexMissing(() => orUnavailable(scope, make(), Date.now() + timeout));
      await orUnavailable(scope, make(), until);
    }
  };

  return {
    ready,
    confirm({ id }) {
      verified.set(id, Date.now());
    },
    progress,
    complete: async (scope) => (await stateOf(scope)).filter((one) => one.phase === 'ready' && isCurrent(one)),
    forget(scope) {
      // Looked at again, but for the numbers of rows.
      for (const { id } of known.get(scope)?.state ?? []) if (verified.has(id)) verified.set(id, 0);
      known.delete(scope);
    },
    async refresh(scope, declared, rebuild) {
      await running.get(scope)?.catch(() => undefined);
      await builtOnce(scope, async () => {
        const wanted = withOwn(await stateOf(scope), declared);
        if (rebuild) await dropAll(scope);
        while (!stopped() && !(await build(tools, scope, wanted, 'replace')));
      });
    },
    async settled() {
      await Promise.allSettled(running.values());
    },
  };
}
