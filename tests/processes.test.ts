import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Host } from './support/host';
import { send } from './support/send';
import { openStage, type Stage, startTwin } from './support/stage';
import { copyThemes, type ThemeCopy } from './support/theme';

/** Two server processes on one database and one folder of themes. */
let themes: ThemeCopy;
let stage: Stage;
let twin: Host;
let token: string;

beforeAll(async () => {
  themes = await copyThemes();
  stage = await openStage({ themesDirectory: themes.directory });
  await stage.credential('mona');
  twin = await startTwin(stage, { themesDirectory: themes.directory });
  token = await stage.csrf('nobody');
});
afterAll(async () => {
  await twin?.stop();
  await stage?.close();
  await themes?.dispose();
});

const hosts = () => [stage.host, twin];

/** A request to one of the processes, with a token that the first has issued. */
const ask = <T = unknown>(host: Host, line: string, json?: unknown) => {
  const [method = '', path = ''] = line.split(' ');
  return send<T>(host.url, {
    method,
    path: `/site/@@apps/${path}`,
    headers: { accept: 'application/json', 'x-csrf-token': token },
    json,
  });
};

/** `count` requests at once, in turn to each process. */
const atOnce = <T>(count: number, work: (host: Host, n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(hosts()[n % 2]!, n)));

const statuses = (answers: { status: number; text: string }[]) =>
  answers.filter(({ status }) => status >= 400).map(({ status, text }) => `${status} ${text}`);

async function eventually(check: () => Promise<boolean>): Promise<boolean> {
  const end = Date.now() + 2_000;
  while (!(await check())) {
    if (Date.now() > end) return false;
    await new Promise((done) => setTimeout(done, 50));
  }
  return true;
}

