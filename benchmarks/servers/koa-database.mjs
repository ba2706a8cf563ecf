/** The statements of the bare Koa server, prepared once, on SQLite and on PostgreSQL. */
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

const table = (name, text) =>
  `create table ${name} (id ${text} primary key, title ${text}, body ${text}, author ${text}, total integer)`;

/** Statements that make the tables, run before they are filled; `words` builds the index of words afterwards. */
export const tables = {
  sqlite: (name) => [
    table(name, 'text'),
    `create index ${name}_author on ${name} (author)`,
    `create index ${name}_total on ${name} (total)`,
  ],
  postgres: (name) => [
    table(name, 'varchar(255)'),
    `create index ${name}_author on ${name} (author)`,
    `create index ${name}_total on ${name} (total)`,
  ],
};
export const wordIndexes = {
  sqlite: (name) => [
    `create virtual table ${name}_words using fts5(body, content='${name}')`,
    `insert into ${name}_words (rowid, body) select rowid, body from ${name}`,
  ],
  postgres: (name) => [`create index ${name}_words on ${name} using gin (to_tsvector('simple', body))`],
};

const insert = (name, mark) =>
  `insert into ${name} (id, title, body, author, total) values (${[1, 2, 3, 4, 5].map(mark).join(', ')})`;
const valuesOf = ({ title, body, author, total }) => [randomUUID(), title, body, author, total];

export function openSqlite({ filename }) {
  const db = new (require('better-sqlite3'))(filename);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  const kept = new Map();
  const prepare = (text) => kept.get(text) ?? kept.set(text, db.prepare(text)).get(text);
  const create = (name, note) => {
    const values = valuesOf(note);
    prepare(insert(name, () => '?')).run(...values);
    return values[0];
  };
  return {
    get: (name, id) => prepare(`select * from ${name} where id = ?`).get(id),
    search: (name, author, above) =>
      prepare(`select * from ${name} where author = ? and total > ? order by total limit 20`).all(author, above),
    words: (name, word) =>
      prepare(
        `select t.* from ${name}_words w join ${name} t on t.rowid = w.rowid where ${name}_words match ? order by t.rowid limit 20`,
      ).all(`"${word}"`),
    create,
    bulk: (name, notes) => {
      db.transaction(() => {
        for (const note of notes) create(name, note);
      })();
      return notes.length;
    },
    retitle: (name, id, title) => prepare(`update ${name} set title = ? where id = ?`).run(title, id),
    increment: (name, id) => prepare(`update ${name} set total = total + 1 where id = ?`).run(id),
  };
}

export async function openPostgres({ host, port, user, password, name: database }) {
  const { Pool } = require('pg');
  const pool = new Pool({ host, port, user, password, database, max: 10 });
  // A statement with a name is prepared once a connection.
  const ask = async (text, values) => (await pool.query({ name: text.slice(0, 60), text, values })).rows;
  const create = async (name, note) => {
    const values = valuesOf(note);
    await ask(
      insert(name, (at) => `$${at}`),
      values,
    );
    return values[0];
  };
  return {
    get: async (name, id) => (await ask(`select * from ${name} where id = $1`, [id]))[0],
    search: (name, author, above) =>
      ask(`select * from ${name} where author = $1 and total > $2 order by total limit 20`, [author, above]),
    words: (name, word) =>
      ask(`select * from ${name} where to_tsvector('simple', body) @@ to_tsquery('simple', $1) limit 20`, [word]),
    create,
    bulk: async (name, notes) => {
      const rows = notes.map(valuesOf);
      const columns = rows[0].map((_, column) => rows.map((row) => row[column]));
      await ask(
        `insert into ${name} (id, title, body, author, total) select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[])`,
        columns,
      );
      return notes.length;
    },
    retitle: (name, id, title) => ask(`update ${name} set title = $1 where id = $2`, [title, id]),
    increment: (name, id) => ask(`update ${name} set total = total + 1 where id = $1`, [id]),
  };
}
