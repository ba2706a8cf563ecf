/** A database of its own for a benchmark: the host's environment for it, and how it is dropped. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const knex = createRequire(import.meta.url)('knex');
const name = `apps_bench_${process.pid}`;

async function sqlite() {
  const folder = mkdtempSync(join(tmpdir(), 'apps-bench-'));
  return {
    env: { DATABASE_CLIENT: 'sqlite', DATABASE_FILENAME: join(folder, 'data.db') },
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The servers of the tests: at TEST_POSTGRES_HOST and so on, or at their usual local address. */
function server(client, driver, kind, port, user) {
  return async () => {
    const env = (part) => process.env[`TEST_${kind}_${part}`];
    const account = {
      host: env('HOST') ?? '127.0.0.1',
      port: Number(env('PORT') ?? port),
      user: env('USER') ?? user,
      password: env('PASSWORD') ?? '',
    };
    const ask = async (text) => {
      const database = client === 'postgres' ? { database: 'postgres' } : {};
      const connection = knex({ client: driver, connection: { ...account, ...database } });
      await connection.raw(text).finally(() => connection.destroy());
    };
    await ask(`create database ${name}`);
    return {
      env: {
        DATABASE_CLIENT: client,
        DATABASE_HOST: account.host,
        DATABASE_PORT: String(account.port),
        DATABASE_USERNAME: account.user,
        DATABASE_PASSWORD: account.password,
        DATABASE_NAME: name,
      },
      drop: () => ask(`drop database ${name}${client === 'postgres' ? ' with (force)' : ''}`),
    };
  };
}

export const databases = {
  sqlite,
  postgres: server('postgres', 'pg', 'POSTGRES', 5432, 'postgres'),
  mysql: server('mysql', 'mysql2', 'MYSQL', 3306, 'root'),
};
