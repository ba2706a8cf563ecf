/** Writes the records straight into a server's own tables: its interface would take minutes, and is measured elsewhere. */
import { createRequire } from 'node:module';
import { noteAt } from './dataset.mjs';

const require = createRequire(import.meta.url);

/** Runs the work with a connection to a server's SQLite file. */
async function withSqlite({ filename }, work) {
  const connection = new (require('better-sqlite3'))(filename);
  try {
    return work(connection);
  } finally {
    connection.close();
  }
}

/** Runs the work with a connection to a server's PostgreSQL database. */
async function withPostgres({ host, port, user, password, name: database }, work) {
  const connection = new (require('pg').Client)({ host, port, user, password, database });
  await connection.connect();
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}

const fillSqlite = (database, table, count, rowAt) =>
  withSqlite(database, (connection) => {
    const columns = Object.keys(rowAt(0));
    const insert = connection.prepare(
      `insert into "${table}" (${columns.map((name) => `"${name}"`)}) values (${columns.map((name) => `@${name}`)})`,
    );
    connection.transaction(() => {
      for (let at = 0; at < count; at += 1) insert.run(rowAt(at));
    })();
    connection.exec('analyze');
  });

const rowsAtOnce = 5_000;

const fillPostgres = (database, table, count, rowAt) =>
  withPostgres(database, async (connection) => {
    const columns = Object.keys(rowAt(0)).map((name) => `"${name}"`);
    const text = `insert into "${table}" (${columns}) select ${columns} from json_populate_recordset(null::"${table}", $1)`;
    for (let start = 0; start < count; start += rowsAtOnce) {
      const length = Math.min(rowsAtOnce, count - start);
      await connection.query(text, [JSON.stringify(Array.from({ length }, (_, at) => rowAt(start + at)))]);
    }
    await connection.query(`analyze "${table}"`);
  });

/**
 * Fills a table, and has the database look at its statistics.
 * @param moreAt columns of the row for a position, beside those of the record itself
 */
export async function fillTable(database, table, count, moreAt) {
  const fill = database.kind === 'sqlite' ? fillSqlite : fillPostgres;
  await fill(database, table, count, (at) => ({ ...noteAt(at), ...moreAt(at) }));
}

/** Runs statements in a server's database. */
export async function execute(database, statements) {
  if (database.kind === 'sqlite') return withSqlite(database, (connection) => connection.exec(statements.join(';')));
  return withPostgres(database, async (connection) => {
    for (const statement of statements) await connection.query(statement);
  });
}
