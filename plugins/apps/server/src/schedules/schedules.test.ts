import type { Knex } from 'knex';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../apps';
import type { Schedule } from '../apps/types';

import job from '../content-types/job/schema.json';
import schedule from '../content-types/schedule/schema.json';
import {
  availableClients,
  connect,
  createTestDatabase,
  hostOf,
  type TestDatabase,
} from '../database/testing/databases';
import { createJobs } from '../jobs';
import { createContentTables } from '../records/testing/content-tables';
import type { Site } from '../sites/types';
import { createSchedules } from './schedules';
import type { Schedules } from './types';

const config = { workers: 2, retries: 8, backoff: 5, lease: 30, keep: 14 };
const logger = { info: () => {}, warn: () => {}, error: (message: string) => void errors.push(message) };
const errors: string[] = [];

describe.each(await availableClients())('schedules on %s', (client) => {
  let database: TestDatabase;
  /** A second pool of connections, as another process has it. Two in one process would block each other on SQLite. */
  let other: Knex;
  let now: number;
  /** The schedules of each app, by site; a change of them is a new revision. */
  let files: Record<string, Record<string, Partial<Schedule>[] | 'broken'>>;
  let loads = 0;

  beforeAll(async () => {
    database = await createTestDatabase(client, { table: false });
    other = client === 'sqlite' ? database.knex : connect(database.address);
    await createContentTables(database.knex, [job, schedule]);
  }, 30_000);
  beforeEach(async () => {
    now = Date.parse('2026-03-02T05:30:00.500Z');
    files = { site: { digest: [{ run: 'send', cron: '0 6 * * *' }] } };
    loads = 0;
    errors.length = 0;
    for (const table of ['apps_jobs', 'apps_schedules']) await database.knex(table).delete();
  });
  afterAll(async () => {
    expect(errors).toEqual([]);
    if (other !== database.knex) await other.destroy();
    await database.destroy();
  });

  const siteOf = (id: string): Site =>
    ({ id, title: id, url: `http://host/${id}`, theme: 'default', locale: null, timeZone: 'UTC' }) as Site;

  function appOf(id: string, given: Partial<Schedule>[] | 'broken'): App {
    const schedules = given === 'broken' ? [] : given.map((one) => ({ timeZone: null, missed: 'once', ...one }));
    const block = {
      id: 'form',
      definition: { schedules, privacy: { keep: null, anonymize: null } },
      error: given === 'broken' ? new Error('broken') : null,
    };
    return { id, blocks: new Map([['form', block]]) } as unknown as App;
  }

  /** A process with its schedules and jobs. */
  function start(knex = database.knex): Schedules {
    const host = hostOf(knex, client);
    const signals = { isReliable: () => false, send() {}, on() {} };
    const jobs = createJobs({ database: host, signals, logger, config, limit: 100, now: () => now });
    return createSchedules({
      database: host,
      logger,
      jobs,
      isActive: true,
      now: () => now,
      sites: {
        all: async () => Object.keys(files).map(siteOf),
        watched: async () =>
          Object.entries(files).flatMap(([id, apps]) =>
            Object.keys(apps).map((appId) => ({ site: siteOf(id), appId })),
          ),
        revision: async ({ id }, app) => JSON.stringify(files[id]?.[app]),
      },
      loadApp: async ({ id }, app) => {
        loads += 1;
        return appOf(app, files[id]?.[app] ?? []);
      },
    });
  }

  const rows = () => database.knex('apps_jobs').orderBy('id');
  const stored = async () =>
    (await rows()).map(({ site, app, data }) => {
      const { schedule: cron, tick, missed } = JSON.parse(data).params;
      return `${site}/${app} ${cron} ${tick.slice(0, 19)} +${missed}`;
    });
  const end = (where = {}) => database.knex('apps_jobs').where(where).update({ state: 'done', held_key: null });
  const to = (time: string) => {
    now = Date.parse(`2026-03-${time}Z`);
  };

  test('a tick is one job, with all that its function finds', async () => {
    const schedules = start();
    expect(await schedules.tick()).toBe(0);
    to('02T06:00:00.020');
    expect(await schedules.tick()).toBe(1);
    expect(await schedules.tick()).toBe(0);
    expect(await rows()).toMatchObject([
      {
        site: 'site',
        app: 'digest',
        kind: 'schedule',
        name: 'form/send',
        requester: '',
        state: 'waiting',
        job_key: expect.stringMatching(/^schedule\/[0-9a-f]{40}\/2026-03-02T06:00:00.000Z$/),
      },
    ]);
    const [{ data }] = await rows();
    expect(JSON.parse(data)).toEqual({
      block: 'form',
      function: 'send',
      params: { schedule: '0 6 * * *', tick: '2026-03-02T06:00:00.000Z', missed: 0 },
    });
  });

  test('of many processes at one tick, one stores it', async () => {
    files = {
      site: { digest: [{ run: 'send', cron: '* * * * * *', missed: 'all' }], b: [{ run: 'x', cron: '*/2 * * * * *' }] },
    };
    const processes = [database.knex, database.knex, other, other].map((knex) => start(knex));
    await Promise.all(processes.map((one) => one.tick()));
    for (let second = 1; second <= 10; second += 1) {
      now += 1_000;
      const counts = await Promise.all(processes.map((one) => one.tick()));
      const expected = second % 2 === 0 ? 2 : 1;
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(expected);
      await end({ app: 'b' });
    }
    const all = await stored();
    expect(all).toHaveLength(15);
    expect(new Set(all).size).toBe(15);
  });

  test.each([
    ['skip', []],
    ['once', ['site/digest 0 6 * * * 2026-03-05T06:00:00 +3']],
    ['all', [2, 3, 4, 5].map((day) => `site/digest 0 6 * * * 2026-03-0${day}T06:00:00 +0`)],
  ] as const)('what all processes have missed: %s', async (missed, expected) => {
    files = { site: { digest: [{ run: 'send', cron: '0 6 * * *', missed }] } };
    await start().tick();
    to('05T07:00:00');
    await Promise.all([start().tick(), start(other).tick()]);
    expect(await stored()).toEqual(expected);
  });

  test('while the job of a tick waits or runs, later ones come together after it', async () => {
    files = { site: { digest: [{ run: 'send', cron: '0 * * * *' }] } };
    const [one, two] = [start(), start(other)];
    await one.tick();
    await two.tick();
    for (const hour of ['06', '07', '08']) {
      to(`02T${hour}:00:01`);
      await one.tick();
      await two.tick();
    }
    expect(await stored()).toEqual(['site/digest 0 * * * * 2026-03-02T06:00:00 +0']);
    await end();
    to('02T08:00:05');
    await Promise.all([one.tick(), two.tick()]);
    expect((await stored()).slice(1)).toEqual(['site/digest 0 * * * * 2026-03-02T08:00:00 +1']);
  });

  test('a clock that is set runs no tick twice, in no process', async () => {
    files = { site: { digest: [{ run: 'send', cron: '0 * * * *' }] } };
    const processes = [start(), start(other)];
    const look = async (time: string) => {
      to(time);
      for (const one of processes) await one.tick();
      await end();
    };
    const times = [
      '02T06:00:00',
      '03T06:00:00',
      '02T06:10:00',
      '02T07:00:00',
      '03T05:00:00',
      '03T06:00:00',
      '03T07:00:00',
    ];
    for (const time of times) await look(time);
    expect(await stored()).toEqual(
      ['02T06:00:00 +0', '03T06:00:00 +23', '02T07:00:00 +0', '03T05:00:00 +21', '03T07:00:00 +0'].map(
        (tick) => `site/digest 0 * * * * 2026-03-${tick}`,
      ),
    );
  });

  test('definitions that change are noticed; what is new begins then, what is gone is forgotten', async () => {
    const schedules = start();
    await schedules.tick();
    await schedules.tick();
    expect(loads).toBe(1);
    files = {
      site: { digest: [{ run: 'send', cron: '0 7 * * *' }] },
      second: { digest: [{ run: 'send', cron: '0 7 * * *' }] },
    };
    to('02T07:00:01');
    expect(await schedules.tick()).toBe(0);
    expect(await database.knex('apps_schedules').select('site', 'app', 'block', 'run')).toEqual([
      { site: 'site', app: 'digest', block: 'form', run: 'send' },
      { site: 'second', app: 'digest', block: 'form', run: 'send' },
    ]);
    to('03T07:00:01');
    expect(await schedules.tick()).toBe(2);
    expect((await stored()).sort()).toEqual([
      'second/digest 0 7 * * * 2026-03-03T07:00:00 +0',
      'site/digest 0 7 * * * 2026-03-03T07:00:00 +0',
    ]);
  });

  test('a block that is broken for a time loses no tick', async () => {
    const schedules = start();
    await schedules.tick();
    const whole = files;
    files = { site: { digest: 'broken' } };
    to('02T06:10:00');
    expect(await schedules.tick()).toBe(0);
    files = whole;
    expect(await schedules.tick()).toBe(1);
  });

  test('a process that takes a schedule for removed does not make another one lose a tick', async () => {
    const [one, two] = [start(), start(other)];
    await one.tick();
    await two.tick();
    await database.knex('apps_schedules').delete();
    to('02T06:00:00');
    expect(await one.tick()).toBe(1);
    expect(await two.tick()).toBe(0);
  });

  test('the list says when each runs next, and has run', async () => {
    files = { site: { digest: [{ run: 'send', cron: '0 6 * * 1-5', timeZone: 'Europe/Paris' }] } };
    const [one, two] = [start(), start(other)];
    to('02T04:30:00');
    const [listed] = await one.list();
    expect(listed).toEqual({
      site: 'site',
      app: 'digest',
      block: 'form',
      function: 'send',
      cron: '0 6 * * 1-5',
      missed: 'once',
      timeZone: 'Europe/Paris',
      words: 'At 06:00, Monday through Friday, Europe/Paris',
      next: '2026-03-02T05:00:00.000Z',
      last: null,
    });
    to('02T05:00:00');
    await two.tick();
    const last = { tick: '2026-03-02T05:00:00.000Z', job: expect.any(String), state: 'waiting' };
    expect(await one.list()).toMatchObject([{ next: '2026-03-03T05:00:00.000Z', last }]);
    await database.knex('apps_jobs').delete();
    expect(await one.list()).toMatchObject([{ last: { tick: '2026-03-02T05:00:00.000Z', state: null } }]);
  });

  test('run now is one job, however often it is asked for', async () => {
    const target = { site: 'site', app: 'digest', block: 'form', function: 'send' };
    const [one, two] = [start(), start(other)];
    const ids = await Promise.all([one.runNow(target), two.runNow(target), one.runNow(target)]);
    expect(new Set(ids).size).toBe(1);
    expect(await stored()).toEqual(['site/digest 0 6 * * * 2026-03-02T05:30:00 +0']);
    await end();
    expect(await one.runNow(target)).not.toBe(ids[0]);
    await expect(one.runNow({ ...target, function: 'other' })).rejects.toMatchObject({ status: 404 });
    await expect(one.runNow({ ...target, site: 'other' })).rejects.toMatchObject({ status: 404 });
    // The schedule itself goes on as before.
    to('02T06:00:00');
    expect(await one.tick()).toBe(1);
  });

  test('forgotten schedules begin again', async () => {
    const schedules = start();
    to('02T06:00:00');
    expect(await schedules.tick()).toBe(1);
    await end();
    await schedules.forget();
    expect(await schedules.tick()).toBe(1);
  });
});
