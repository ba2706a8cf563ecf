import type { HostDatabase } from './database';
import type { LiveChanges } from './events';
import type { Checks, HttpServices } from './http';
import type { Jobs } from './jobs/types';
import type { LogicRuntime } from './logic/types';
import type { Metrics, Reading } from './metrics';
import type { Redis } from './processes/types';

/** Milliseconds for which the numbers of the queue are shown again: each process of a site is asked for them. */
const KEPT = 10_000;

/** The part of Knex's pool that is counted. */
interface Pool {
  numUsed(): number;
  numFree(): number;
  numPendingAcquires(): number;
}

/** What this process needs to answer requests. @param isEnding whether it takes no more connections */
export function checksOf({ store, logic, jobs, statement }: HttpServices, isEnding: () => boolean): Checks {
  return {
    process: () => (isEnding() ? 'is ending' : null),
    database: async () => {
      await statement('select 1', []);
      return null;
    },
    sandbox: async () => ((await logic.setup()) === null ? null : 'cannot run logic'),
    indexes: async () => {
      await store.prepare();
      return null;
    },
    jobs: () => ({ ok: null, off: 'off', failing: 'the queue cannot be read' })[jobs.health()],
  };
}

interface Read {
  metrics: Pick<Metrics, 'labelsOf'>;
  jobs: Pick<Jobs, 'queued'>;
  logic: Pick<LogicRuntime, 'load' | 'paused'>;
  database: Pick<HostDatabase, 'knex'>;
  live: Pick<LiveChanges, 'open'>;
  redis: Pick<Redis, 'isReady'> | null;
}

/** Numbers of the moment, read when metrics are asked for. */
export function readingsOf({ metrics, jobs, logic, database, live, redis }: Read): Reading[] {
  let last: { at: number; queued: ReturnType<Jobs['queued']> } | undefined;
  const queued = () => {
    if (!last || Date.now() - last.at > KEPT) last = { at: Date.now(), queued: jobs.queued() };
    last.queued.catch(() => {
      last = undefined;
    });
    return last.queued;
  };
  return [
    {
      name: 'jobs',
      help: 'Jobs of all processes, by state',
      labels: ['site', 'app', 'kind', 'state'],
      read: async () => {
        const { counts } = await queued();
        return counts.map(({ kind, state, jobs: count, ...key }) => [{ ...metrics.labelsOf(key), kind, state }, count]);
      },
    },
    {
      name: 'jobs_late_seconds',
      help: 'For how long the job that is due first has been due',
      read: async () => {
        const { nextDue } = await queued();
        return [[{}, nextDue === null ? 0 : Math.max(0, Date.now() - nextDue) / 1_000]];
      },
    },
    {
      name: 'sandbox_sessions',
      help: 'Sessions of logic, by state',
      labels: ['state'],
      read: async () => Object.entries(logic.load()).map(([state, count]) => [{ state }, count]),
    },
    {
      name: 'paused_blocks',
      help: 'Blocks whose logic is paused, because it went over its limits',
      read: async () => [[{}, (await logic.paused()).length]],
    },
    {
      name: 'database_connections',
      help: 'Connections of the host’s pool, and work that waits',
      labels: ['state'],
      read: async () => {
        const { pool } = database.knex().client as { pool: Pool };
        return [
          [{ state: 'used' }, pool.numUsed()],
          [{ state: 'free' }, pool.numFree()],
          [{ state: 'waiting' }, pool.numPendingAcquires()],
        ];
      },
    },
    {
      name: 'live_connections',
      help: 'Pages that wait for changes',
      read: async () => [[{}, live.open()]],
    },
    {
      name: 'redis_ready',
      help: '1 where Redis is configured and answers, 0 where it does not',
      read: async () => (redis ? [[{}, redis.isReady() ? 1 : 0]] : []),
    },
  ];
}
