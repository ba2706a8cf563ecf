import { randomUUID } from 'node:crypto';
import { AppsError } from '../common/errors';
import type { Logger } from '../common/log';
import { OwnValue } from '../common/request-objects';
import { createSql, dialects, type HostDatabase, type Sql, throughOutage } from '../database';
import type { Observations } from '../metrics';
import type { Signals } from '../processes/types';
import { CollisionError } from '../records';
import type { AppKey, UnitOfWork } from '../records/types';
import { JobQueue } from './queue';
import {
  countJobs,
  deleteJob,
  deleteJobs,
  findJob,
  heldKey,
  holderOf,
  insertJobs,
  listJobs,
  retryJobs,
  TABLE,
  waitingOf,
} from './rows';
import type { JobKind, Jobs, NewJob } from './types';
import { createTryLog, type Handled, JobWorkers, type LogTry } from './workers';

/**
 * Milliseconds between two looks for jobs of other processes: where these say so themselves, and where they do not. Processes that say
 * so are not asked once nothing waits or runs, and nothing was stored for as long.
 */
const SLOW_LOOK = 30_000;
const LOOK = 1_000;

/** Milliseconds between two notifications of a process that stores jobs: less than those after which others look for the last time. */
const ANNOUNCE = 15_000;

/** Milliseconds between a notification and the look that it causes. */
const SOON = 50;

/** Milliseconds between two deletions of old jobs, and in a day. */
const PRUNE = 60 * 60_000;
const DAY = 24 * 60 * 60_000;

/** How often the job that holds a key is looked for, which may end meanwhile. */
const MAX_TRIES = 5;

/** Milliseconds for which the number of an app's waiting jobs is used again. */
const COUNT_AGE = 1_000;

/** Tries of one `runDue`: a job that adds itself would go on without end. */
const MAX_DUE = 2_000;

export interface JobsOptions {
  database: HostDatabase;
  /** By them processes tell each other of new jobs. */
  signals: Pick<Signals, 'isReliable' | 'send' | 'on'>;
  logger: Logger;
  /** Jobs that this process does at once; tries after the first; seconds before the second; seconds of a lease; days. */
  config: { workers: number; retries: number; backoff: number; lease: number; keep: number };
  /** Jobs of an app in one site that logic lets wait. */
  limit: number;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** Logs each try, for developers; without it only failures. */
  logsTries?: boolean;
  /** Deletes what else is kept for some time, with the jobs that are old. */
  tidy?(): Promise<void>;
  /** Called after each try. */
  observe?: Observations['job'];
  /** Makes the reason of a failed try one that may be kept. */
  masked?(text: string): string;
}

