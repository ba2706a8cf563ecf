import type { Statement } from './sqlite';

/** The part of the host's database that a record store uses; strapi-database.ts implements it for Strapi. */
export type { Client, HostDatabase, ReadConnection } from '../../indexes';

/** The part of a better-sqlite3 connection that is used here. */
export interface SqliteConnection {
  prepare(sql: string): Statement;
  function(name: string, options: { deterministic: boolean }, work: () => number): unknown;
}

/** A condition that is true; SQLite evaluates it for each row that a statement reads. */
export const step = 'apps_step() and ';

/** A statement has exceeded its time. */
export class StepsOver extends Error {}

/** Steps between two readings of the clock. */
const stride = 16;

/** When the statement that is running must end, by `performance.now()`: SQLite runs one at a time in a thread. */
let deadline = Number.POSITIVE_INFINITY;
let steps = 0;

const prepared = new WeakSet<SqliteConnection>();

/** Defines the function of `step` on the connection. */
export function allowSteps(connection: SqliteConnection): void {
  if (prepared.has(connection)) return;
  connection.function('apps_step', { deterministic: false }, () => {
    steps += 1;
    if (steps % stride === 0 && performance.now() > deadline) throw new StepsOver();
    return 1;
  });
  prepared.add(connection);
}

/**
 * Runs a statement that contains `step` on the calling thread. StepsOver when it takes more than `time` ms: SQLite has no
 * other way to end a statement from within its thread.
 */
export function within<T>(time: number, run: () => T): T {
  deadline = performance.now() + time;
  try {
    return run();
  } finally {
    deadline = Number.POSITIVE_INFINITY;
  }
}
