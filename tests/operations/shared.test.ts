import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasRedis, type RedisServer, redisServer } from '../../plugins/apps/server/src/processes/testing/redis-server';
import { talkApp } from '../events/live/app';
import { connect, type LiveSettings, settingsOf } from '../events/live/page';
import { configured } from '../support/configure';
import { availableClients, type Client } from '../support/databases';
import { useDatabase, useStage, useThemes, useTwin } from '../support/hooks';
import type { Host } from '../support/host';
import { send } from '../support/send';

const themes = useThemes(async (copy) => {
  for (const [file, text] of Object.entries(talkApp)) await copy.write(`main/${file}`, text);
  for (const block of ['stuck', 'later'])
    await copy.write(`main/apps/open/blocks/${block}.yaml`, 'elements: { f: BASIC }\n');
});

const endless = 'export function f() {\n  for (;;);\n}\n';
const limits = { logicTime: 900, isolates: 1 };
const found = await availableClients();
const cases: { client: Client; redis: boolean }[] = [
  ...found.map((client) => ({ client, redis: false })),
  // Without it, MariaDB tells a process of nothing.
  ...(hasRedis ? [{ client: found.at(-1) as Client, redis: true }] : []),
];

describe.each(cases)('two processes on $client, Redis: $redis', ({ client, redis }) => {
  const database = useDatabase(client);
  let server: RedisServer | undefined;
  beforeAll(async () => {
    for (const block of ['stuck', 'later']) await themes.write(`main/apps/open/blocks/${block}.js`, endless);
    if (redis) server = await redisServer();
    await server?.start();
  });
  afterAll(() => server?.stop());
  const options = () => ({
    themesDirectory: themes.directory,
    env: { ...database().address.env, ...configured({ apps: { limits, redis: { url: server?.url } } }) },
  });
  const stage = useStage(options);
  const twin = useTwin(stage, options);
  const hosts = () => [stage.host, twin];

  const run = (host: Host, block: string) =>
    send<{ error: { message: string } }>(host.url, {
      method: 'GET',
      path: `/site/@@apps/open/blocks/${block}/f`,
      headers: { accept: 'application/json' },
    });

  async function untilPaused(host: Host, block: string): Promise<void> {
    for (let round = 0; round < 8; round += 1) {
      const { status, headers } = await run(host, block);
      if (status === 503 && Number(headers['retry-after']) > 20) return;
    }
    throw new Error(`the block ${block} is not paused`);
  }

  test('a block that is paused in one is paused in the other, which has not run it', async () => {
    // It runs other logic meanwhile.
    await settingsOf(twin, 'latest?article=none');
    await untilPaused(stage.host, 'stuck');
    const problems = async () => {
      const { json } = await send<{ blocks: { id: string; problem: { message: string } | null }[] }>(twin.url, {
        method: 'GET',
        path: '/apps/sites/site/apps/open',
        as: await stage.credential('root'),
        headers: { accept: 'application/json' },
      });
      return json.blocks.find(({ id }) => id === 'stuck')?.problem?.message;
    };
    await expect.poll(problems, { timeout: 5_000 }).toMatch(/^Paused for \d+ s/);
    const answer = await run(twin, 'stuck');
    expect([answer.status, answer.json.error.message]).toEqual([503, expect.stringContaining('is paused')]);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(10);
    expect((await run(stage.host, 'stuck')).status).toBe(503);
    // Another file is another program, in each process.
    await themes.write('main/apps/open/blocks/stuck.js', "export const f = () => 'corrected';\n");
    for (const host of hosts()) await expect.poll(async () => (await run(host, 'stuck')).json).toBe('corrected');
  });

  const wrong = (host: Host, account: string, n: number) =>
    send(host.url, {
      method: 'GET',
      path: '/site/@@apps/open',
      headers: {
        accept: 'application/json',
        authorization: `Basic ${Buffer.from(`${account}:wrong-${n}`).toString('base64')}`,
      },
    });

  /** Rows of counts that no page has made. */
  const counts = async () => (await database().knex('apps_form_posts').whereNull('part_of')).length;

  let accounts = 0;
  /** More guesses at once than an account has from one address: how many were checked and refused, and the rows that they have made. */
  async function guesses() {
    accounts += 1;
    const before = await counts();
    const tried = Array.from({ length: 14 }, (_, n) => wrong(hosts()[n % 2] as Host, `guessed-${accounts}`, n));
    const answers = await Promise.all(tried);
    const [checked, refused] = [401, 429].map((status) => answers.filter((answer) => answer.status === status).length);
    return { checked, refused, rows: (await counts()) - before };
  }
  /** A process that the machine has delayed may find that Redis is late: it counts in the database for some seconds. */
  const soon = { timeout: 30_000, interval: 6_000 };

  test('failed logins count together, in one place', async () => {
    // Of the address, of the account, and of both: attempts, and those that have failed.
    await expect.poll(guesses, soon).toEqual({ checked: 10, refused: 4, rows: redis ? 0 : 6 });
  }, 60_000);

  /** Opens a page that waits; the status, and what closes it. */
  const open = (host: Host, { live }: LiveSettings) =>
    new Promise<{ status: number; close: () => void }>((done, fail) => {
      const headers = { 'x-forwarded-for': '203.0.113.80' };
      const asked = request(`${host.url}/site/@@apps.live?t=${live.join()}`, { headers }, (answer) => {
        answer.on('error', () => undefined);
        done({ status: answer.statusCode ?? 0, close: () => answer.destroy() });
      });
      asked.on('error', fail).end();
    });

  test('pages of one address that wait count together, and closed ones no longer', async () => {
    const settings = await settingsOf(stage.host, 'latest?article=waiting');
    const all = async (host: Host, count: number) => {
      const opened = await Promise.all(Array.from({ length: count }, () => open(host, settings)));
      expect(opened.map(({ status }) => status).every((status) => status === 200 || status === 429)).toBe(true);
      return opened.filter(({ status }) => status === 200);
    };
    const ofOne = await all(stage.host, 150);
    const ofOther = await all(twin, 100);
    expect([ofOne.length, ofOther.length]).toEqual([150, 50]);
    for (const { close } of ofOne) close();
    const more: typeof ofOne = [];
    const opened = async () => {
      more.push(...(await all(twin, 20)));
      return more.length;
    };
    await expect.poll(opened, { timeout: 15_000, interval: 1_100 }).toBeGreaterThan(20);
    for (const { close } of [...ofOther, ...more]) close();
    const parts = () => database().knex('apps_form_posts').whereNotNull('part_of');
    await expect.poll(parts, { timeout: 10_000 }).toEqual([]);
  });

  const isWoken = async (name: string) => {
    const page = await connect(twin, await settingsOf(twin, `latest?article=${name}`));
    await stage.put('talk', name, { article: name });
    await expect.poll(page.woken, { timeout: 5_000 }).toBe(1);
    await page.end();
  };

  test('a change in one wakes a page of the other', () => isWoken('told'));

  test.runIf(redis)(
    'when Redis goes away, everything still holds by the database, and again by Redis afterwards',
    async () => {
      await server?.stop();
      for (const host of hosts())
        await expect.poll(() => host.printed(), { timeout: 10_000 }).toContain('[apps] Redis is away');
      expect(await guesses()).toMatchObject({ checked: 10, refused: 4 });
      await isWoken('away');
      await untilPaused(stage.host, 'later');
      await expect.poll(async () => (await run(twin, 'later')).status, { timeout: 5_000 }).toBe(503);
      await server?.start();
      for (const host of hosts())
        await expect.poll(() => host.printed(), { timeout: 10_000 }).toContain('[apps] Redis is there');
      await expect.poll(guesses, soon).toEqual({ checked: 10, refused: 4, rows: 0 });
      await isWoken('back');
      for (const host of hosts()) expect(await host.printed()).not.toMatch(/unhandled|uncaught/i);
    },
    120_000,
  );
});