describe('concurrent changes', () => {
  test('50 likes in one process count 50, and are logged once each', async () => {
    const like = (n: number) => ask(stage.host, `POST like/blocks/rate/like?who=first-${n}`);
    expect(statuses(await Promise.all(Array.from({ length: 50 }, (_, n) => like(n))))).toEqual([]);
    const { json } = await ask<{ items: object }[]>(stage.host, 'GET like/records');
    expect(json).toMatchObject([{ items: { total: 50 } }]);
    for (let n = 0; n < 50; n += 1) {
      const logged = stage.host
        .output()
        .split('\n')
        .filter((line) => line.includes(`liked as first-${n}.`));
      expect(logged, `first-${n}`).toHaveLength(1);
    }
  });

  test('50 likes in two processes count 50 more', async () => {
    expect(statuses(await atOnce(50, (host, n) => ask(host, `POST like/blocks/rate/like?who=second-${n}`)))).toEqual(
      [],
    );
    for (const host of hosts())
      expect((await ask<object[]>(host, 'GET like/records')).json).toMatchObject([{ items: { total: 100 } }]);
  });

  test('so do $inc', async () => {
    await stage.put('open', 'sum');
    expect(statuses(await atOnce(50, (host) => ask(host, 'PATCH open/record/sum', { $inc: { total: 1 } })))).toEqual(
      [],
    );
    for (const host of hosts()) expect((await ask(host, 'GET open/record/sum')).json).toEqual({ total: 50, id: 'sum' });
  });

  test('generated and chosen ids are never given twice', async () => {
    const made = await atOnce(40, (host) => ask<{ id: string }>(host, 'POST open', {}));
    expect(statuses(made)).toEqual([]);
    expect(new Set(made.map(({ json }) => json.id)).size).toBe(40);
    const one = await atOnce(20, (host) => ask(host, 'PUT open/record/only', {}));
    expect(one.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(one.filter(({ status }) => status === 409)).toHaveLength(19);
  });

  test('a taken id is numbered, and nothing is overwritten', async () => {
    const expected = ['wish', ...Array.from({ length: 9 }, (_, n) => `wish-${n + 1}`)];
    for (let round = 0; round < 12; round += 1) {
      const named = await atOnce(10, (host) => ask<{ given: string }>(host, 'POST logic/blocks/context/names'));
      expect(statuses(named)).toEqual([]);
      expect(named.map(({ json }) => json.given).sort()).toEqual(expected);
      const { json } = await ask<{ id: string }[]>(stage.host, 'GET logic/records');
      expect(
        json
          .map(({ id }) => id)
          .filter((id) => id.startsWith('wish'))
          .sort(),
      ).toEqual(expected);
      await ask(stage.host, 'DELETE logic/records');
    }
  });
});

describe('what one process does, the other sees', () => {
  test('records, and searches for them', async () => {
    await ask(stage.host, 'PUT search/record/seen', { total: 77 });
    expect((await ask<object[]>(twin, 'POST search/search', { query: 'total == 77' })).json).toMatchObject([
      { id: 'seen' },
    ]);
    await ask(twin, 'PATCH search/record/seen', { total: 78 });
    expect((await ask<object[]>(stage.host, 'POST search/search', { query: 'total == 78' })).json).toMatchObject([
      { id: 'seen' },
    ]);
    await ask(twin, 'DELETE search/records');
    expect((await ask(stage.host, 'POST search/search', { query: 'total > 0' })).json).toEqual([]);
    await ask(stage.host, 'PUT search/record/later', { total: 79 });
    expect((await ask<object[]>(twin, 'POST search/search', { query: 'total == 79' })).json).toMatchObject([
      { id: 'later' },
    ]);
  });

  test('changed files, within two seconds', async () => {
    await themes.write('main/apps/open/blocks/fresh.yaml', 'elements:\n  value: BASIC\n');
    for (const text of ['one', 'two']) {
      await themes.write('main/apps/open/blocks/fresh.js', `export const value = () => '${text}';\n`);
      for (const host of hosts()) {
        expect(await eventually(async () => (await ask(host, 'GET open/blocks/fresh/value')).json === text)).toBe(true);
      }
    }
  });

  test('a re-built index', async () => {
    const mona = await stage.send({ as: 'mona', send: 'POST search/refresh', json: { rebuild: true } });
    expect(mona.status).toBe(200);
    for (const host of hosts()) {
      expect((await ask<object[]>(host, 'POST search/search', { query: 'total == 79' })).json).toMatchObject([
        { id: 'later' },
      ]);
    }
  });

  test('how far the building of indexes is, to managers', async () => {
    const records = Array.from({ length: 60_000 }, (_, total) => JSON.stringify({ total })).join('\n');
    const made = await stage.send({
      as: 'mona',
      send: 'POST search/records',
      body: records,
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect(made.status).toBe(201);
    let built = false;
    const refreshed = stage.send({ as: 'mona', send: 'POST search/refresh', json: { rebuild: true } }).finally(() => {
      built = true;
    });
    // The other process is asked: it answers while this one builds.
    const settings = { method: 'GET', path: '/site/@@apps/search', headers: { accept: 'application/json' } };
    const seen: unknown[] = [];
    while (!built) {
      const { headers } = await send(twin.url, { ...settings, as: await stage.credential('mona') });
      seen.push(headers['x-index-progress']);
      expect((await send(twin.url, settings)).headers).not.toHaveProperty('x-index-progress');
    }
    expect((await refreshed).status).toBe(200);
    expect(seen).toContainEqual(expect.stringMatching(/^\d+\/60001$/));
    expect((await stage.send({ as: 'mona', send: 'GET search' })).headers).not.toHaveProperty('x-index-progress');
    expect((await ask<object[]>(twin, 'POST search/search', { query: 'total == 59999' })).json).toHaveLength(1);
  });

  test('an index that only one of them has heard of yet is never wrong', async () => {
    await ask(twin, 'PUT open/record/paint', { shade: 'dark' });
    await themes.write('main/apps/open/blocks/shades.yaml', 'elements:\n  shade: { type: TEXT, index_type: field }\n');
    const query = { query: "shade == 'dark'" };
    expect(await eventually(async () => (await ask(stage.host, 'POST open/search', query)).status === 200)).toBe(true);
    await ask(twin, 'PUT open/record/paint2', { shade: 'dark' });
    await ask(twin, 'PATCH open/record/paint', { shade: 'light' });
    for (const host of hosts()) {
      let ids: string[] = [];
      const right = async () => {
        const { status, json } = await ask<{ id: string }[]>(host, 'POST open/search', query);
        if (status !== 200) return false;
        ids = json.map(({ id }) => id);
        return true;
      };
      expect(await eventually(right)).toBe(true);
      expect(ids).toEqual(['paint2']);
    }
  });
});

test('transactions that read before they write wait for the other process', async () => {
  const work = (host: Host, name: string) =>
    host.run(async (strapi, prefix) => {
      for (let round = 0; round < 20; round += 1) {
        await strapi.db.transaction(async ({ trx }) => {
          await trx('strapi_core_store_settings').count();
          await new Promise((done) => setTimeout(done, 5));
          await trx('strapi_core_store_settings').insert({ key: `${prefix}_${round}`, value: 'x' });
        });
      }
      return 'done';
    }, name);
  expect(await Promise.all([work(stage.host, 'one'), work(twin, 'two')])).toEqual(['done', 'done']);
});
