import { OwnValue } from '../../common/request-objects';
import { createSql, type Dialect, type HostDatabase, inTransaction, type Sql, type Transaction } from '../../database';
import { PlaceBounds } from './bounds';
import { type CommitCounts, createCommitCounts } from './counts';
import { type Changes, CommitLog } from './log';

/** The commits of records that units of work must know of: see docs/decisions/serialisable.md. */
export interface Commits {
  readonly log: CommitLog;
  readonly counts: CommitCounts;
  readonly bounds: PlaceBounds;
  /**
   * Records what a transaction changes, as its last statement. The returned function must be called when the transaction has
   * ended, or may have.
   * @param outer the transaction of other code that it is part of
   */
  record(sql: Sql, changes: Changes, outer?: Transaction): Promise<() => void>;
  /** Notes that content of these scopes was changed, in the current transaction of the host if there is one. */
  note(scopes: readonly string[]): Promise<void>;
  /** Runs `work` in a transaction that changes many records of these apps. */
  changing<T>(scopes: readonly string[], work: (sql: Sql) => Promise<T>): Promise<T>;
}

export function createCommits(tools: { database: HostDatabase; dialect: Dialect }): Commits {
  const log = new CommitLog();
  const bounds = new PlaceBounds();
  const counts = createCommitCounts(tools.database, tools.dialect);

  const record: Commits['record'] = async (sql, changes, outer) => {
    if (changes.size === 0) return () => {};
    const release = await counts.count(sql, [...changes.keys()], outer);
    const settle = log.append(changes, outer);
    bounds.apply(changes);
    return () => {
      settle();
      release();
    };
  };

  /** The scopes that a transaction of the host has noted. */
  const noted = new OwnValue<object, Set<string>>('noted scopes');

  const note: Commits['note'] = async (scopes) => {
    const outer = await tools.database.current();
    const known = outer && noted.getOrMake(outer, () => new Set());
    const fresh = scopes.filter((scope) => !known?.has(scope));
    if (fresh.length === 0) return;
    for (const scope of fresh) known?.add(scope);
    const sql = createSql(outer ?? tools.database.knex(), tools.dialect);
    afterTransaction(outer, await record(sql, new Map(fresh.map((scope) => [scope, null])), outer));
  };

  return {
    log,
    counts,
    bounds,
    record,
    note,
    async changing(scopes, work) {
      const outer = await tools.database.current();
      const ended: (() => void)[] = [];
      try {
        return await inTransaction(tools, async (sql) => {
          const result = await work(sql);
          ended.push(await record(sql, new Map(scopes.map((scope) => [scope, null])), outer));
          return result;
        });
      } finally {
        afterTransaction(outer, () => {
          for (const end of ended) end();
        });
      }
    },
  };
}

/** Calls `ended` now, or when the transaction of other code has ended that this work is part of. */
export function afterTransaction(outer: Transaction | undefined, ended: () => void): void {
  if (outer) outer.executionPromise.then(ended, ended);
  else ended();
}

/** The unit of work collided with another: nothing of it is written, and it may run again from the start. Never shown to a client. */
export class CollisionError extends Error {
  /** `keys`: hashes of the records on which they collided, as far as known. */
  constructor(
    readonly keys: readonly string[] = [],
    cause?: unknown,
  ) {
    super('a record has been changed meanwhile', { cause });
  }
}