export function createJobs({
  database,
  signals,
  logger,
  config,
  limit,
  now = Date.now,
  logsTries = false,
  tidy: tidyOthers = async () => {},
  observe = () => {},
  masked = (text) => text,
}: JobsOptions): Jobs {
  const dialect = dialects[database.client];
  const queue = new JobQueue({ database, ...config, now, masked });
  const handlers = new Map<JobKind, Handled>();
  const writeTry = createTryLog(logger, logsTries);
  const logTry: LogTry = (job, time, failed) => {
    writeTry(job, time, failed);
    observe(job.key, job.kind, failed ? (failed.isDead ? 'dead' : 'failed') : 'done', time);
  };
  const workers = new JobWorkers({
    queue,
    logger,
    workers: config.workers,
    handlers,
    now,
    logTry,
    later: (dueAt) => {
      const at = dueAt ?? now() + LOOK;
      if (at < lookAt) plan(at);
    },
    full: () => signals.send('jobs'),
  });
  /** The jobs with keys that a unit of work has added, by site, app and key: they are not stored yet. */
  const ownKeys = new OwnValue<UnitOfWork, Map<string, string>>('jobs');
  /** What is to be stored at the end of this turn of the event loop, by transaction. */
  const inserting = new OwnValue<Transaction, { jobs: StoredJob[]; done: Promise<void> }>('inserting');
  const counted = new Map<string, { count: number; at: number }>();
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;
  let isInLook = false;
  let hasFailed = false;
  /** When this process has announced its jobs, and when it, or another one, has stored some. */
  let announcedAt = 0;
  let activeAt = now();
  /** After a look: nothing waits or runs, and nothing was stored since the look before. */
  let isQuiet = false;
  let lookAt = Number.POSITIVE_INFINITY;
  let renewal: NodeJS.Timeout | undefined;
  let reclaimedAt = 0;
  let prunedAt = 0;
  /** Between `start` and `destroy`: a process that only stores jobs, such as a command, looks for none. */
  let isLooking = false;
  const report = (error: unknown) => logger.error(`[apps] jobs: ${(error as Error).message}`);

  /** Begins with jobs that this process has stored; others do it where this one cannot at once. */
  function wake(keys: readonly AppKey[], dueAt: number | null = null): void {
    if (keys.length === 0) return;
    const isNews = isOver(announcedAt, ANNOUNCE, now());
    if (isNews) announcedAt = now();
    if (isNews || !workers.isFree) signals.send('jobs');
    noteActivity();
    if (dueAt === null || dueAt <= now()) workers.add(keys);
    else if (dueAt < lookAt) plan(dueAt);
  }

  /** Puts back what other processes have left behind, and deletes what is old. */
  async function tidy(): Promise<void> {
    const at = now();
    if (isOver(reclaimedAt, (config.lease * 1_000) / 2, at)) {
      reclaimedAt = at;
      // After a pause of this process its own jobs would be taken for those of one that has ended.
      workers.lose(await queue.renew(workers.claims));
      const { keys, dead } = await queue.reclaim();
      for (const { id, kind, name } of dead) logger.error(`[apps] job ${id} (${kind} ${name}) is given up`);
      workers.add(keys);
    }
    if (!isOver(prunedAt, PRUNE, at)) return;
    prunedAt = at;
    await queue.prune(at - config.keep * DAY);
    await tidyOthers();
  }

  /** Jobs were stored, here or in another process: a process that has ended with one of them is noticed by looks alone. */
  function noteActivity(): void {
    activeAt = now();
    isQuiet = false;
    if (lookAt - activeAt > SLOW_LOOK) plan(null);
  }

  /** Begins with what is due. @returns when the next job is due */
  async function look(): Promise<number | null> {
    const at = now();
    await tidy();
    const { due, isRunning } = await queue.pending();
    if (due !== null && due <= now()) workers.add(await queue.dueApps());
    hasFailed = false;
    isQuiet = due === null && !isRunning && at - activeAt >= SLOW_LOOK;
    return due;
  }

  /** One look at a time. */
  function keepLooking(): void {
    if (isInLook) return;
    isInLook = true;
    const failed = (error: unknown) => {
      hasFailed = true;
      isQuiet = false;
      report(error);
      return null;
    };
    void look()
      .catch(failed)
      .then((due) => {
        isInLook = false;
        plan(due);
      });
  }

  /** After a notification of another process; many of them are one look. */
  function lookSoon(): void {
    noteActivity();
    if (!workers.isFree) {
      // Another process that was notified too may be as busy: then this one must look when it has room.
      if (lookAt - now() > LOOK) plan(now());
      return;
    }
    soon ??= setTimeout(() => {
      soon = undefined;
      keepLooking();
    }, SOON).unref();
  }

  /** Looks again when the next job is due, or when other processes may have stored one. */
  function plan(due: number | null): void {
    if (!isLooking) return;
    clearTimeout(timer);
    const at = now();
    const usual = !signals.isReliable() ? LOOK : isQuiet ? PRUNE : SLOW_LOOK;
    // What is due already waits for room in this process, or for another one.
    const wait = due === null ? usual : due <= at ? LOOK : Math.min(usual, due - at);
    lookAt = at + wait;
    timer = setTimeout(keepLooking, wait).unref();
  }

  const newId = () => randomUUID();

  async function requireFew({ key }: NewJob): Promise<void> {
    const name = JSON.stringify([key.site, key.app]);
    const known = counted.get(name);
    const isFresh = known !== undefined && Math.abs(now() - known.at) < COUNT_AGE;
    const count = isFresh ? known.count : await waitingOf(queue.reading(), key, limit);
    counted.set(name, { count: count + 1, at: isFresh ? known.at : now() });
    if (count < limit) return;
    throw new AppsError('RateLimitError', `${limit} jobs of the app "${key.app}" wait already`, {
      headers: { 'Retry-After': '60' },
    });
  }

  return {
    async add(unit: UnitOfWork, job) {
      const { key, jobKey } = job;
      const own = ownKeys.getOrMake(unit, () => new Map());
      const name = JSON.stringify([key.site, key.app, jobKey]);
      const added = jobKey === null ? undefined : own.get(name);
      if (added !== undefined) return added;
      const held = jobKey === null ? null : await unit.alongside(async () => holderOf(await here(), key, jobKey));
      if (held !== null && jobKey !== null) {
        // One that has ended meanwhile would not do what this request asks for: the request runs again.
        unit.atCommit(async (sql) => {
          // Locked, so that it does not end before this request is committed.
          if ((await holderOf(sql, key, jobKey, dialect.shareLock)) !== held) throw new CollisionError();
        });
        return held;
      }
      await requireFew(job);
      const id = newId();
      if (jobKey !== null) own.set(name, id);
      unit.atCommit((sql) => insertNew(sql, { ...job, id }));
      const outer = await database.current();
      unit.afterCommit(() => wakeAfter(outer, [key], job.dueAt));
      return id;
    },

    async insert(jobs) {
      const trx = await database.current();
      const added = jobs.map((job) => ({ ...job, id: newId() }));
      await (trx ? insertTogether(trx, added) : throughOutage(() => queue.writing((sql) => store(sql, added))));
      const keys = [...new Map(jobs.map(({ key }) => [JSON.stringify([key.site, key.app]), key])).values()];
      const times = jobs.map(({ dueAt }) => dueAt ?? 0);
      const committed = () => wake(keys, Math.min(...times));
      afterTransaction(trx, committed);
      const sql = trx ? createSql(trx, dialect) : queue.reading();
      const ids: string[] = [];
      for (const { id, key, jobKey } of added)
        ids.push(jobKey === null ? id : ((await holderOf(sql, key, jobKey, trx && dialect.newest)) ?? id));
      return ids;
    },

    writes(jobs) {
      const added = jobs.map((job) => ({ ...job, id: newId() }));
      return (sql) => store(sql, added);
    },

    async ensure(job, unit) {
      if (unit) {
        unit.atCommit((sql) => ensureRow(sql, job));
        const outer = await database.current();
        unit.afterCommit(() => wakeAfter(outer, [job.key]));
        return;
      }
      await database.transaction((trx) => ensureRow(createSql(trx, dialect), job));
      wake([job.key]);
    },
    bury(job, reason) {
      const dead = { ...job, id: newId(), name: masked(job.name) };
      return throughOutage(() =>
        queue.writing((sql) => insertJobs(sql, [dead], now(), dialect.insertIgnore, masked(reason))),
      );
    },
    async withdraw(ids) {
      if (ids.length > 0) await deleteJobs(await transaction(), ids);
    },
    wake: (keys) => wake(keys),
    handle: (kind, handler, isSlow = false) => void handlers.set(kind, { handler, isSlow }),
    list: (filter, part) => listJobs(queue.reading(), filter, part),
    counts: (filter = {}) => countJobs(queue.reading(), filter),
    find: (id) => findJob(queue.reading(), id),
    async retry(which) {
      const { keys, count } = await queue.writing((sql) => retryJobs(sql, which, now()));
      wake(keys);
      signals.send('jobs');
      return count;
    },
    delete: (id) => queue.writing((sql) => deleteJob(sql, id)),
    async runDue() {
      for (let all = 0, counted = 0; ; ) {
        const tries = await workers.runAll(await queue.dueApps(), MAX_DUE - all);
        if (tries.length === 0) return counted;
        all += tries.length;
        counted += tries.filter((kind) => kind !== 'mail').length;
        if (all >= MAX_DUE) throw new Error(`${all} tries have not emptied the queue: does a job add itself?`);
      }
    },

    health() {
      if (config.workers === 0) return 'off';
      return hasFailed ? 'failing' : 'ok';
    },
    async queued() {
      const sql = queue.reading();
      const states = ['waiting', 'running', 'dead'] as const;
      const counts = await Promise.all(states.map((state) => countJobs(sql, { state })));
      return { counts: counts.flat(), nextDue: await queue.nextDue() };
    },

    start() {
      if (config.workers === 0) return;
      isLooking = true;
      workers.start();
      signals.on('jobs', lookSoon);
      const renew = async () => workers.lose(await queue.renew(workers.claims));
      renewal = setInterval(() => void renew().catch(report), (config.lease * 1_000) / 3).unref();
      keepLooking();
    },

    async destroy() {
      isLooking = false;
      clearTimeout(timer);
      clearTimeout(soon);
      if (await workers.destroy()) signals.send('jobs');
      clearInterval(renewal);
    },
  };

  function store(sql: Sql, jobs: readonly StoredJob[]): Promise<void> {
    return insertJobs(sql, jobs, now(), dialect.insertIgnore);
  }

  /** Jobs that are stored in a transaction at the same time are one statement. */
  function insertTogether(trx: Transaction, added: readonly StoredJob[]): Promise<void> {
    const known = inserting.get(trx);
    if (known) {
      known.jobs.push(...added);
      return known.done;
    }
    const jobs = [...added];
    const done = new Promise((resolve) => setImmediate(resolve)).then(() => {
      inserting.set(trx, undefined);
      return store(createSql(trx, dialect), jobs);
    });
    inserting.set(trx, { jobs, done });
    return done;
  }

  /** After the commit of a unit of work; of one in a transaction of the host's code, after that. */
  function wakeAfter(outer: Transaction | undefined, keys: readonly AppKey[], dueAt: number | null = null): void {
    afterTransaction(outer, () => wake(keys, dueAt));
  }

  async function transaction(): Promise<Sql> {
    const trx = await database.current();
    if (!trx) throw new Error('jobs are withdrawn in the transaction that has stored them');
    return createSql(trx, dialect);
  }

  /** Statements in the transaction that the caller is in, else outside of any. */
  async function here(): Promise<Sql> {
    const trx = await database.current();
    return trx ? createSql(trx, dialect) : queue.reading();
  }

  /** See Jobs.ensure. The job that holds the key ends after this transaction, so that it can still find what is committed by it. */
  async function ensureRow(sql: Sql, job: NewJob & { jobKey: string }): Promise<void> {
    const held = heldKey(job.key, job.jobKey);
    for (let time = 1; time <= MAX_TRIES; time += 1) {
      const [row] = await sql.rows(`select state, due_at from ${TABLE} where held_key = ?${dialect.newest}`, [held]);
      if (!row) await store(sql, [{ ...job, id: newId() }]);
      else if (row.state === 'waiting' && Number(row.due_at) > now()) {
        const pull = `update ${TABLE} set due_at = ? where held_key = ? and state = 'waiting' and due_at > ?`;
        await sql.change(pull, [now(), held, now()]);
      }
      const [locked] = await sql.rows(`select id from ${TABLE} where held_key = ?${dialect.shareLock}`, [held]);
      if (locked) return;
      // It has ended between the two.
    }
    throw new CollisionError();
  }

  /** Stores a job of a unit of work; the unit runs again when another request has stored one with its key meanwhile. */
  async function insertNew(sql: Sql, job: StoredJob): Promise<void> {
    await store(sql, [job]);
    if (job.jobKey !== null && (await holderOf(sql, job.key, job.jobKey, dialect.newest)) !== job.id)
      throw new CollisionError();
  }
}

type StoredJob = NewJob & { id: string };
type Transaction = NonNullable<Awaited<ReturnType<HostDatabase['current']>>>;

/** Calls `done` once a transaction is committed; at once without one. */
function afterTransaction(trx: Transaction | undefined, done: () => void): void {
  if (trx) trx.executionPromise.then(done, () => undefined);
  else done();
}

/** Whether `time` ms have gone by since `from`, or the clock was set back. */
const isOver = (from: number, time: number, at: number): boolean => at - from >= time || at < from;
