import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useHost } from '../support/hooks';
import type { Host } from '../support/host';
import { send } from '../support/send';
import { fixtureThemes } from '../support/theme';
import { openWire, type Wire } from '../support/wire';

/** Log lines of the host, without its requests. */
const problemsOf = (host: Host) =>
  host
    .output()
    .split('\n')
    .filter((line) => line.includes('[apps]'))
    .join('\n');

const metricsToken = 'token-of-metrics-of-these-tests';

/** The statement with which Strapi prepares a new connection. */
const preparation = { postgres: /SET search_path/, mysql: /set session sql_require_primary_key/ };

const servers = (await availableClients()).filter((client) => client !== 'sqlite');
if (servers.length === 0) test.skip('without a database server there is nothing to test', () => {});

describe.skipIf(servers.length === 0).each(servers)('a host whose %s server goes away', (client) => {
  const database = useDatabase(client);
  let wire: Wire;
  beforeAll(async () => {
    const { DATABASE_HOST = '', DATABASE_PORT = '' } = database().address.env;
    wire = await openWire(DATABASE_HOST, Number(DATABASE_PORT));
  });
  afterAll(() => wire?.close());
  const host = useHost(() => ({
    themesDirectory: fixtureThemes,
    env: {
      ...database().address.env,
      ...configured({ apps: { metrics: { token: metricsToken } } }),
      APPS_THEME: 'main',
      DATABASE_HOST: '127.0.0.1',
      DATABASE_PORT: String(wire.port),
      DATABASE_CONNECTION_TIMEOUT: '3000',
    },
  }));
  let token = '';

  const ask = (method: string, path: string, json?: unknown) =>
    send<Record<string, never>>(host.url, {
      method,
      path: `/site/@@apps/${path}`,
      json,
      headers: { accept: 'application/json', 'x-csrf-token': token },
    });

  beforeAll(async () => {
    token = String((await ask('GET', 'open')).headers['x-csrf-token']);
  });

  test('a lost server is 503 with Retry-After, without details of the machine, until it is back', async () => {
    expect((await ask('PUT', 'open/record/a', { total: 1 })).status).toBe(201);
    const requests = () => [
      ask('GET', 'open/record/a'),
      ask('PATCH', 'open/record/a', { $inc: { total: 1 } }),
      ask('GET', 'open/records'),
      ask('POST', 'open', { n: 1 }),
      ask('POST', 'open/records', [{ n: 1 }, { n: 2 }]),
      ask('POST', 'open/search', { query: "id == 'a'" }),
      ask('DELETE', 'open/record/none'),
    ];
    wire.cut();
    for (const answer of await Promise.all(requests())) {
      expect([answer.status, answer.text], problemsOf(host)).toEqual([
        503,
        expect.stringContaining('ServiceUnavailableError'),
      ]);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      expect(answer.text).not.toMatch(/ECONN|127\.0\.0\.1|select|knex|node_modules/i);
    }
    wire.restore();
    expect((await ask('GET', 'open/record/a')).status).toBe(200);
    for (const answer of await Promise.all(requests())) expect(answer.status, answer.text).toBeLessThan(500);
  }, 60_000);

  test('a process without its database is not ready until it is back, and its metrics say so', async () => {
    const ready = () => send(host.url, { method: 'GET', path: '/_apps/ready' });
    const metrics = async () => {
      const headers = { authorization: `Bearer ${metricsToken}` };
      const { status, text } = await send(host.url, { method: 'GET', path: '/_apps/metrics', headers });
      return [status, /^apps_ready\{check="database"\} (\d)$/m.exec(text)?.[1]];
    };
    await expect.poll(async () => (await ready()).status).toBe(200);
    wire.cut();
    await expect
      .poll(async () => (await ready()).json)
      .toMatchObject({ status: 'unready', checks: { process: 'ok', database: 'cannot be reached', sandbox: 'ok' } });
    const { status, text, headers } = await ready();
    expect([status, headers['retry-after']]).toEqual([503, '2']);
    expect(text).not.toMatch(/ECONN|127\.0\.0\.1|select|knex|node_modules/i);
    expect(await metrics()).toEqual([200, '0']);
    wire.restore();
    await expect.poll(async () => (await ready()).status).toBe(200);
    expect(await metrics()).toEqual([200, '1']);
  }, 30_000);

  test('a host whose server does not answer is unready within two seconds', async () => {
    const ready = () => send<{ checks: object }>(host.url, { method: 'GET', path: '/_apps/ready' });
    wire.hold();
    await expect
      .poll(async () => (await ready()).json)
      .toMatchObject({ checks: { process: 'ok', database: 'does not answer', sandbox: 'ok' } });
    const begun = performance.now();
    for (const { status } of await Promise.all(Array.from({ length: 20 }, ready))) expect(status).toBe(503);
    expect(performance.now() - begun).toBeLessThan(4_000);
    wire.cut();
    wire.restore();
    await expect.poll(async () => (await ready()).status).toBe(200);
  }, 30_000);

  test('a change whose COMMIT never arrived is neither acknowledged nor stored', async () => {
    expect((await ask('PUT', 'open/record/c', { total: 1 })).status).toBe(201);
    wire.cutAt(/update \W?apps_records/, /COMMIT/);
    const { status, text } = await ask('PATCH', 'open/record/c', { $inc: { total: 1 } });
    expect(status, text).toBe(503);
    expect((await ask('GET', 'open/record/c')).json).toMatchObject({ total: 1 });
    expect((await ask('PATCH', 'open/record/c', { $inc: { total: 1 } })).status).toBe(200);
    expect((await ask('GET', 'open/record/c')).json).toMatchObject({ total: 2 });
  });

  test('a connection that is lost while Strapi prepares it does not end the process', async () => {
    wire.cut();
    expect((await ask('GET', 'open/record/a')).status).toBe(503);
    wire.cutAt(preparation[client], preparation[client]);
    wire.restore();
    for (const { status } of await Promise.all(Array.from({ length: 10 }, () => ask('GET', 'open/record/a'))))
      expect([200, 503]).toContain(status);
    expect(wire.hasCut()).toBe(true);
    expect((await ask('GET', 'open/record/a')).status).toBe(200);
  });

  test('a server that restarts while requests are under way loses no acknowledged change', async () => {
    await ask('PUT', 'open/record/b', { total: 0 });
    let acknowledged = 0;
    let failed = 0;
    const wrong: string[] = [];
    let restarting = true;
    const worker = async () => {
      while (restarting) {
        const { status, text } = await ask('PATCH', 'open/record/b', { $inc: { total: 1 } });
        if (status === 200) acknowledged += 1;
        else {
          if (status !== 409 && status !== 503) wrong.push(text);
          failed += 1;
          await pause(20);
        }
      }
    };
    const workers = Promise.all(Array.from({ length: 8 }, worker));
    for (let time = 0; time < 4; time += 1) {
      const before = acknowledged;
      await expect.poll(() => acknowledged).toBeGreaterThan(before + 8);
      wire.cut();
      await pause(150);
      wire.restore();
    }
    restarting = false;
    await workers;
    expect(wrong, problemsOf(host)).toEqual([]);
    expect(failed).toBeGreaterThan(0);
    // A commit whose answer was lost is looked up: what counts was acknowledged, and nothing else counts.
    expect((await ask('GET', 'open/record/b')).json).toMatchObject({ total: acknowledged });
    expect((await ask('PATCH', 'open/record/b', { $inc: { total: 1 } })).status).toBe(200);
  }, 60_000);

  test('requests work again after sessions of the server were ended', async () => {
    const other = `apps_test_%`;
    if (client === 'postgres')
      await database().knex.raw(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and datname like ?',
        [other],
      );
    else {
      const [rows] = await database().knex.raw(
        'select id from information_schema.processlist where db = database() and id <> connection_id()',
      );
      for (const { id } of rows)
        await database()
          .knex.raw('kill ?', [id])
          .catch(() => undefined);
    }
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask('GET', 'open/record/a')));
    for (const { status } of answers) expect([200, 503]).toContain(status);
    // Reads that come together share a connection: not each of those that have ended was used, and left the pool.
    await expect.poll(async () => (await ask('GET', 'open/record/a')).status).toBe(200);
  });
});
