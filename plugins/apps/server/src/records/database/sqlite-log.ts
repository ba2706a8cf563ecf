import { within } from '../../common/time/deadline';

/** Pages of the write-ahead log, of 4 kB each, that are to be copied into the file: as many as SQLite has by default. */
const MANY = 1_000;
/** Pages from which on a commit copies them itself: the log stays bounded without another process too. */
const MAX_PAGES = 8_000;

/** Milliseconds after a failed copy in which no other is asked for. */
const PAUSE = 10_000;

/** Milliseconds for which a writer waits for a copy. */
const MAX_WAIT = 2_000;

/** The first SQLite that counts the pages of the log without copying them. */
const COUNTS = 3.051;

/** The part of a better-sqlite3 connection that is used here. */
interface Connection {
  pragma(text: string, options?: { simple: boolean }): unknown;
  prepare(sql: string): { all(values: readonly unknown[]): unknown[] };
}

export interface SqliteLog {
  /** Runs `work`, which commits a transaction on the connection. */
  committing(connection: Connection, work: () => unknown): void;
  /** Resolves when the log is not being copied, after `MAX_WAIT` milliseconds at the latest: long searches may have all processes. */
  copied(): Promise<void>;
}

/**
 * Leaves it to others to copy the write-ahead log into the file. SQLite does so in the commit that makes the log long: with two
 * file syncs, which held the thread for 15 to 85 ms. See docs/decisions/bulk-on-sqlite.md.
 * @param copy copies the log on another thread or process; undefined without one
 */
export function createLog(copy: (() => Promise<unknown>) | undefined): SqliteLog {
  const usual = new WeakMap<Connection, number | null>();
  let copying: Promise<void> | undefined;
  let pausesUntil = 0;

  /** Pages of the log with which the connection copies it by itself; null where their number cannot be asked for. */
  const usualPages = (connection: Connection): number | null => {
    const known = usual.get(connection);
    if (known !== undefined) return known;
    const pages = canCount(connection) ? Number(connection.pragma('wal_autocheckpoint', { simple: true })) : null;
    usual.set(connection, pages);
    return pages;
  };

  const start = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch {
      pausesUntil = performance.now() + PAUSE;
    } finally {
      copying = undefined;
    }
  };

  return {
    committing(connection, work) {
      const pages = copy && performance.now() >= pausesUntil ? usualPages(connection) : null;
      if (!copy || pages === null) {
        work();
        return;
      }
      connection.pragma(`wal_autocheckpoint = ${MAX_PAGES}`);
      try {
        work();
      } finally {
        // Strapi's own transactions do not ask for a copy.
        connection.pragma(`wal_autocheckpoint = ${pages}`);
      }
      const { log, left } = pagesOf(connection);
      // A log that others could not keep short is the next commit's, which needs the lock for it.
      if (!copying && left > MANY && log < MAX_PAGES) copying = start(copy);
    },
    async copied() {
      if (copying) await within(copying, MAX_WAIT);
    },
  };
}

function canCount(connection: Connection): boolean {
  const [row] = connection.prepare('select sqlite_version() as version').all([]) as { version: string }[];
  const [major = 0, minor = 0] = String(row?.version).split('.').map(Number);
  return major + minor / 1_000 >= COUNTS;
}

/** Pages of the log, and those of them that are not in the file. */
function pagesOf(connection: Connection): { log: number; left: number } {
  const [counted] = connection.pragma('wal_checkpoint(NOOP)') as { log: number; checkpointed: number }[];
  return counted ? { log: counted.log, left: counted.log - counted.checkpointed } : { log: 0, left: 0 };
}
