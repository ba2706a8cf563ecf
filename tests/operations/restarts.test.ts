import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useHost, useService, useThemes } from '../support/hooks';
import { send } from '../support/send';

/** Logic that waits for an answer of the service, and stores it. */
const logic = (origin: string) => `
export function save(context) {
  const { text } = context.fetch('${origin}/');
  context.app.create_record({ id: text, items: {} });
  return { text };
}
`;

describe.each(await availableClients())('a host on %s', (client) => {
  const service = useService();
  const themes = useThemes(async (themes) => {
    const app = 'main/apps/slow';
    await themes.write(`${app}/settings.yaml`, "acl:\n  rights:\n    author: ['*']\n    reader: ['*']\n");
    await themes.write(`${app}/blocks/b.yaml`, 'elements:\n  save: BASIC\n');
    await themes.write(`${app}/blocks/b.html`, '{save}');
    await themes.write(`${app}/blocks/b.js`, logic(service.origin));
  });
  const database = useDatabase(client);
  const env = () => ({
    ...database().address.env,
    ...configured({
      apps: { fetch: { hosts: { slow: [service.host] }, private: [service.host] }, jobs: { backoff: 1 } },
    }),
    APPS_THEME: 'main',
  });
  const host = useHost(() => ({ themesDirectory: themes.directory, env: env() }));
  let token = '';
  const headers = () => ({ accept: 'application/json', 'x-csrf-token': token });
  const path = '/site/@@apps/slow/blocks/b/save';
  beforeAll(async () => {
    const got = await send(host.url, { method: 'GET', path: '/site/@@apps/slow', headers: headers() });
    token = String(got.headers['x-csrf-token']);
    service.answer = (_asked, response) => response.end('first');
    const warm = await send(host.url, { method: 'POST', path, headers: headers() });
    expect([warm.status, warm.text]).toEqual([200, expect.stringContaining('first')]);
  });

  /** Sends requests over a kept connection, as a proxy does, until an answer closes it; counts the answers. */
  async function visitor(answers: unknown[]): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = () =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const asked = request(`${host.url}/site/@@apps/slow/records`, { agent, headers: headers() }, (got) =>
          got.resume().on('end', () => resolve(got)),
        );
        asked.on('error', reject).end();
      });
    for (let isClosed = false; !isClosed; await pause(5)) {
      const { statusCode, headers } = await ask();
      answers.push(statusCode);
      isClosed = headers.connection === 'close';
    }
    agent.destroy();
  }

  test.runIf(client === 'postgres')('sessions of an idle host that end do not end the process', async () => {
    const get = () => send(host.url, { method: 'GET', path: '/site/@@apps/slow/records', headers: headers() });
    const sessions = () =>
      database().knex.raw<{ rows: { pid: number; query: string }[] }>(
        'select pid, query from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
    const listening = async () => (await sessions()).rows.some(({ query }) => /^listen/i.test(query));
    for (let time = 0; time < 5; time += 1) {
      expect((await get()).status).toBe(200);
      await expect.poll(listening, { message: 'jobs of other processes are heard of' }).toBe(true);
      const { rows } = await sessions();
      expect(rows.length).toBeGreaterThan(1);
      for (const { pid } of rows) await database().knex.raw('select pg_terminate_backend(?)', [pid]);
      await expect.poll(async () => (await get()).status).toBe(200);
    }
    expect(await host.printed()).not.toMatch(/unhandled|uncaught/i);
  });

  test('after SIGTERM an open request with logic and those over kept connections are answered, no connection is taken, and the process is not ready', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    /** A connection that a proxy has opened before. */
    const early = connect(Number(new URL(host.url).port), '127.0.0.1');
    await once(early, 'connect');
    let ready = '';
    early.setEncoding('utf8').on('data', (piece) => {
      ready += piece;
    });
    const answers: unknown[] = [];
    const visitors = Promise.all(Array.from({ length: 4 }, () => visitor(answers)));
    let ended = 0;
    service.answer = async (_asked, response) => {
      await expect.poll(() => answers.length).toBeGreaterThan(12);
      await host.run(() => void setImmediate(() => process.kill(process.pid, 'SIGTERM')));
      // Until the server takes no more connections.
      const refused = () =>
        send(host.url, { method: 'GET', path: '/_health' }).then(
          () => false,
          () => true,
        );
      await expect.poll(refused).toBe(true);
      early.write('GET /_apps/ready HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
      await once(early, 'close');
      ended = performance.now();
      response.end('second');
    };
    const answer = await new Promise<{ status?: number; connection?: string; text: string }>((resolve, reject) => {
      const asked = request(`${host.url}${path}`, { method: 'POST', agent, headers: headers() }, (got) => {
        let text = '';
        got.on('data', (chunk) => (text += chunk));
        got.on('end', () => resolve({ status: got.statusCode, connection: got.headers.connection, text }));
      });
      asked.on('error', reject).end();
    });
    agent.destroy();
    await visitors;
    expect(new Set(answers)).toEqual(new Set([200]));
    expect(answer).toEqual({ status: 200, connection: 'close', text: '{"text":"second"}' });
    expect(ended).toBeGreaterThan(0);
    expect(ready).toMatch(/^HTTP\/1\.1 503 /);
    expect(ready).toContain('"process":"is ending"');
  });
});
