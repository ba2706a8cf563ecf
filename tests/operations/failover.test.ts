import { setTimeout as pause } from 'node:timers/promises';
import knexFactory from 'knex';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { wantedClients } from '../support/databases';
import { useFolder, useHost, useThemes } from '../support/hooks';
import type { Host } from '../support/host';
import { send } from '../support/send';
import { mariaDbRig, postgresRig, type Rig } from './failover/rigs';
import { hasMariaDb, postgresPrograms } from './failover/servers';

/** Failures of each database, one after the other while requests come; without it one of each kind, and one server process. */
const wanted = process.env.TEST_FAILURES;
const clients = 8;

const logic = `
/** A record and a job in one request. */
export function add(context) {
  const { n } = context.request.body;
  context.app.create_record('request-' + n).save({ kind: 'request', n });
  context.jobs.add('queue/effect', { n });
}
/** What must happen once. */
export const effect = ({ app, params }) => void app.create_record().save({ kind: 'effect', n: params.n });
`;

const asked = [
  {
    name: 'PostgreSQL with a synchronous standby',
    client: 'postgres',
    make: postgresRig,
    isThere: (await postgresPrograms()) !== undefined,
  },
  { name: 'MariaDB', client: 'mysql', make: mariaDbRig, isThere: hasMariaDb() },
].filter(({ client }) => wantedClients().includes(client as 'postgres'));
const rigs = asked.filter(({ isThere }) => isThere);
const absent = asked.filter(({ isThere }) => !isThere).map(({ name }) => name);
if (absent.length > 0 && process.env.CI === 'true')
  throw new Error(`The programs are missing of ${absent.join(' and ')}: with CI=true they are needed`);
if (absent.length > 0) console.warn(`NOT TESTED, because the programs are missing: ${absent.join(', ')}`);
if (rigs.length === 0) test.skip('without programs of a database server there is nothing to test', () => {});

