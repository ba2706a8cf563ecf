import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestDatabase } from '../plugins/apps/server/src/records/test-databases';
import { availableClients, createTestDatabase } from './support/databases';
import { type Host, startHost } from './support/host';
import { send } from './support/send';
import { fixtureThemes } from './support/theme';

/** A stretch of wire before a database server, which can be cut: what a restart of the server looks like from the host. */
async function openWire(host: string, port: number) {
  const sockets = new Set<Socket>();
  let cut = false;
  let cutAfter: RegExp | undefined;
  const server: Server = createServer((client) => {
    if (cut) return void client.destroy();
    const upstream = connect(port, host);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      let changed = false;
      from.on('data', (chunk: Buffer) => {
        changed ||= from === client && cutAfter?.test(chunk.toString('latin1')) === true;
        if (changed && chunk.includes('COMMIT')) {
          cutAfter = undefined;
          upstream.destroy();
        } else if (!to.write(chunk)) {
          from.pause();
          to.once('drain', () => from.resume());
        }
      });
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as { port: number }).port,
    cut() {
      cut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend() {
      cut = false;
    },
    /** Loses the connection that next sends such a statement: at its COMMIT, which is lost too. Others commit meanwhile. */
    cutCommitOf(statement: RegExp) {
      cutAfter = statement;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** What the host has logged besides its requests. */
const problemsOf = (host: Host) =>
  host
    .output()
    .split('\n')
    .filter((line) => line.includes('[apps]'))
    .join('\n');

const servers = (await availableClients()).filter((client) => client !== 'sqlite');

describe.skipIf(servers.length === 0).each(servers)('a host whose %s server goes away', (client) => {
  let database: TestDatabase;
  let host: Host;
  let wire: Awaited<ReturnType<typeof openWire>>;
  let token = '';

  const ask = (method: string, path: string, json?: unknown) =>
    send<Record<string, never>>(host.url, {
      method,
      path: `/site/@@apps/${path}`,
      json,
      headers: { accept: 'application/json', 'x-csrf-token': token },
    });

  beforeAll(async () => {
    database = await createTestDatabase(client, { table: false });
    const { DATABASE_HOST = '', DATABASE_PORT = '' } = database.place.env;
    wire = await openWire(DATABASE_HOST, Number(DATABASE_PORT));
    const env = {
      ...database.place.env,
      APPS_THEME: 'main',
      DATABASE_HOST: '127.0.0.1',
      DATABASE_PORT: String(wire.port),
      DATABASE_CONNECTION_TIMEOUT: '3000',
    };
    host = await startHost({ themesDirectory: fixtureThemes, env });
    token = String((await ask('GET', 'open')).headers['x-csrf-token']);
  }, 180_000);
  afterAll(async () => {
    await host?.stop();
    wire?.close();
    await database?.destroy();
  });

  test('answers 503 with Retry-After, says nothing about the machine, and heals by itself', async () => {
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
    wire.mend();
    expect((await ask('GET', 'open/record/a')).status).toBe(200);
    for (const answer of await Promise.all(requests())) expect(answer.status, answer.text).toBeLessThan(500);
  }, 60_000);

  test('a change whose COMMIT never arrived is not acknowledged, and is not there', async () => {
    expect((await ask('PUT', 'open/record/c', { total: 1 })).status).toBe(201);
    wire.cutCommitOf(/update \W?apps_records/);
    const { status, text } = await ask('PATCH', 'open/record/c', { $inc: { total: 1 } });
    expect(status, text).toBe(503);
    expect((await ask('GET', 'open/record/c')).json).toMatchObject({ total: 1 });
    expect((await ask('PATCH', 'open/record/c', { $inc: { total: 1 } })).status).toBe(200);
    expect((await ask('GET', 'open/record/c')).json).toMatchObject({ total: 2 });
  });

  test('a server that restarts while requests are under way breaks none for good, and none half', async () => {
    await ask('PUT', 'open/record/b', { total: 0 });
    let acknowledged = 0;
    let failed = 0;
    const wrong: string[] = [];
    const worker = async (until: number) => {
      while (Date.now() < until) {
        const { status, text } = await ask('PATCH', 'open/record/b', { $inc: { total: 1 } });
        if (status === 200) acknowledged += 1;
        else {
          if (status !== 409 && status !== 503) wrong.push(text);
          failed += 1;
          await new Promise((done) => setTimeout(done, 20));
        }
      }
    };
    const until = Date.now() + 3_000;
    const workers = Promise.all(Array.from({ length: 8 }, () => worker(until)));
    for (let time = 0; time < 4; time += 1) {
      await new Promise((done) => setTimeout(done, 400));
      wire.cut();
      await new Promise((done) => setTimeout(done, 150));
      wire.mend();
    }
    await workers;
    expect(wrong, problemsOf(host)).toEqual([]);
    expect(failed).toBeGreaterThan(0);
    const { total } = (await ask('GET', 'open/record/b')).json as unknown as { total: number };
    // A commit whose answer was lost may count although it was not acknowledged; one that was acknowledged always does.
    expect(total).toBeGreaterThanOrEqual(acknowledged);
    expect(total).toBeLessThanOrEqual(acknowledged + failed);
    expect((await ask('PATCH', 'open/record/b', { $inc: { total: 1 } })).status).toBe(200);
  }, 60_000);

  test('ended sessions of the server are no failure for good', async () => {
    const other = `apps_test_%`;
    if (client === 'postgres')
      await database.knex.raw(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and datname like ?',
        [other],
      );
    else {
      const [rows] = await database.knex.raw(
        'select id from information_schema.processlist where db = database() and id <> connection_id()',
      );
      for (const { id } of rows) await database.knex.raw('kill ?', [id]).catch(() => undefined);
    }
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask('GET', 'open/record/a')));
    for (const { status } of answers) expect([200, 503]).toContain(status);
    expect((await ask('GET', 'open/record/a')).status).toBe(200);
  });
});
