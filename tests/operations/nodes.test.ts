import { setTimeout as pause } from 'node:timers/promises';
import knexFactory from 'knex';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../scripts/server-process.mjs';
import { configured } from '../support/configure';
import { wantedClients } from '../support/databases';
import { useFolder, useThemes } from '../support/hooks';
import { type Host, startHost } from '../support/host';
import { send } from '../support/send';
import { startPooler } from './failover/pooler';
import { postgresRig, type Rig } from './failover/rigs';
import { postgresPrograms } from './failover/servers';
import { hasProgram } from './monitoring/prometheus';
import { startNginx } from './proxy/nginx';

/**
 * `npm run test:nodes`: each event several times, and a process that stands still for a minute; `TEST_NODES=short` has each once, as
 * in `npm test`.
 */
const form = process.env.TEST_NODES ?? 'short';
const isLong = form === 'long';
const ROUNDS = isLong ? 3 : 1;
/** Milliseconds for which a process stands still. */
const STILL = isLong ? 60_000 : 6_000;
/** Milliseconds by which a clock jumps. */
const JUMP = 10 * 60_000;
const CLIENTS = 6;

const logic = `
/** A record and a job in one request. */
export function add(context) {
  const { n } = context.request.body;
  context.app.create_record('request-' + n).save({ kind: 'request', n });
  context.jobs.add('queue/effect', { n });
}
/** What must happen once. */
export const effect = ({ app, params }) => void app.create_record().save({ kind: 'effect', n: params.n });
/** Kept until it changes. */
export const total = ({ app }) => String(app.count('kind == "request"'));
`;
const app = 'main/apps/tasks';

const needs: [name: string, isThere: boolean][] = [
  ['PostgreSQL', wantedClients().includes('postgres') && (await postgresPrograms()) !== undefined],
  ['PgBouncer', hasProgram('pgbouncer')],
  ['nginx', hasProgram('nginx')],
];
const missing = needs.filter(([, isThere]) => !isThere).map(([name]) => name);
if (form && missing.length > 0 && process.env.CI === 'true')
  throw new Error(`With CI=true, ${missing.join(', ')} must be there`);
if (form && missing.length > 0) console.warn(`NOT TESTED, because it is missing: ${missing.join(', ')}`);