describe.skipIf(rigs.length === 0).each(rigs)('$name that fails', ({ client, make }) => {
  const folder = useFolder('failover');
  let rig: Rig;
  beforeAll(async () => {
    rig = await make(folder);
  });
  afterAll(() => rig?.remove());
  const themes = useThemes({
    'main/apps/tasks/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
    'main/apps/tasks/blocks/queue.js': logic,
    'main/apps/tasks/blocks/queue.yaml': 'elements:\n  add: BASIC\n  effect: BASIC\n',
  });
  const jobs = { retries: 50, backoff: 1, lease: 10 };
  const options = () => ({
    themesDirectory: themes.directory,
    env: { ...rig.env, ...configured({ apps: { jobs, limits: { formPosts: 0, isolates: 4 } } }), APPS_THEME: 'main' },
  });
  const hosts: Host[] = Array.from({ length: wanted === undefined ? 1 : 2 }, () => useHost(options));

  test('loses nothing that was acknowledged, stores nothing that was refused, and runs no job twice', async () => {
    const got = await send(hosts[0]?.url ?? '', {
      method: 'GET',
      path: '/site/@@apps/tasks',
      headers: { accept: 'application/json' },
    });
    const headers = { accept: 'application/json', 'x-csrf-token': String(got.headers['x-csrf-token']) };
    const answers = new Map<number, string>();
    const times: number[] = [];
    let [isOver, next, good] = [false, 0, 0];

    async function post(n: number): Promise<void> {
      const begun = performance.now();
      const path = '/site/@@apps/tasks/blocks/queue/add';
      const answer = await send<{ error?: { name: string } }>(hosts[n % hosts.length]?.url ?? '', {
        method: 'POST',
        path,
        headers,
        json: { n },
      });
      times.push(performance.now() - begun);
      const name = answer.status === 200 ? 'stored' : (answer.json?.error?.name ?? answer.text);
      answers.set(n, name);
      if (name === 'stored') good += 1;
      else await pause(20);
      if (name === 'ServiceUnavailableError') expect(answer.headers['retry-after']).toBeDefined();
    }
    const sending = Promise.all(
      Array.from({ length: clients }, async () => {
        while (!isOver) await post(next++);
      }),
    );

    const kinds = Object.keys(rig.failures);
    const failures = Number(wanted ?? kinds.length);
    const back: number[] = [];
    const counts: Record<string, number> = {};
    const more = (count: number) => {
      const before = good;
      return expect.poll(() => good, { timeout: 60_000, interval: 10 }).toBeGreaterThan(before + count);
    };
    try {
      for (let time = 0; time < failures; time += 1) {
        await more(10);
        await pause(Math.random() * 300);
        // Each once, then by chance.
        const kind = kinds[time < kinds.length ? time : Math.floor(Math.random() * kinds.length)] as string;
        counts[kind] = (counts[kind] ?? 0) + 1;
        const begun = performance.now();
        await rig.failures[kind]?.();
        await more(0);
        back.push(performance.now() - begun);
        await rig.repair();
      }
      await more(10);
    } finally {
      isOver = true;
      await sending;
    }

    const { port } = rig.server();
    const connection = {
      host: '127.0.0.1',
      port,
      user: rig.env.DATABASE_USERNAME as string,
      database: rig.env.DATABASE_NAME as string,
    };
    const knex = knexFactory({ client: client === 'postgres' ? 'pg' : 'mysql2', connection });
    try {
      const left = async () =>
        Number((await knex('apps_jobs').whereIn('state', ['waiting', 'running']).count({ n: '*' }))[0]?.n);
      await expect.poll(left, { timeout: 120_000, interval: 200 }).toBe(0);
      const rows: { items: string }[] = await knex('apps_records').where({ app: 'tasks' }).select('items');
      const records = rows.map(
        ({ items }) => (typeof items === 'string' ? JSON.parse(items) : items) as { kind: string; n: number },
      );
      const requests = new Set(records.filter(({ kind }) => kind === 'request').map(({ n }) => n));
      const effects = new Map<number, number>();
      for (const { kind, n } of records) if (kind === 'effect') effects.set(n, (effects.get(n) ?? 0) + 1);
      const answered = (name: string) => [...answers].filter(([, one]) => one === name).map(([n]) => n);
      const printed = (await Promise.all(hosts.map((host) => host.printed()))).join('\n');
      const lookedUp = ['stored', 'not stored', 'not known'].map(
        (outcome) =>
          `${printed.match(new RegExp(`COMMIT was lost; .*(was|is) ${outcome}`, 'g'))?.length ?? 0} ${outcome}`,
      );
      const names = [...new Set(answers.values())].sort();
      console.log(
        `${client}: ${failures} failures ${JSON.stringify(counts)}; ${answers.size} requests: ${names.map((name) => `${answered(name).length} ${name}`).join(', ')}; ${requests.size} stored, ${effects.size} effects; commits looked up: ${lookedUp.join(', ')}; an answer again after ${Math.round(Math.max(...back))} ms at most, ${Math.round(back.sort((a, b) => a - b)[Math.floor(back.length / 2)] ?? 0)} ms at the median; the longest request took ${Math.round(Math.max(...times))} ms`,
      );
      expect(answered('stored').filter((n) => !requests.has(n))).toEqual([]);
      expect(answered('ServiceUnavailableError').filter((n) => requests.has(n))).toEqual([]);
      expect([...requests].filter((n) => effects.get(n) !== 1)).toEqual([]);
      expect([...effects.keys()].filter((n) => !requests.has(n))).toEqual([]);
      expect(
        names.filter((name) => !['stored', 'ServiceUnavailableError', 'OutcomeUnknownError'].includes(name)),
      ).toEqual([]);
      expect(await knex('apps_jobs').where({ state: 'dead' })).toEqual([]);
    } finally {
      await knex.destroy();
    }
  }, 3_600_000);
});
