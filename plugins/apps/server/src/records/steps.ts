/** What is used of a better-sqlite3 connection. */
export interface SqliteConnection {
  prepare(sql: string): { all(values: readonly unknown[]): unknown[] };
  function(name: string, options: { deterministic: boolean }, work: () => number): unknown;
}

/** A condition that is true; asked for each row that a statement looks at. */
export const step = 'apps_step() and ';

/** A statement took longer than it may. */
export class StepsOver extends Error {}

/** Steps between two looks at the clock. */
const stride = 16;

/** When the statement that is running must end, by `performance.now()`: SQLite runs one at a time in a thread. */
let deadline = Number.POSITIVE_INFINITY;
let steps = 0;

const prepared = new WeakSet<SqliteConnection>();

/** Lets statements of the connection take steps. */
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
 * Runs a statement on the calling thread, which asks its `step` for each row that it looks at. StepsOver when it takes more
 * than `time` ms: SQLite has no other way to end a statement from within its thread.
 */
export function within<T>(time: number, run: () => T): T {
  deadline = performance.now() + time;
  try {
    return run();
  } finally {
    deadline = Number.POSITIVE_INFINITY;
  }
}
