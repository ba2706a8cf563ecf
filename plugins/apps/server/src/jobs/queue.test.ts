import type { Knex } from 'knex';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import jobSchema from '../content-types/job/schema.json';
import { createSql, dialects } from '../database';
import {
  availableClients,
  connect,
  createTestDatabase,
  hostOf,
  type TestDatabase,
} from '../database/testing/databases';
import { createTable } from '../records/testing/columns';
import { JobQueue } from './queue';
import { findJob, insertJobs, JobFailure, listJobs, pauseAfter, retryJobs, waitingOf } from './rows';
import type { NewJob } from './types';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const key = { site: 'site', app: 'a' };
const nothing = { status: null, answer: null };

describe.each(await availableClients())('the queue of jobs on %s', (client) => {
  let database: TestDatabase;
  /** A second pool of connections, as another process has it. Two in one process would block each other on SQLite. */
  let other: Knex;
  let now = 0;
  let added = 0;

  beforeAll(async () => {
    database = await createTestDatabase(client, { table: false });
    other = client === 'sqlite' ? database.knex : connect(database.address);
    await createTable(database.knex, jobSchema);
  }, 30_000);
  beforeEach(async () => {
    now = 1_000 * HOUR;
    await database.knex('apps_jobs').delete();
  });
  afterAll(async () => {
    if (other !== database.knex) await other.destroy();
    await database.destroy();
  });

  const queueOf = (knex: Knex) =>
    new JobQueue({ database: hostOf(knex, client), retries: 2, backoff: 5, lease: 30, now: () => now });
  const queue = () => queueOf(database.knex);
  const sql = () => createSql(database.knex, dialects[client]);

  async function add(...jobs: Partial<NewJob>[]): Promise<string[]> {
    const rows = jobs.map((job) => {
      added += 1;
      const usual = { key, kind: 'function' as const, name: 'b/f', data: {}, requester: '' };
      return { ...usual, jobKey: null, sequence: null, dueAt: null, ...job, id: `job-${added}` };
    });
    await insertJobs(sql(), rows, now, dialects[client].insertIgnore);
    return rows.map(({ id }) => id);
  }

  const claim = async (limit = 10, from = queue(), app = key) =>
    (await from.claim(app, limit)).map((claimed) => claimed);
  const ids = (claims: { job: { id: string } }[]) => claims.map(({ job }) => job.id);
  const stateOf = async (id: string) => {
    const job = await findJob(sql(), id);
    return job && { state: job.state, attempts: job.attempts, error: job.error };
  };

  test('jobs are claimed once, those that are due longest first, of one app, up to a number', async () => {
    const [later = '', first = '', second = '', third = ''] = await add(
      { dueAt: now + 1 },
      { dueAt: now - 20 },
      { dueAt: now - 10 },
      {},
      { key: { site: 'site', app: 'b' } },
    );
    expect(ids(await claim(2))).toEqual([first, second]);
    expect(ids(await claim())).toEqual([third]);
    expect(await claim()).toEqual([]);
    now += 1;
    expect(ids(await claim())).toEqual([later]);
  });

  test('two processes share the jobs, and none has another’s', async () => {
    const all = await add(...Array.from({ length: 40 }, () => ({})));
    const [one, two] = [queue(), queueOf(other)];
    const got = await Promise.all(Array.from({ length: 20 }, (_, at) => claim(3, at % 2 ? one : two)));
    expect(got.flatMap(ids).sort()).toEqual([...all].sort());
  });

  test('jobs of a sequence wait for the earlier ones; after a failure those of its name only', async () => {
    const sequence = 's';
    const [first = '', second = '', third = ''] = await add(
      { sequence, name: 'one' },
      { sequence, name: 'two' },
      { sequence, name: 'one' },
    );
    const [claimed] = await claim();
    expect(claimed?.job.id).toBe(first);
    expect(await claim()).toEqual([]);
    await queue().failed(claimed as never, new Error('no'));
    const [next] = await claim();
    expect(next?.job.id).toBe(second);
    await queue().done(sql(), [next as never], nothing);
    expect(await claim()).toEqual([]);
    now += 10 * SECOND;
    const [again] = await claim();
    expect(again?.job).toMatchObject({ id: first, attempts: 2 });
    await queue().done(sql(), [again as never], nothing);
    expect(ids(await claim())).toEqual([third]);
  });

  test('a lease that ends gives the job to another process, and the first one reports in vain', async () => {
    const [id = ''] = await add({});
    const [lost] = await claim();
    expect(await queue().reclaim()).toEqual({ keys: [], dead: [] });
    now += 20 * SECOND;
    expect(await queue().renew([lost as never])).toEqual([]);
    now += 20 * SECOND;
    expect((await queue().reclaim()).keys).toEqual([]);
    now += 31 * SECOND;
    expect((await queue().reclaim()).keys).toEqual([key]);
    const [second] = await claim(1, queueOf(other));
    expect(second?.job).toMatchObject({ id, attempts: 1 });
    expect(await queue().renew([lost as never])).toEqual([lost]);
    expect(await queue().done(sql(), [lost as never], nothing)).toBe(0);
    await queue().failed(lost as never, new Error('late'));
    expect(await stateOf(id)).toEqual({ state: 'running', attempts: 1, error: null });
    expect(await queue().done(sql(), [second as never], { status: 200, answer: 'x'.repeat(2_000) })).toBe(1);
    expect(await findJob(sql(), id)).toMatchObject({ state: 'done', status: 200, answer: 'x'.repeat(1_000) });
  });

  test('what a receiver answers is stored on every database', async () => {
    const [answered = '', failed = ''] = await add({}, {});
    const [one, two] = await claim();
    expect(await queue().done(sql(), [one as never], { status: 200, answer: 'GIF\0' })).toBe(1);
    await queue().failed(two as never, new JobFailure('no\0', { next: 'never', status: 500, answer: '\0' }));
    expect(await findJob(sql(), answered)).toMatchObject({ state: 'done', answer: 'GIF\ufffd' });
    expect(await findJob(sql(), failed)).toMatchObject({ state: 'dead', error: 'no\ufffd', answer: '\ufffd' });
  });

  test('the limit of an app counts what its logic has added', async () => {
    await add(...(['function', 'fetch', 'webhook', 'rule', 'mail'] as const).map((kind) => ({ kind })));
    expect(await waitingOf(sql(), key, 10)).toBe(2);
  });

  test('a job that is left behind four times is dead', async () => {
    const [id = ''] = await add({ jobKey: 'k' });
    for (let time = 0; time < 4; time += 1) {
      expect(await claim()).toHaveLength(1);
      now += 31 * SECOND;
      await queue().reclaim();
    }
    expect(await stateOf(id)).toEqual({
      state: 'dead',
      attempts: 1,
      error: 'The process that ran it ended or stopped 4 times',
    });
    expect(await claim()).toEqual([]);
  });

  test('a job that was claimed ahead and has not begun counts no stall, and keeps its place', async () => {
    const [id = ''] = await add({ dueAt: now - 20 });
    for (let time = 0; time < 6; time += 1) {
      expect(await queue().claim(key, 1, { isAhead: true })).toMatchObject([{ job: { id }, beganAt: null }]);
      now += 31 * SECOND;
      expect((await queue().reclaim()).dead).toEqual([]);
    }
    const [{ dueAt } = { dueAt: 0 }] = (await listJobs(sql(), {}, { limit: 1 })).jobs;
    expect(dueAt).toBe(1_000 * HOUR - 20);
    for (let time = 0; time < 4; time += 1) {
      const [claimed] = await queue().claim(key, 1, { isAhead: true });
      await queue().begun({ ...claimed, beganAt: now } as never);
      now += 31 * SECOND;
      await queue().reclaim();
    }
    expect(await stateOf(id)).toMatchObject({ state: 'dead' });
  });

  test('several jobs end in one statement, but for those whose lease has been lost', async () => {
    const [first = '', second = '', third = ''] = await add({}, {}, {});
    const claims = await queue().claim(key, 3, { isAhead: true });
    expect(ids(claims)).toEqual([first, second, third]);
    now += 31 * SECOND;
    await queue().reclaim();
    const again = await queue().claim(key, 2);
    const ended = [...again.slice(0, 1), ...claims.slice(1)].map((one) => ({ ...one, beganAt: now - 5 }));
    expect(await queue().finish(ended, nothing)).toBe(1);
    expect(await findJob(sql(), first)).toMatchObject({ state: 'done', startedAt: now, endedAt: now });
    expect(await stateOf(second)).toMatchObject({ state: 'running' });
    expect(await stateOf(third)).toMatchObject({ state: 'waiting' });
  });

  test.each<[string, unknown, [state: string, attempts: number, pause: number][]]>([
    [
      'an error',
      new Error('no'),
      [
        ['waiting', 1, 5],
        ['waiting', 2, 10],
        ['dead', 3, 0],
      ],
    ],
    ['one that no try cures', new JobFailure('no', { next: 'never' }), [['dead', 1, 0]]],
    [
      'a missing function',
      new JobFailure('no', { next: 'missing' }),
      [
        ['waiting', 0, 15],
        ['waiting', 0, 15],
        ['waiting', 0, 15],
        ['waiting', 0, 15],
      ],
    ],
  ])('after %s', async (_, error, tries) => {
    const [id = ''] = await add({});
    for (const [state, attempts, pause] of tries) {
      const [claimed] = await claim();
      const failed = await queue().failed(claimed as never, error);
      expect(failed).toMatchObject({ isDead: state === 'dead', reason: 'no' });
      expect(failed.dueAt === null).toBe(state === 'dead');
      expect(await stateOf(id)).toEqual({ state, attempts, error: 'no' });
      if (state === 'dead') continue;
      now += pause * SECOND - 1;
      expect(await claim()).toEqual([]);
      now += pause * SECOND * 0.2 + 2;
    }
  });

  test('what is missing for an hour is dead', async () => {
    const [id = ''] = await add({});
    const missing = new JobFailure('no', { next: 'missing' });
    await queue().failed((await claim())[0] as never, missing);
    now += HOUR;
    await queue().failed((await claim())[0] as never, missing);
    expect(await stateOf(id)).toMatchObject({ state: 'dead' });
  });

  test('what a newer release has stored waits for it without end, and no try of it counts', async () => {
    const [id = ''] = await add({ kind: 'of a newer release' as never });
    for (let time = 0; time < 3; time += 1) {
      await queue().failed((await claim())[0] as never, new JobFailure('no', { next: 'unknown' }));
      expect(await stateOf(id)).toEqual({ state: 'waiting', attempts: 0, error: 'no' });
      now += HOUR;
    }
  });

  test('a key is held while its job waits or runs', async () => {
    const jobKey = 'k';
    const [first = ''] = await add({ jobKey });
    await add({ jobKey });
    await add({ jobKey, key: { site: 'fr', app: 'a' } });
    expect(ids(await claim())).toEqual([first]);
    await add({ jobKey });
    expect(await claim()).toEqual([]);
    expect((await listJobs(sql(), { site: 'site' }, { limit: 10 })).jobs).toHaveLength(1);
  });

  test('the dead run again, unless another job has their key by now', async () => {
    const [one = '', two = '', three = ''] = await add({ jobKey: 'k' }, { name: 'x' }, { kind: 'webhook' });
    for (const claimed of await claim()) await queue().failed(claimed, new JobFailure('no', { next: 'never' }));
    await add({ jobKey: 'k' });
    expect(await retryJobs(sql(), { dead: { kind: 'function' } }, now)).toEqual({ keys: [key], count: 1 });
    expect(await stateOf(one)).toMatchObject({ state: 'dead' });
    expect(await stateOf(two)).toEqual({ state: 'waiting', attempts: 0, error: null });
    expect(await retryJobs(sql(), { id: three }, now)).toEqual({ keys: [key], count: 1 });
    expect(await retryJobs(sql(), { id: 'none' }, now)).toEqual({ keys: [], count: 0 });
  });

  test('what a process gives back does not count as a try; old jobs are deleted', async () => {
    const [id = ''] = await add({});
    await queue().release(await claim());
    expect(await stateOf(id)).toEqual({ state: 'waiting', attempts: 0, error: null });
    const [claimed] = await claim();
    await queue().done(sql(), [claimed as never], nothing);
    await queue().prune(now);
    expect(await stateOf(id)).toMatchObject({ state: 'done' });
    await queue().prune(now + 1);
    expect(await stateOf(id)).toBeNull();
  });
});

test.each([
  [1, 5_000],
  [2, 10_000],
  [8, 640_000],
  [11, 3_600_000],
  [100, 3_600_000],
])('the pause after %d tries', (attempts, pause) => {
  expect(pauseAfter(attempts, 5, () => 0)).toBe(pause);
  expect(pauseAfter(attempts, 5, () => 1)).toBe(pause * 1.2);
});
