import { describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useThemes } from '../support/hooks';
import { type Host, startHost } from '../support/host';

/** Requests, each of which adds a job; how many of them are under way at once. */
const count = Number(process.env.TEST_JOBS ?? 120);
const clients = 8;
/** Servers that are killed at least, while requests come. */
const minKills = Number(process.env.TEST_KILLS ?? 3);

const logic = `
/** A record and a job in one request; every tenth one fails after both. */
export function add(context) {
  const { n, key } = context.request.body;
  context.app.create_record('request-' + n).save({ kind: 'request', n });
  const id = context.jobs.add('queue/effect', { n, key }, key ? { key, delay: 1 } : {});
  if (n % 10 === 9) throw new Error('after all');
  return { id };
}
/** What must happen once. */
export function effect(context) {
  const { n, key } = context.params;
  context.app.create_record().save({ kind: 'effect', n, key });
  for (const end = Date.now() + (n % 5) * 3; Date.now() < end; );
}
`;

const themes = useThemes(async (themes) => {
  const right = 'acl:\n  rights:\n    editor: ["*"]\n';
  await themes.write('main/apps/tasks/settings.yaml', right);
  await themes.write('main/apps/tasks/blocks/queue.js', logic);
  await themes.write('main/apps/tasks/blocks/queue.yaml', 'elements:\n  add: BASIC\n  effect: BASIC\n');
});

interface Sent {
  n: number;
  key: string | undefined;
  /** The id of its job; null: the request failed, or its outcome is unknown. */
  id: string | null;
}

interface Found {
  kind: 'request' | 'effect';
  n: number;
  key?: string | null;
}

describe.each(await availableClients())('killed servers on %s', (client) => {
  const database = useDatabase(client);

  const start = () => {
    const jobs = { retries: 20, backoff: 1, lease: 2 };
    const limits = { formPosts: 0, isolates: 4 };
    const env = { ...configured({ apps: { jobs, limits } }), ...database().address.env, APPS_THEME: 'main' };
    return startHost({ themesDirectory: themes.directory, env });
  };

  test(`of ${count} requests and more, each committed effect happens once, and none of a request that was rolled back`, async () => {
    const hosts: (Host | null)[] = [await start(), null];
    hosts[1] = await start();
    const sent: Sent[] = [];
    let kills = 0;
    let isOver = false;

    async function post(n: number): Promise<void> {
      const key = n % 4 === 0 ? `key-${Math.floor(n / 8)}` : undefined;
      const one: Sent = { n, key, id: null };
      sent.push(one);
      const host = hosts[n % 2] ?? hosts[(n + 1) % 2];
      if (!host) return;
      const body = JSON.stringify({ n, ...(key && { key }) });
      const headers = { 'content-type': 'application/json', accept: 'application/json', 'x-csrf-token': token };
      const answer = await fetch(`${host.url}/site/@@apps/tasks/blocks/queue/add`, { method: 'POST', headers, body });
      if (answer.ok) one.id = ((await answer.json()) as { id: string }).id;
      else await answer.text();
    }

    const tokens = await fetch(`${hosts[0]?.url}/site/@@apps/tasks`, { headers: { accept: 'application/json' } });
    const token = tokens.headers.get('x-csrf-token') ?? '';
    await tokens.text();

    /** Kills a server again and again, and starts another one in its place. */
    async function killing(): Promise<void> {
      for (let at = 0; !isOver; at += 1) {
        await new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 1_200));
        const victim = hosts[at % 2];
        hosts[at % 2] = null;
        await victim?.run(() => process.kill(process.pid, 'SIGKILL')).catch(() => undefined);
        await victim?.stop().catch(() => undefined);
        kills += 1;
        hosts[at % 2] = await start();
      }
    }

    const killer = killing();
    let next = 0;
    const sendAll = async () => {
      while (next < count || kills < minKills) {
        const n = next++;
        await post(n).catch(() => undefined);
        if (!hosts[0] && !hosts[1]) await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    await Promise.all(Array.from({ length: clients }, sendAll));
    isOver = true;
    await killer;

    const { knex } = database();
    const left = async () =>
      Number((await knex('apps_jobs').whereIn('state', ['waiting', 'running']).count({ n: '*' }))[0]?.n);
    await expect.poll(left, { timeout: 120_000, interval: 200 }).toBe(0);
    const rows: { items: string | Found }[] = await knex('apps_records').where({ app: 'tasks' }).select('items');
    const records = rows.map(({ items }) => (typeof items === 'string' ? (JSON.parse(items) as Found) : items));
    await Promise.all(hosts.map((host) => host?.stop()));

    const stored = new Set(records.filter(({ kind }) => kind === 'request').map(({ n }) => n));
    const effects = new Map<string, number>();
    const nameOf = ({ n, key }: Pick<Found, 'n' | 'key'>) => key ?? String(n);
    for (const record of records)
      if (record.kind === 'effect') effects.set(nameOf(record), (effects.get(nameOf(record)) ?? 0) + 1);

    const acknowledged = sent.filter(({ id }) => id !== null);
    expect(acknowledged.filter(({ n }) => !stored.has(n))).toEqual([]);
    // Without a key: one effect for each stored request, none for another.
    const wrong = sent.filter(({ n, key }) => !key && (effects.get(String(n)) ?? 0) !== (stored.has(n) ? 1 : 0));
    expect(wrong).toEqual([]);
    // With a key: as many effects as jobs, and at least one where a request was stored.
    const dead = await knex('apps_jobs').where({ state: 'dead' });
    expect(dead).toEqual([]);
    const jobs: { job_key: string | null }[] = await knex('apps_jobs').where({ app: 'tasks' }).select('job_key');
    for (const key of new Set(sent.flatMap(({ key }) => key ?? []))) {
      const made = jobs.filter(({ job_key }) => job_key === `function:${key}`).length;
      const asked = sent.some((one) => one.key === key && stored.has(one.n));
      expect([key, effects.get(key) ?? 0]).toEqual([key, made]);
      expect([key, made > 0]).toEqual([key, asked]);
    }
    expect(kills).toBeGreaterThanOrEqual(minKills);
    console.log(
      `${client}: ${sent.length} requests, ${acknowledged.length} acknowledged, ${stored.size} stored, ${kills} kills, ${jobs.length} jobs, ${[...effects.values()].reduce((sum, n) => sum + n, 0)} effects`,
    );
  }, 600_000);
});
