import { performance } from 'node:perf_hooks';
import { type Dialect, isUnavailable } from './dialects';
import { createSql, isFailure, translateError } from './sql';
import type { HostDatabase, Sql } from './types';

/** Milliseconds for which a request waits for a database that cannot be reached, to learn what it has stored. */
export const OUTAGE = 10_000;

/** Milliseconds between two tries. */
const OUTAGE_PAUSE = 200;

/**
 * Runs `work` again while the database cannot be reached, for up to `time` milliseconds: it must do no more when it runs twice, because
 * the answer to the first one may have been lost.
 */
export async function throughOutage<T>(work: () => Promise<T>, time = OUTAGE): Promise<T> {
  const until = performance.now() + time;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || performance.now() + OUTAGE_PAUSE > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, OUTAGE_PAUSE));
    }
  }
}

const MAX_ATTEMPTS = 20;

/** Runs `work` in a transaction; after a collision with another runs it again, up to `MAX_ATTEMPTS` times. */
export async function inTransaction<T>(
  { database, dialect }: { database: HostDatabase; dialect: Dialect },
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.write((connection) => work(createSql(connection, dialect)));
    } catch (cause) {
      const error = translateError(dialect, cause);
      if (!isFailure(error, 'collision') || attempt === MAX_ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * attempt));
    }
  }
}

/** Milliseconds for which it is watched whether this process has other work, and for how long it then counts as busy. */
const watchTime = 2;
const busyTime = 200;
/** Steps after which others get a full pause in any case: those of other processes are not seen. */
const unseenSteps = 10;

/**
 * Makes a pause like `yieldToOthers` for many steps of one process: it is as long where this process has other work, else short, but
 * for every tenth.
 */
export function createGivingWay(dialect: Pick<Dialect, 'maxPause'>): (began: number) => Promise<void> {
  let steps = 0;
  let busyUntil = 0;
  return async (began) => {
    const ended = performance.now();
    // What the step itself has left for the event loop is not other work.
    await new Promise((resolve) => setImmediate(resolve));
    const before = performance.eventLoopUtilization();
    await new Promise((resolve) => setTimeout(resolve, watchTime));
    if (performance.eventLoopUtilization(before).utilization > 0.5) busyUntil = ended + busyTime;
    steps += 1;
    if (ended < busyUntil || steps % unseenSteps === 0) await yieldToOthers(dialect, began + performance.now() - ended);
  };
}

/**
 * Yields to other work between two steps, even where the driver is synchronous.
 * @param began `performance.now()` at the start of the last step: the pause is never longer than that step
 */
export function yieldToOthers({ maxPause }: Pick<Dialect, 'maxPause'>, began: number): Promise<unknown> {
  const time = Math.min(maxPause, performance.now() - began);
  return new Promise((resolve) => (time >= 1 ? setTimeout(resolve, time) : setImmediate(resolve)));
}
