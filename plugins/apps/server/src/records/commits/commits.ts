import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { OwnValue } from '../../common/request-objects';
import {
  type CommitMark,
  type CommitMarks,
  createSql,
  type Dialect,
  type HostDatabase,
  inTransaction,
  marks as placeholders,
  readerOf,
  type Sql,
  type Transaction,
} from '../../database';
import { PlaceBounds } from './claims';
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

/** @param onOther as for `createCommitCounts` */
export function createCommits(tools: { database: HostDatabase; dialect: Dialect }, onOther?: () => void): Commits {
  const log = new CommitLog();
  const bounds = new PlaceBounds();
  const counts = createCommitCounts(tools.database, tools.dialect, onOther);

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

  /** The scopes that a transaction of the host has in the log. */
  const noted = new OwnValue<object, Set<string>>('noted scopes');

  const note: Commits['note'] = async (scopes) => {
    if (scopes.length === 0) return;
    const outer = await tools.database.current();
    const sql = createSql(outer ?? tools.database.knex(), tools.dialect);
    const known = outer && noted.getOrMake(outer, () => new Set());
    // Each time: a rollback to a savepoint undoes the rows, and nothing says so.
    const release = await counts.count(sql, scopes, outer);
    const fresh = scopes.filter((scope) => !known?.has(scope));
    for (const scope of fresh) known?.add(scope);
    const settle = fresh.length > 0 ? log.append(unnamed(fresh), outer) : () => {};
    afterTransaction(outer, () => {
      settle();
      release();
    });
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
          ended.push(await record(sql, unnamed(scopes), outer));
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

const unnamed = (scopes: readonly string[]): Changes => new Map(scopes.map((scope) => [scope, null]));

/** Calls `ended` now, or when the transaction of other code has ended that this work is part of. */
export function afterTransaction(outer: Transaction | undefined, ended: () => void): void {
  if (outer) outer.executionPromise.then(ended, ended);
  else ended();
}

/** Its rows are marks of commits too: see docs/decisions/unknown-commits.md. */
const table = 'apps_commit_counts';

/** The scope that counts the commits of all apps together, and those of content. */
export const EVERY = '*';

/** Milliseconds after which the counts of a process that has committed nothing are deleted. */
const MAX_AGE = 24 * 60 * 60_000;
/** Counts that a process deletes when it starts. */
const MAX_TIDIED = 10_000;
/** Apps whose counts are remembered. */
const MAX_KNOWN = 10_000;

/** Says whether other processes have committed changes of an app's records. */
export interface CommitCounts {
  /** Creates the table; call it outside transactions. */
  prepare(): Promise<void>;
  /**
   * Counts a transaction, as its last statement. Returns a function to call when the transaction has ended.
   * @param outer the transaction of other code that it is part of, which may have many such parts
   */
  count(sql: Sql, scopes: readonly string[], outer?: object): Promise<() => void>;
  /**
   * A text that changes with each commit of another process to the app, as it was when this process looked last; undefined when
   * it has never looked. No later text is the same as one from before a change.
   */
  known(scope: string): string | undefined;
  /** Whether what is known is right without a look. */
  isFresh(): boolean;
  /** Looks whether another process has committed anything; if one has, what was known of single apps is forgotten. */
  refresh(): Promise<void>;
  /** Whether what is known is right at the time of the last refresh. */
  isCertain(): boolean;
  /** The texts as a transaction on `sql` sees records, or older ones. */
  seen(scopes: readonly string[], sql: Sql): Promise<ReadonlyMap<string, string>>;
  /** The current text: read on `sql`, or outside of any transaction. */
  look(scopes: readonly string[], sql?: Sql): Promise<ReadonlyMap<string, string>>;
}

/** SQLite itself counts the commits of other connections to the file, of all apps together. */
function sqliteCounts(database: HostDatabase, version: () => number | undefined): CommitCounts {
  /** A different text each time until the version is known. */
  const now = () => String(version() ?? randomBytes(8).toString('hex'));
  const all = (scopes: readonly string[]) => {
    const text = now();
    return new Map(scopes.map((scope) => [scope, text]));
  };
  /** Without the writing connection, which a transaction shows. */
  const learn = async () => {
    if (version() === undefined) await database.write(async () => {});
  };
  return {
    prepare: learn,
    count: async () => () => {},
    known: now,
    isFresh: () => version() !== undefined,
    refresh: learn,
    isCertain: () => !database.mayLag?.(),
    // Within a transaction the number is that of its begin.
    seen: async (scopes) => all(scopes),
    look: async (scopes, sql) => {
      if (!sql) await learn();
      return all(scopes);
    },
  };
}

/** Milliseconds between two looks of the only process. */
const LONE_LOOK = 1_000;
/** Milliseconds without a commit of another process after which this one counts as the only one again. */
const LONE_AFTER = 60_000;

/**
 * When a process that should be the only one looks for commits of others: each second, and before each request for a minute after it
 * has found one. So a second process that was started by mistake, or for an upgrade, is found within a second.
 */
function loneLooks(onOther: () => void): { isDue(): boolean; looked(hasFound: boolean): void } {
  let next = 0;
  let found = Number.NEGATIVE_INFINITY;
  return {
    isDue: () => performance.now() >= next,
    looked(hasFound) {
      const now = performance.now();
      if (hasFound && now - found > LONE_AFTER) onOther();
      if (hasFound) found = now;
      next = now - found > LONE_AFTER ? now + LONE_LOOK : now;
    },
  };
}

/**
 * A row for each app and process, and for each of the process's transactions that are committed at the same time, so that none
 * waits for another. The number is that of the transaction's mark, which the row for all apps is.
 */
function storedCounts(
  database: HostDatabase,
  dialect: Dialect,
  marks: CommitMarks,
  lone: ReturnType<typeof loneLooks> | undefined,
): CommitCounts {
  const { process } = marks;
  const known = new LRUCache<string, string>({ max: MAX_KNOWN });
  const ofOuter = new OwnValue<object, CommitMark>('commit mark');
  const begin = Date.now();
  let isTidy = false;
  /** How often what was known was forgotten. */
  let forgotten = 0;

  /** Reads before it deletes: MariaDB locks all rows that a deletion looks at, and every commit needs one of them. */
  const tidy = async (sql: Sql) => {
    isTidy = true;
    const until = Date.now() - MAX_AGE;
    const old = await sql.rows(`select scope, process from ${table} where at < ? limit ${MAX_TIDIED}`, [until]);
    for (const row of old)
      await sql.change(`delete from ${table} where scope = ? and process = ? and at < ?`, [
        row.scope,
        row.process,
        until,
      ]);
  };

  const read = async (sql: Sql, scopes: readonly string[], ending = '') => {
    const text = `select scope, process, commits from ${table} where scope in (${placeholders(scopes)}) and process not like ? order by scope, process${ending}`;
    const rows = await sql.rows(text, [...scopes, `${process}.%`]);
    // Deleted counts may leave the rows of an earlier text, but not within its time.
    const time = Math.floor((Date.now() - begin) / (MAX_AGE / 2));
    const found = new Map(scopes.map((scope) => [scope, `${time} `]));
    for (const row of rows) {
      const scope = row.scope as string;
      found.set(scope, `${found.get(scope)}${row.process}:${row.commits} `);
    }
    return found;
  };

  return {
    prepare: marks.prepare,

    async count(sql, scopes, outer) {
      const known = marks.of(sql.connection) ?? (outer && ofOuter.get(outer));
      const mark = known ?? marks.take();
      const release = () => {
        if (!known) marks.free(mark);
      };
      try {
        const rows = [...scopes, EVERY].sort().map((scope) => [scope, mark.process, mark.number, Date.now()]);
        await sql.insert(table, ['scope', 'process', 'commits', 'at'], rows, dialect.countAgain);
      } catch (error) {
        release();
        throw error;
      }
      if (outer && !known) ofOuter.set(outer, mark);
      // What a part of a transaction has counted may be undone by a savepoint.
      if (!outer) mark.scope = EVERY;
      return release;
    },

    known: (scope) => known.get(scope),

    isCertain: () => true,
    isFresh: () => lone !== undefined && !lone.isDue(),

    async refresh() {
      const before = known.get(EVERY);
      const now = (await read(createSql(readerOf(database), dialect), [EVERY])).get(EVERY) ?? '';
      lone?.looked(before !== undefined && hasMore(now, before));
      if (now === before) return;
      known.clear();
      forgotten += 1;
      known.set(EVERY, now);
    },

    seen: (scopes, sql) => read(sql, scopes),

    async look(scopes, given) {
      const sql = given ?? createSql(readerOf(database), dialect);
      // What it does not delete, another process will.
      if (!given && !isTidy) void tidy(createSql(database.knex(), dialect)).catch(() => undefined);
      const begun = forgotten;
      const found = await read(sql, scopes, given ? dialect.newest : '');
      // What was read before a refresh may be older than what that has found.
      for (const [scope, counts] of found) if (begun === forgotten && scope !== EVERY) known.set(scope, counts);
      return found;
    },
  };
}

/** Whether a process has committed since `before`; counts that were deleted say nothing. */
function hasMore(now: string, before: string): boolean {
  const known = new Set(before.split(' '));
  const [, ...counts] = now.split(' ');
  return counts.some((count) => !known.has(count));
}

/** @param onOther where this process should be the only one: called when another has committed */
function createCommitCounts(database: HostDatabase, dialect: Dialect, onOther?: () => void): CommitCounts {
  const { dataVersion, marks } = database;
  if (marks) return storedCounts(database, dialect, marks, onOther && loneLooks(onOther));
  return sqliteCounts(database, dataVersion ?? (() => undefined));
}
