import type { Dialect } from '../dialects';
import { createSql, type HostDatabase, isFailure, type Sql, translateError } from './database';

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

/**
 * Yields to other work between two steps, even where the driver is synchronous.
 * @param began `performance.now()` at the start of the last step: the pause is never longer than that step
 */
export function yieldToOthers({ maxPause }: Pick<Dialect, 'maxPause'>, began: number): Promise<unknown> {
  const time = Math.min(maxPause, performance.now() - began);
  return new Promise((resolve) => (time >= 1 ? setTimeout(resolve, time) : setImmediate(resolve)));
}
