import { beforeAll, describe, expect, test } from 'vitest';
import { useStage, useThemes, useTwin } from '../support/hooks';
import type { Host } from '../support/host';
import { send } from '../support/send';
import { within } from '../support/time';

/** Two server processes on one database and one folder of themes. */
const themes = useThemes();
const stage = useStage(() => ({ themesDirectory: themes.directory }));
const twin = useTwin(stage, () => ({ themesDirectory: themes.directory }));
let token: string;
beforeAll(async () => {
  await stage.credential('mona');
  token = await stage.csrf('anonymous');
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

/** `count` requests at once, alternately to each process. */
const atOnce = <T>(count: number, work: (host: Host, n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(hosts()[n % 2]!, n)));

const statuses = (answers: { status: number; text: string }[]) =>
  answers.filter(({ status }) => status >= 400).map(({ status, text }) => `${status} ${text}`);

const within2s = (check: () => Promise<boolean>) => within(2_000, check, Boolean);

describe('concurrent changes', () => {
  test('50 likes in one process count 50, and are logged once each', async () => {
    const like = (n: number) => ask(stage.host, `POST like/blocks/rate/like?who=first-${n}`);
    expect(statuses(await Promise.all(Array.from({ length: 50 }, (_, n) => like(n))))).toEqual([]);
    const { json } = await ask<{ items: object }[]>(stage.host, 'GET like/records');
    expect(json).toMatchObject([{ items: { total: 50 } }]);
    const lines = (await stage.host.printed()).split('\n');
    for (let n = 0; n < 50; n += 1) {
      const logged = lines.filter((line) => line.includes(`liked as first-${n}.`));
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

  test('50 times $inc in two processes count 50', async () => {
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

describe('one process sees the changes of the other', () => {
  test('records and searches of one process are seen by the other', async () => {
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

  test('failed logins of both processes count together', async () => {
    const guess = (host: Host, n: number) =>
      send(host.url, {
        method: 'GET',
        path: '/site/@@apps/open',
        headers: {
          accept: 'application/json',
          'x-forwarded-for': '203.0.113.77',
          authorization: `Basic ${Buffer.from(`guessed:wrong-${n}`).toString('base64')}`,
        },
      });
    // As many at once as an account has from one address, and some more.
    const answers = await atOnce(14, guess);
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(401), count(429)]).toEqual([10, 4]);
    for (const host of hosts()) expect((await guess(host, 20)).status).toBe(429);
  });

  test('changed files are seen within two seconds', async () => {
    await themes.write('main/apps/open/blocks/fresh.yaml', 'elements:\n  value: BASIC\n');
    for (const text of ['one', 'two']) {
      await themes.write('main/apps/open/blocks/fresh.js', `export const value = () => '${text}';\n`);
      for (const host of hosts()) {
        expect(await within2s(async () => (await ask(host, 'GET open/blocks/fresh/value')).json === text)).toBe(true);
      }
    }
  });

  test('a re-built index is seen by the other', async () => {
    const mona = await stage.send({ as: 'mona', send: 'POST search/refresh', json: { rebuild: true } });
    expect(mona.status).toBe(200);
    for (const host of hosts()) {
      expect((await ask<object[]>(host, 'POST search/search', { query: 'total == 79' })).json).toMatchObject([
        { id: 'later' },
      ]);
    }
  });

  test('managers see the progress of building indexes', async () => {
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
    // The request goes to the other process, which answers while this one builds.
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

  test('an index that is known to one process only is never wrong', async () => {
    await ask(twin, 'PUT open/record/paint', { shade: 'dark' });
    await themes.write('main/apps/open/blocks/shades.yaml', 'elements:\n  shade: { type: TEXT, index_type: field }\n');
    const query = { query: "shade == 'dark'" };
    expect(await within2s(async () => (await ask(stage.host, 'POST open/search', query)).status === 200)).toBe(true);
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
      expect(await within2s(right)).toBe(true);
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
