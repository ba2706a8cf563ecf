import type { App, RecordEvent } from '../../apps/types';
import type { Jobs, NewJob } from '../../jobs/types';
import type { AppKey, RecordStore } from '../../records/types';
import { type RecordChange, RecordChanges } from './changes';
import { type IsAbout, jobsOfChanges, jobsOfRanges, type Target } from './deliveries';
import type { HostHub } from './host-hub';

export interface WatchTools {
  jobs: Pick<Jobs, 'writes' | 'wake'>;
  hub: HostHub;
  /** The app, by its files of now; null where there is none. */
  loadApp(key: AppKey): Promise<App | null>;
  isAbout(app: App): IsAbout;
  /** Calls `effect` when the transaction of other code has ended that the caller is in, else at once; not after a rollback. */
  afterCommit(effect: () => void): Promise<void>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/**
 * Wraps a store so that each change of records stores the jobs of the app's webhooks, in its own transaction
 * (docs/decisions/webhooks.md).
 */
export function watchRecords(store: RecordStore, tools: WatchTools): RecordStore {
  const { jobs, hub, loadApp, isAbout, afterCommit, now } = tools;

  /** The jobs of changes of an app, for its own webhooks. */
  const dueJobs = (app: App, key: AppKey, changes: readonly RecordChange[]): NewJob[] =>
    [...app.settings.webhooks.keys()].flatMap((webhook) => {
      const about = changes.filter((change) => isAbout(app)(webhook, change));
      return jobsOfChanges(key, { webhook }, about, now());
    });

  /** Where a bulk operation delivers its changes to; the queries of webhooks are not asked yet. */
  async function targetsOf(key: AppKey, event: RecordEvent): Promise<{ app: App | null; targets: Target[] }> {
    const app = await loadApp(key);
    const own = [...(app?.settings.webhooks ?? [])].filter(([, { events }]) => events.has(event));
    const targets: Target[] = own.map(([webhook]) => ({ webhook }));
    return { app, targets: hub.isHeard(event) ? [...targets, { strapi: true }] : targets };
  }

  return {
    ...store,
    async transact(work, about) {
      let done: { key: AppKey; changes: RecordChange[] }[] = [];
      let due: NewJob[] = [];
      const result = await store.transact(async (unit) => {
        const changed = new RecordChanges();
        unit.observe(changed.observer);
        const value = await work(unit);
        // A retry after a collision: the first attempt was rolled back.
        [done, due] = [changed.list(), []];
        for (const { key, changes } of done) {
          const app = await loadApp(key);
          if (app) due.push(...dueJobs(app, key, changes));
        }
        if (due.length > 0) unit.atCommit(jobs.writes(due));
        return value;
      }, about);
      if (done.length === 0) return result;
      await afterCommit(() => {
        if (due.length > 0) jobs.wake(done.map(({ key }) => key));
        for (const { key, changes } of done) hub.emit(key, changes);
      });
      return result;
    },

    async createMany(key, records, options) {
      const { targets } = await targetsOf(key, 'create');
      if (targets.length === 0) return store.createMany(key, records, options);
      const at = now();
      const total = await store.createMany(key, records, {
        ...options,
        atCommit: (ranges) => jobs.writes(targets.flatMap((to) => jobsOfRanges(key, to, ranges, at))),
      });
      await afterCommit(() => jobs.wake([key]));
      return total;
    },

    async clear(key) {
      const { app, targets } = await targetsOf(key, 'delete');
      if (targets.length === 0) return store.clear(key);
      await store.clear(key, (records) => {
        const changes = records.map(
          ({ id, items, creator }): RecordChange => ({ event: 'delete', id, items, creator }),
        );
        const announced = targets.flatMap((to) => ('strapi' in to ? jobsOfChanges(key, to, changes, now()) : []));
        return jobs.writes([...(app ? dueJobs(app, key, changes) : []), ...announced]);
      });
      await afterCommit(() => jobs.wake([key]));
    },
  };
}
