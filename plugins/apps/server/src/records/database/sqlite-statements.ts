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

/** Compiles statements on a connection; those that it has compiled lately are kept. */
export function compiled(connection: { prepare(sql: string): Statement }): (sql: string) => Statement {
  const statements = new LRUCache<string, Statement>({ max: MAX_STATEMENTS });
  return (sql) => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = connection.prepare(sql);
    if (sql.length <= MAX_LENGTH) statements.set(sql, statement);
    return statement;
  };
}
