import { setTimeout as pause } from 'node:timers/promises';
import knexFactory, { type Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useFolder, useHost, useThemes } from '../support/hooks';
import type { Host } from '../support/host';
import { send } from '../support/send';
import { SESSIONS, startPooler } from './failover/pooler';
import { hasProgram } from './monitoring/prometheus';

const isRunnable = hasProgram('pgbouncer') && (await availableClients()).includes('postgres');

describe.skipIf(!isRunnable)('hosts behind PgBouncer in transaction mode', () => {
  const database = useDatabase('postgres');
  const folder = useFolder('pgbouncer');
  const themes = useThemes(async (copy) => {
    const app = 'main/apps/pooled';
    await copy.write(`${app}/settings.yaml`, "acl:\n  rights:\n    editor: ['*']\n");
    await copy.write(
      `${app}/blocks/b.yaml`,
      'elements:\n  add: BASIC\n  found: BASIC\n  name: { type: TEXT, index_type: field }\n',
    );
    await copy.write(
      `${app}/blocks/b.js`,
      `export const add = ({ jobs }) => jobs.add('b/work', {}, { key: 'one' });
export const found = ({ app }) => app.search('name >= "a"', { sort_index: 'name' }).length;
export const work = ({ app }) => { app.create_record().save({ name: 'of a job' }); };
`,
    );
  });
  let pooler: Awaited<ReturnType<typeof startPooler>>;
  let pooled: Knex;
  beforeAll(async () => {
    const {
      DATABASE_HOST = '',
      DATABASE_PORT = '',
      DATABASE_USERNAME = '',
      DATABASE_PASSWORD = '',
    } = database().address.env;
    const server = { host: DATABASE_HOST, port: DATABASE_PORT, user: DATABASE_USERNAME, password: DATABASE_PASSWORD };
    pooler = await startPooler(folder, server);
    await pooler.start();
    const connection = { host: '127.0.0.1', port: pooler.port, user: server.user, database: nameOf() };
    pooled = knexFactory({ client: 'pg', connection, pool: { min: 0, max: SESSIONS } });
  });
  afterAll(async () => {
    await pooled?.destroy();
    await pooler?.stop();
  });

  const nameOf = () => String(database().address.env.DATABASE_NAME);
  const direct = () => {
    const { DATABASE_HOST, DATABASE_PORT, DATABASE_USERNAME, DATABASE_PASSWORD } = database().address.env;
    return `postgres://${DATABASE_USERNAME}:${DATABASE_PASSWORD}@${DATABASE_HOST}:${DATABASE_PORT}/${nameOf()}`;
  };
  const behind = (apps: object) => ({
    themesDirectory: themes.directory,
    env: {
      ...database().address.env,
      ...configured({ apps }),
      APPS_THEME: 'main',
      DATABASE_HOST: '127.0.0.1',
      DATABASE_PORT: String(pooler.port),
    },
  });
  const withDirect = useHost(() => behind({ directConnection: direct() }));
  // Its own jobs are done by the other one.
  const without = useHost(() => behind({}));

  const ask = async (host: Host, method: string, path: string, json?: unknown) => {
    const got = await send<Record<string, never>>(host.url, { method: 'GET', path: '/site/@@apps/pooled' });
    const token = String(got.headers['x-csrf-token'] ?? '');
    const headers = { accept: 'application/json', 'x-csrf-token': token };
    return send<never>(host.url, { method, path: `/site/@@apps/pooled${path}`, json, headers });
  };

  test('records, searches and logic of both are those of one database, under load', async () => {
    const hosts = [withDirect, without];
    const work = async (n: number) => {
      const host = hosts[n % 2] as Host;
      const made = await ask(host, 'POST', '/records', [{ name: `a ${n}` }]);
      expect(made.status, made.text).toBe(201);
      expect((await ask(host, 'GET', '/blocks/b/found')).status).toBe(200);
    };
    // More at once than there are sessions, and each statement several times.
    await Promise.all(
      Array.from({ length: 12 }, async (_, at) => {
        for (let n = at; n < 120; n += 12) await work(n);
      }),
    );
    for (const host of hosts) expect((await ask(host, 'GET', '/blocks/b/found')).json).toBe(120);
  });

  test('nothing stays in the sessions of the pool', async () => {
    const left = await Promise.all(
      Array.from({ length: SESSIONS }, () =>
        pooled.transaction(async (trx) => {
          // Each holds its session until all have one.
          await pause(200);
          const { rows } = await trx.raw(
            "select (select count(*)::int from pg_prepared_statements) as prepared, current_setting('statement_timeout') as time, current_setting('jit') as jit, (select count(*)::int from pg_listening_channels()) as channels, pg_backend_pid() as pid",
          );
          return rows[0];
        }),
      ),
    );
    expect(new Set(left.map(({ pid }) => pid)).size).toBe(SESSIONS);
    for (const one of left) expect(one).toMatchObject({ prepared: 0, time: '0', jit: 'on', channels: 0 });
  });

  test('the host that may reach the server hears of jobs, the other one looks for them and says so', async () => {
    const sessions = await database().knex.raw<{ rows: { query: string }[] }>(
      'select query from pg_stat_activity where datname = current_database()',
    );
    expect(sessions.rows.filter(({ query }) => query === 'listen apps_changes; listen apps_jobs')).toHaveLength(1);
    expect(await without.printed()).toContain("With 'directConnection' in the configuration");
    expect(await withDirect.printed()).not.toContain('directConnection');
    expect((await ask(without, 'POST', '/blocks/b/add')).status).toBe(200);
    await expect
      .poll(async () => (await ask(without, 'GET', '/records')).text, { timeout: 10_000 })
      .toContain('of a job');
  });

  test('both go on after the pooler has restarted', async () => {
    await pooler.stop();
    expect((await ask(without, 'GET', '/records')).status).toBe(503);
    await pooler.start();
    for (const host of [withDirect, without]) {
      await expect.poll(async () => (await ask(host, 'GET', '/blocks/b/found')).status, { timeout: 10_000 }).toBe(200);
      expect(await host.printed()).not.toMatch(/unhandled|uncaught/i);
    }
  });
});
