/** Writes the records straight into a server's own tables: its interface would take minutes, and is measured elsewhere. */
import { createRequire } from 'node:module';
import { noteAt } from './dataset.mjs';

const require = createRequire(import.meta.url);

/** A knex connection to the database of a server. */
export function connect(database) {
  const knex = require('knex');
  if (database.kind === 'sqlite')
    return knex({ client: 'better-sqlite3', connection: { filename: database.filename }, useNullAsDefault: true });
  const { host, port, user, password, name } = database;
  return knex({ client: 'pg', connection: { host, port, user, password, database: name } });
}

const rowsAtOnce = 100;

/**
 * Fills a table, and has the database look at its statistics.
 * @param rowAt columns of the row for a position, without those of the record itself
 */
export async function fillTable(database, table, count, rowAt) {
  const connection = connect(database);
  try {
    await connection.transaction(async (trx) => {
      for (let start = 0; start < count; start += rowsAtOnce) {
        const length = Math.min(rowsAtOnce, count - start);
        await trx(table).insert(Array.from({ length }, (_, at) => ({ ...noteAt(start + at), ...rowAt(start + at) })));
      }
    });
    await connection.raw(`analyze ${database.kind === 'postgres' ? `"${table}"` : ''}`);
  } finally {
    await connection.destroy();
  }
}

/** Runs statements in a server's database. */
export async function execute(database, statements) {
  const connection = connect(database);
  try {
    for (const statement of statements) await connection.raw(statement);
  } finally {
    await connection.destroy();
  }
}