/** nginx, three server processes, PgBouncer, and a PostgreSQL primary with a synchronous standby. */
describe.skipIf(!form || missing.length > 0)('three processes behind nginx and PgBouncer', () => {
  const folder = useFolder('nodes');
  const themes = useThemes({
    [`${app}/settings.yaml`]: "acl:\n  rights:\n    editor: ['*']\n",
    [`${app}/blocks/queue.js`]: logic,
    [`${app}/blocks/queue.yaml`]:
      'elements:\n  add: BASIC\n  effect: BASIC\n  total: BASIC\n  kind: { type: TEXT, index_type: field }\n',
    [`${app}/blocks/queue.html`]: '<p>total: {total}</p>',
  });
  let rig: Rig;
  let pooler: Awaited<ReturnType<typeof startPooler>>;
  let nginx: Awaited<ReturnType<typeof startNginx>>;
  const ports: number[] = [];
  const hosts: Host[] = [];

  const start = (at: number) =>
    startHost({
      themesDirectory: themes.directory,
      env: {
        ...rig.env,
        ...configured({
          apps: {
            jobs: { retries: 50, backoff: 1, lease: 10 },
            limits: { formPosts: 0, isolates: 4 },
            directConnection: `postgres://${rig.env.DATABASE_USERNAME}@127.0.0.1:${rig.wire.port}/${rig.env.DATABASE_NAME}`,
          },
        }),
        // A process of its own, which signals reach.
        NODE_ENV: 'production',
        IS_PROXIED: 'true',
        APPS_THEME: 'main',
        DATABASE_PORT: String(pooler.port),
        PORT: String(ports[at]),
      },
    });

  beforeAll(async () => {
    rig = await postgresRig(folder);
    pooler = await startPooler(folder, {
      host: '127.0.0.1',
      port: String(rig.wire.port),
      user: 'postgres',
      password: '',
    });
    await pooler.start();
    for (let at = 0; at < 3; at += 1) ports.push(await freePort());
    hosts.push(...(await Promise.all(ports.map((_, at) => start(at)))));
    nginx = await startNginx(folder(), ...hosts.map(({ url }) => url));
  }, 180_000);
  afterAll(async () => {
    await nginx?.stop();
    await Promise.all(hosts.map((host) => host.stop()));
    await pooler?.stop();
    await rig?.remove();
  });

  const pidOf = (host: Host) => host.run(() => process.pid);

  /** What happens to the nodes; each resolves when all are there again. */
  const events: Record<string, (round: number) => Promise<void>> = {
    async 'each process is taken out of the proxy, ended, and started again'() {
      for (const [at, host] of hosts.entries()) {
        await nginx.without(host.url);
        await host.stop();
        hosts[at] = await start(at);
        await nginx.without();
      }
    },
    async 'the standby takes over from the primary'() {
      await rig.failures['killed, and taken over by the standby']?.();
      await rig.repair();
    },
    async 'the pooler is killed and started again'() {
      await pooler.stop();
      await pause(500);
      await pooler.start();
    },
    async 'a process stands still'(round) {
      const host = hosts[round % hosts.length] as Host;
      const pid = await pidOf(host);
      process.kill(pid, 'SIGSTOP');
      await pause(STILL);
      process.kill(pid, 'SIGCONT');
      // What it has kept is old: it says so itself, or shows what the others have stored.
      const other = hosts[(round + 1) % hosts.length] as Host;
      const before = await totalOf(other.url);
      expect(await totalOf(host.url)).toBeGreaterThanOrEqual(before);
    },
    async 'a clock jumps, and jumps back'(round) {
      const host = hosts[round % hosts.length] as Host;
      await host.run((_, ahead) => {
        const { now } = Date;
        const jumped = () => now() + ahead;
        Date.now = jumped;
        setTimeout(() => {
          Date.now = now;
        }, 3_000);
      }, JUMP);
      await pause(4_000);
    },
  };

  /** The kinds of lines in a log of nginx, each with the time of its first one. */
  function reasons(log: string): string[] {
    const kinds = new Map<string, string>();
    for (const [, time = '', text = ''] of log.matchAll(/^\S+ (\S+) \[\w+\] \S+ (.*)$/gm)) {
      const kind = text.replace(/,.*/s, '').replace(/^\*\d+ /, '');
      if (!kinds.has(kind)) kinds.set(kind, time);
    }
    return [...kinds].map(([kind, time]) => `nginx, first at ${time}: ${kind}`);
  }

  const headers = { accept: 'application/json', host: 'www.example.com' };

  async function totalOf(origin: string): Promise<number> {
    const path = '/site/@@apps/tasks/blocks/queue/total';
    for (;;) {
      const answer = await send<string>(origin, { method: 'GET', path, headers });
      if (answer.status === 200) return Number(answer.json);
      expect(answer.status, answer.text).toBe(503);
      await pause(50);
    }
  }

  test('lose nothing that was acknowledged, run no job twice, and never answer with an error of their own', async () => {
    const got = await send(nginx.secure, { method: 'GET', path: '/site/@@apps/tasks', headers });
    const token = String(got.headers['x-csrf-token']);
    const answers = new Map<number, string>();
    const looks: string[] = [];
    let [isOver, next, good] = [false, 0, 0];

    async function add(n: number): Promise<void> {
      const answer = await send<{ error?: { name: string } }>(nginx.secure, {
        method: 'POST',
        path: '/site/@@apps/tasks/blocks/queue/add',
        headers: { ...headers, 'x-csrf-token': token },
        json: { n },
      });
      const name =
        answer.status === 200
          ? 'stored'
          : (answer.status !== 500 && answer.json?.error?.name) || `${answer.status} ${answer.text}`;
      answers.set(n, name);
      if (name === 'stored') good += 1;
      else await pause(20);
      if (name === 'ServiceUnavailableError') expect(answer.headers['retry-after']).toBeDefined();
    }
    /** A visitor, who may get a 503 while a database is away. */
    async function look(): Promise<void> {
      const path = '/site/@@apps/tasks/blocks/queue';
      const page = await send(nginx.secure, { method: 'GET', path, headers: { ...headers, accept: 'text/html' } });
      looks.push(
        page.status === 200 ? (/total: \d+/.exec(page.text) ? '200' : page.text.slice(0, 200)) : String(page.status),
      );
      await pause(50);
    }
    const loop = async (work: () => Promise<void>) => {
      while (!isOver) await work();
    };
    const sending = Promise.all([...Array.from({ length: CLIENTS }, () => loop(() => add(next++))), loop(look)]);
    const more = (count: number) => {
      const before = good;
      return expect.poll(() => good, { timeout: 90_000, interval: 10 }).toBeGreaterThan(before + count);
    };
    const took: string[] = [];
    try {
      for (let round = 0; round < ROUNDS; round += 1)
        for (const [name, happen] of Object.entries(events)) {
          await more(20);
          const [begun, before] = [performance.now(), good];
          await happen(round);
          await more(0);
          const at = new Date().toISOString().slice(11, 19);
          took.push(`${at} ${name}: ${Math.round(performance.now() - begun)} ms, ${good - before} stored meanwhile`);
        }
      await more(20);
    } finally {
      isOver = true;
      await sending;
    }

    const { port } = rig.server();
    const { DATABASE_USERNAME: user = '', DATABASE_NAME: database = '' } = rig.env;
    const knex = knexFactory({ client: 'pg', connection: { host: '127.0.0.1', port, user, database } });
    try {
      const left = async () =>
        Number((await knex('apps_jobs').whereIn('state', ['waiting', 'running']).count({ n: '*' }))[0]?.n);
      await expect.poll(left, { timeout: 120_000, interval: 200 }).toBe(0);
      const rows: { items: string }[] = await knex('apps_records').where({ app: 'tasks' }).select('items');
      const records = rows.map(({ items }) => JSON.parse(items) as { kind: string; n: number });
      const requests = new Set(records.filter(({ kind }) => kind === 'request').map(({ n }) => n));
      const effects = new Map<number, number>();
      for (const { kind, n } of records) if (kind === 'effect') effects.set(n, (effects.get(n) ?? 0) + 1);
      const answered = (name: string) => [...answers].filter(([, one]) => one === name).map(([n]) => n);
      const names = [...new Set(answers.values())].sort();
      const count = (list: string[]) =>
        [...new Set(list)].map((one) => `${list.filter((two) => two === one).length} ${one}`);
      console.log(
        [
          `${answers.size} requests: ${names.map((name) => `${answered(name).length} ${name}`).join(', ')}`,
          `${requests.size} stored, ${effects.size} effects; pages: ${count(looks).join(', ')}`,
          ...took,
          ...reasons(await nginx.errors()),
        ].join('\n'),
      );
      expect(answered('stored').filter((n) => !requests.has(n))).toEqual([]);
      expect(answered('ServiceUnavailableError').filter((n) => requests.has(n))).toEqual([]);
      expect([...requests].filter((n) => effects.get(n) !== 1)).toEqual([]);
      expect([...effects.keys()].filter((n) => !requests.has(n))).toEqual([]);
      expect(
        names.filter((name) => !['stored', 'ServiceUnavailableError', 'OutcomeUnknownError'].includes(name)),
      ).toEqual([]);
      expect(looks.filter((one) => one !== '200' && one !== '503')).toEqual([]);
      for (const host of hosts) expect(await host.printed()).not.toMatch(/unhandled|uncaught/i);
    } finally {
      await knex.destroy();
    }
  }, 1_800_000);
});
