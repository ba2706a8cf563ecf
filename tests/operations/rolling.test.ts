import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lastRelease } from '../../scripts/prepare.mjs';
import { freePort } from '../../scripts/server-process.mjs';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useThemes } from '../support/hooks';
import { type Host, startHost } from '../support/host';
import { cookieOf, logIn } from '../support/login';
import { createUser } from '../support/seed';
import { send } from '../support/send';
import { repository } from '../support/theme';
import { type Balancer, startBalancer } from './rolling/balancer';
import { app, asker, carried, type Visit, writeApp } from './rolling/visits';

/** The folders of the packages of the release before this one, and of this one. */
const releases = { old: lastRelease.folder, new: `${repository}/plugins/apps` };
type Release = keyof typeof releases;

/** Forth and back by default; TEST_ROLLING=long also ends where it began, under more load. */
const isLong = process.env.TEST_ROLLING === 'long';
/** Which server becomes which release. */
const exchanges: [server: number, release: Release][] = [
  [0, 'new'],
  [1, 'old'],
  ...(isLong
    ? ([
        [0, 'old'],
        [1, 'new'],
      ] as [number, Release][])
    : []),
];
/** Visitors at once, and answers of each server before the next exchange. */
const [VISITORS, ANSWERS] = isLong ? [4, 400] : [2, 40];

interface Running {
  release: Release;
  origin: string;
  host: Host;
}

const clients = (await availableClients()).filter((client) => client !== 'sqlite');

describe.each(clients)('the release before this one and this one on one database, %s', (client) => {
  const themes = useThemes(writeApp);
  const database = useDatabase(client, { table: false });
  const servers: Running[] = [];
  let balancer: Balancer;
  let visit: Visit;

  async function start(release: Release): Promise<Running> {
    const port = await freePort();
    const env = {
      ...database().address.env,
      ...configured({
        plugin: releases[release],
        apps: { limits: { formPosts: 0, formTime: 0, draftsOfSender: 100_000 }, jobs: { backoff: 1 } },
      }),
      APPS_THEME: 'main',
      PUBLIC_URL: balancer.origin,
      PORT: String(port),
    };
    const host = await startHost({ themesDirectory: themes.directory, env });
    const origin = `http://127.0.0.1:${port}`;
    while ((await send(origin, { method: 'GET', path: '/_apps/ready' })).status !== 200) await pause(20);
    return { release, origin, host };
  }

  /** Ends a server by SIGTERM, and starts one of the other release in its place. */
  async function exchange(at: number, release: Release): Promise<void> {
    balancer.servers = servers.flatMap(({ origin }, other) => (other === at ? [] : [origin]));
    await servers[at]?.host.stop();
    servers[at] = await start(release);
    balancer.servers = servers.map(({ origin }) => origin);
  }

  /** The columns of the plugin's tables. */
  async function columns(): Promise<string[]> {
    const { knex } = database();
    const place = client === 'postgres' ? 'current_schema()' : 'database()';
    const rows: { name: string }[] = await knex
      .select(knex.raw(`concat(table_name, '.', column_name, ' ', data_type, ' ', is_nullable) as name`))
      .from('information_schema.columns')
      .whereRaw(`table_schema = ${place} and table_name like 'apps\\_%'`)
      // Those of generations of indexes come and go.
      .whereRaw("table_name not like 'apps\\_ix\\_%'");
    return rows.map(({ name }) => name).sort();
  }

  beforeAll(async () => {
    balancer = await startBalancer();
    servers.push(await start('old'));
    const before = await columns();
    servers.push(await start('new'));
    expect(await columns()).toEqual(expect.arrayContaining(before));
    balancer.servers = servers.map(({ origin }) => origin);
    const [old] = servers as [Running];
    const { username, password } = await createUser(old.host, { username: 'una' });
    const loggedIn = await logIn(old.origin, { name: username, password });
    expect(loggedIn.status).toBe(303);
    const settings = await send(old.origin, { method: 'GET', path: app, headers: { accept: 'application/json' } });
    visit = { cookie: cookieOf(loggedIn), csrf: String(settings.headers['x-csrf-token']) };
  });
  afterAll(async () => {
    await Promise.all(servers.map(({ host }) => host.stop()));
    await balancer?.stop();
  });

  describe.each([
    ['this one', 0, 1],
    ['the one before', 1, 0],
  ])('%s reads what the other one has made', (_which, first, second) => {
    test.each(Object.keys(carried))('%s', async (what) => {
      const [one, other] = [servers[first], servers[second]].map((running) => asker(running?.origin ?? ''));
      await carried[what]?.(one as never, other as never, visit, `of${first}`);
    });
  });

  test('they are exchanged under load, without a failed request or a lost job', async () => {
    const ask = asker(balancer.origin);
    const failures: string[] = [];
    const names: string[] = [];
    let isOver = false;
    const visitor = async (at: number) => {
      for (let n = 0; !isOver; n += 1) {
        const name = `v${at}n${n}`;
        for (const [what, steps] of Object.entries(carried))
          await steps(ask, ask, visit, name).catch((error: Error) => failures.push(`${what}: ${error.message}`));
        names.push(name);
      }
    };
    const visitors = Promise.all(Array.from({ length: VISITORS }, (_, at) => visitor(at)));
    const phases: [string, number][] = [];
    /** Until both servers have answered. */
    const serve = async () => {
      const counts = () => servers.map(({ origin }) => balancer.answers.get(origin) ?? 0);
      const before = counts();
      while (!isOver && counts().some((count, at) => count < (before[at] ?? 0) + ANSWERS)) await pause(20);
      const answers = counts().reduce((sum, count, at) => sum + count - (before[at] ?? 0), 0);
      phases.push([servers.map(({ release }) => release).join(), answers]);
    };
    const stored = await columns();
    try {
      await serve();
      for (const [at, release] of exchanges) {
        await exchange(at, release);
        await serve();
      }
    } finally {
      isOver = true;
      await visitors;
    }
    expect(failures).toEqual([]);
    expect(await columns()).toEqual(stored);

    const { knex } = database();
    const left = async () => knex('apps_jobs').whereNot({ state: 'done' }).select('job_id', 'state', 'error');
    await expect.poll(left).toEqual([]);
    const rows: { items: string | Record<string, unknown> }[] = await knex('apps_records').where({ app: 'rolling' });
    const effects = rows
      .map(({ items }) => (typeof items === 'string' ? (JSON.parse(items) as Record<string, unknown>) : items))
      .flatMap(({ effect }) => (effect === undefined ? [] : [String(effect)]))
      .filter((name) => name.startsWith('v'));
    expect(effects.sort()).toEqual(names.sort());
    const answers = [...balancer.answers.values()].reduce((sum, count) => sum + count, 0);
    console.log(
      `${client}: ${answers} answers, ${failures.length} failures, ${names.length} jobs, ${effects.length} effects; ${JSON.stringify(phases)}`,
    );
  }, 300_000);
});
