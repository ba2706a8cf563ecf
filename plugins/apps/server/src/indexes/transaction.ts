import { createSql, type HostDatabase, isFailure, type Sql, translateError } from './database';
import type { Dialect } from './dialects';

const attempts = 20;

/** Runs `work` in a transaction; again, a bounded number of times, when it collides with another. */
export async function inTransaction<T>(
  { database, dialect }: { database: HostDatabase; dialect: Dialect },
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.transaction((trx) => work(createSql(trx, dialect)));
    } catch (cause) {
      const error = translateError(dialect, cause);
      if (!isFailure(error, 'collision') || attempt === attempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * attempt));
    }
  }
}

/**
 * Yields to other work between two steps, even where the driver is synchronous.
 * @param began `performance.now()` at the start of the last step: a short step needs no long pause after it
 */
export function letOthers({ pause }: Pick<Dialect, 'pause'>, began: number): Promise<unknown> {
  const time = Math.min(pause, performance.now() - began);
  return new Promise((resolve) => (time >= 1 ? setTimeout(resolve, time) : setImmediate(resolve)));
}
