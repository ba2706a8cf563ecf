import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import jobSchema from '../content-types/job/schema.json';
import { createSql, dialects, type HostDatabase, type Reader, readerOf } from '../database';
import {
  availableClients,
  connect,
  createTestDatabase,
  hostOf,
  type TestDatabase,
} from '../database/testing/databases';
import { createSignals } from '../processes/signals';
import { CollisionError } from '../records';
import { createTable } from '../records/testing/columns';
import type { CommitWrite, UnitOfWork } from '../records/types';
import { createJobs, type JobsOptions } from './jobs';
import type { JobAttempt, Jobs, NewJob } from './types';

const usual = { workers: 1, retries: 3, backoff: 5, lease: 30, keep: 14 };
const nothing = { status: null, answer: null };
const silent = { info() {}, warn() {}, error() {}, debug() {} } as never;

const jobOf = (name: string, more: Partial<NewJob> = {}): NewJob => ({
  key: { site: 'site', app: 'a' },
  kind: 'function',
  name,
  data: {},
  requester: '',
  jobKey: null,
  sequence: null,
  dueAt: null,
  ...more,
});

/** The jobs of a process, with its signals. */
function jobsOf(options: Omit<JobsOptions, 'signals' | 'logger' | 'limit'>): Jobs {
  const signals = createSignals({ database: options.database, logger: silent, origin: randomUUID() });
  const jobs = createJobs({ ...options, signals, logger: silent, limit: 1_000 });
  return {
    ...jobs,
    start() {
      signals.listen();
      jobs.start();
    },
    async destroy() {
      await jobs.destroy();
      await signals.destroy();
    },
  };
}

/** A unit of work that keeps what it would write at its commit. */
function unit(): { unit: UnitOfWork; writes: CommitWrite[] } {
  const writes: CommitWrite[] = [];
  const unit = { alongside: (read: () => unknown) => read(), atCommit: (write: CommitWrite) => writes.push(write) };
  return { unit: { ...unit, afterCommit() {} } as unknown as UnitOfWork, writes };
}

