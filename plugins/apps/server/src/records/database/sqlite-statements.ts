import { LRUCache } from 'lru-cache';

/** A compiled statement of better-sqlite3. */
export interface Statement {
  /** Whether it returns rows. */
  readonly reader: boolean;
  all(values: readonly unknown[]): unknown[];
  run(values: readonly unknown[]): unknown;
}

/** Compiled statements kept for a connection, and the length of the longest one: longer ones are not worth the memory. */
const MAX_STATEMENTS = 200;
const MAX_LENGTH = 2_000;

/** A value as Knex gives it to the driver, which takes neither dates nor booleans. */
export const bound = (value: unknown): unknown => {
  if (value instanceof Date) return value.valueOf();
  return typeof value === 'boolean' ? Number(value) : value;
};

/**
 * Compiles statements on a connection; those that it has compiled lately are kept, but for `t.*`, whose columns another process
 * may change.
 */
export function compiled(connection: { prepare(sql: string): Statement }): (sql: string) => Statement {
  const statements = new LRUCache<string, Statement>({ max: MAX_STATEMENTS });
  return (sql) => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = connection.prepare(sql);
    if (sql.length <= MAX_LENGTH && !sql.includes('.*')) statements.set(sql, statement);
    return statement;
  };
}