describe.each(await availableClients())('jobs on %s', (client) => {
  let database: TestDatabase;
  let other: Knex;
  const made: Jobs[] = [];

  beforeAll(async () => {
    database = await createTestDatabase(client, { table: false });
    other = client === 'sqlite' ? database.knex : connect(database.address);
    await createTable(database.knex, jobSchema);
  }, 30_000);
  afterEach(async () => {
    for (const jobs of made.splice(0)) await jobs.destroy();
    await database.knex('apps_jobs').delete();
  });
  afterAll(async () => {
    if (other !== database.knex) await other.destroy();
    await database.destroy();
  });

  /** A process that does jobs of functions. */
  function process(
    handler: (attempt: JobAttempt) => Promise<unknown>,
    { host = hostOf(database.knex, client), config = {} }: { host?: HostDatabase; config?: Partial<typeof usual> } = {},
  ): Jobs {
    const jobs = jobsOf({ database: host, config: { ...usual, ...config } });
    jobs.handle('function', async (attempt) => {
      await handler(attempt);
      return nothing;
    });
    made.push(jobs);
    jobs.start();
    return jobs;
  }

  const stateOf = async (jobs: Jobs, id: string) => {
    const found = await jobs.find(id);
    return found && { state: found.state, attempts: found.attempts, error: found.error };
  };
  const done = { state: 'done', attempts: 1, error: null };

  test('a try that its process ends has not failed', async () => {
    let begun = 0;
    const jobs = process(() => {
      begun += 1;
      return new Promise(() => {});
    });
    const [id = ''] = await jobs.insert([jobOf('b/slow')]);
    await expect.poll(() => begun).toBe(1);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const ended = jobs.destroy();
    // Jobs have ten seconds.
    await vi.advanceTimersByTimeAsync(10_000);
    vi.useRealTimers();
    await ended;
    expect(await stateOf(jobs, id)).toEqual({ state: 'waiting', attempts: 0, error: null });
  });

  test('what is stored as given up is masked, name and reason', async () => {
    const masked = (text: string) => text.replaceAll('anna', '…');
    const jobs = jobsOf({ database: hostOf(database.knex, client), config: usual, masked });
    await jobs.bury(jobOf('booking of anna'), 'anna is unknown');
    expect(await database.knex('apps_jobs')).toMatchObject([
      { state: 'dead', name: 'booking of …', error: '… is unknown' },
    ]);
  });

  test('a key that ends before the commit is free: the request runs again and adds a new job', async () => {
    let free = () => {};
    const read = new Promise<void>((resolve) => {
      free = resolve;
    });
    const jobs = process(() => read);
    const job = jobOf('b/f', { jobKey: 'k' });
    const [held = ''] = await jobs.insert([job]);
    await expect.poll(() => stateOf(jobs, held)).toMatchObject({ state: 'running' });
    const early = unit();
    expect(await jobs.add(early.unit, job)).toBe(held);
    free();
    await expect.poll(() => stateOf(jobs, held)).toEqual(done);
    const sql = createSql(database.knex, dialects[client]);
    await expect(early.writes[0]?.(sql)).rejects.toThrow(CollisionError);
    const again = unit();
    const fresh = await jobs.add(again.unit, job);
    expect(fresh).not.toBe(held);
    await again.writes[0]?.(sql);
    jobs.wake([job.key]);
    await expect.poll(() => stateOf(jobs, fresh)).toEqual(done);
  });

  test('a next try begins when it is due', async () => {
    const jobs = process(
      async ({ job }) => {
        if (job.attempts === 1) throw new Error('no');
      },
      { config: { backoff: 1 } },
    );
    const [id = ''] = await jobs.insert([jobOf('b/f')]);
    // Processes that hear of new jobs look by themselves each half a minute.
    await expect.poll(() => stateOf(jobs, id), { timeout: 10_000 }).toEqual({ ...done, attempts: 2 });
  });

  // The process counts: one database is enough.
  test.runIf(client === 'sqlite')('all due jobs are done, but not those of one that adds itself for ever', async () => {
    const jobs = jobsOf({ database: hostOf(database.knex, client), config: usual });
    made.push(jobs);
    let begun = 0;
    jobs.handle('function', async ({ job }) => {
      begun += 1;
      if (job.name === 'b/again' || begun === 1) await jobs.insert([jobOf(job.name)]);
      return nothing;
    });
    await jobs.insert([jobOf('b/once'), jobOf('b/other')]);
    expect(await jobs.runDue()).toBe(3);
    await jobs.insert([jobOf('b/again')]);
    await expect(jobs.runDue()).rejects.toThrow('2000 tries have not emptied the queue: does a job add itself?');
    expect(begun).toBe(2_003);
  });

  test('a long job does not hold up those that were claimed with it', async () => {
    let end = () => {};
    const long = new Promise<void>((resolve) => {
      end = resolve;
    });
    const handler = async ({ job }: JobAttempt) => (job.name === 'b/long' ? long : undefined);
    const first = process(handler);
    const quick = (count: number) => Array.from({ length: count }, () => jobOf('b/quick'));
    // Jobs that take no time are claimed ahead.
    const warm = await first.insert(quick(60));
    await expect.poll(async () => (await first.counts({ state: 'done' }))[0]?.jobs).toBe(warm.length);
    const [, ...others] = await first.insert([jobOf('b/long'), ...quick(10)]);
    await expect.poll(async () => (await first.counts({ state: 'running' }))[0]?.jobs).toBe(1);
    process(handler, { host: hostOf(other, client) });
    await expect
      .poll(() => Promise.all(others.map((id) => stateOf(first, id))), { timeout: 10_000 })
      .toEqual(others.map(() => done));
    end();
  });

  test('of slow jobs that were claimed together ten run at once, and hold up no quick ones', async () => {
    let [running, most] = [0, 0];
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const jobs = process(async () => undefined);
    const slow = async () => {
      running += 1;
      most = Math.max(most, running);
      await ended;
      running -= 1;
      return nothing;
    };
    jobs.handle('mail', slow, true);
    const some = (kind: 'function' | 'mail', count: number) =>
      Array.from({ length: count }, () => jobOf('b', { kind }));
    const states = (ids: string[]) => Promise.all(ids.map((id) => stateOf(jobs, id)));
    // Jobs that take no time are claimed ahead, many at once.
    const warm = await jobs.insert(some('function', 60));
    await expect.poll(() => states(warm), { timeout: 10_000 }).toEqual(warm.map(() => done));
    const mails = await jobs.insert(some('mail', 25));
    const quick = await jobs.insert(some('function', 25));
    await expect.poll(() => states(quick), { timeout: 10_000 }).toEqual(quick.map(() => done));
    end();
    await expect.poll(() => states(mails), { timeout: 10_000 }).toEqual(mails.map(() => done));
    expect(most).toBe(10);
  });

  test.runIf(client === 'postgres')('an idle queue asks the database nothing, and hears of new jobs', async () => {
    const knexes = [1, 2, 3].map(() => connect(database.address));
    let time = Date.now();
    let asked = 0;
    const ran: string[] = [];
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const pass = async (milliseconds: number) => {
      time += milliseconds;
      await vi.advanceTimersByTimeAsync(milliseconds);
      await new Promise((resolve) => setImmediate(resolve));
    };
    const processes = knexes.map((knex) => {
      knex.on('query', ({ sql }) => {
        if (sql.includes('apps_jobs')) asked += 1;
      });
      const config = { ...usual, workers: 1 };
      const jobs = jobsOf({ database: hostOf(knex, client), config, now: () => time });
      jobs.handle('function', async ({ job }) => {
        ran.push(job.id);
        return nothing;
      });
      return jobs;
    });
    try {
      const [first, second, storing] = processes as [Jobs, Jobs, Jobs];
      for (const jobs of [first, second]) jobs.start();
      const [id] = await first.insert([jobOf('b/f')]);
      await expect.poll(() => ran).toEqual([id]);
      const askedIn = async (milliseconds: number) => {
        asked = 0;
        await pass(milliseconds);
        return asked;
      };
      await expect.poll(() => askedIn(31_000)).toBe(0);
      expect(await askedIn(20 * 60_000)).toBe(0);
      // Of a process that only stores jobs, as a command does.
      const [next] = await storing.insert([jobOf('b/f')]);
      const ranAfter = async (milliseconds: number) => {
        await pass(milliseconds);
        return ran;
      };
      await expect.poll(() => ranAfter(100)).toEqual([id, next]);
    } finally {
      await Promise.all(processes.map((jobs) => jobs.destroy()));
      vi.useRealTimers();
      await Promise.all(knexes.map((knex) => knex.destroy()));
    }
  });

  test.each([
    ['refuses it', 2, new Error('lost')],
    ['cannot be reached', 5, Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })],
  ])('an end that is stored only later repeats nothing: the database %s', async (_why, times, error) => {
    let [calls, failures] = [0, times];
    const host = hostOf(database.knex, client);
    const failingOn = (connection: Knex | Reader): Reader => ({
      raw: async (sql, values) => {
        if (sql.includes("state = 'done'") && failures > 0) {
          failures -= 1;
          throw error;
        }
        return connection.raw(sql, values as never);
      },
    });
    const failing: typeof host = {
      ...host,
      write: (work) => host.write((connection) => work(failingOn(connection))),
      ...(client !== 'sqlite' && { reader: failingOn(readerOf(host)) }),
    };
    const jobs = process(
      async () => {
        calls += 1;
      },
      { host: failing },
    );
    const [id = ''] = await jobs.insert([jobOf('b/f')]);
    await expect.poll(() => stateOf(jobs, id), { timeout: 5_000 }).toEqual(done);
    expect([calls, failures]).toEqual([1, 0]);
  });
});
