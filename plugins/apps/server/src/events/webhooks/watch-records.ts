import type { Core } from '@strapi/strapi';
import type { App, RecordEvent } from '../../apps/types';
import { type Awaitable, whenAll } from '../../common/time/awaitable';
import { isUnconfirmed } from '../../indexes';
import type { Jobs, NewJob } from '../../jobs/types';
import { type ChangeWatcher, joined } from '../../records';
import type { AppKey, Items } from '../../records/types';
import type { Sites } from '../../sites/types';
import {
  changesOfApps,
  type DeliveredChange,
  type DeliveryTarget,
  type IsAbout,
  jobsOfChanges,
  jobsOfRanges,
  said,
} from './deliveries';

interface WatchTools {
  jobs: Pick<Jobs, 'writes' | 'wake'>;
  hub: HostHub;
  /** The app, by its files of now; null where there is none. */
  loadApp(key: AppKey): Awaitable<App | null>;
  isAbout(app: App): IsAbout;
  /** Calls `effect` when the transaction of other code has ended that the caller is in, else at once; not after a rollback. */
  afterCommit(effect: () => void): Awaitable<void>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Stores the jobs of an app's webhooks with each change of its records, in its own transaction (docs/decisions/webhooks.md). */
export function watchRecords(tools: WatchTools): ChangeWatcher {
  const { jobs, hub, loadApp, isAbout, afterCommit, now } = tools;

  /** The jobs of changes of an app, for its own webhooks. */
  const dueJobs = (app: App, key: AppKey, changes: readonly DeliveredChange[]): NewJob[] =>
    [...app.settings.webhooks.keys()].flatMap((webhook) => {
      const about = changes.filter((change) => isAbout(app)(webhook, change));
      return jobsOfChanges(key, { webhook }, about.map(said), now());
    });

  /** Where a bulk operation delivers its changes to; the queries of webhooks are not asked yet. */
  async function targetsOf(key: AppKey, event: RecordEvent): Promise<{ app: App | null; targets: DeliveryTarget[] }> {
    const app = await loadApp(key);
    const own = [...(app?.settings.webhooks ?? [])].filter(([, { events }]) => events.has(event));
    const targets: DeliveryTarget[] = own.map(([webhook]) => ({ webhook }));
    return { app, targets: hub.isHeard(event) ? [...targets, { strapi: true }] : targets };
  }

  return {
    changed(unit, changed) {
      const apps = changesOfApps(changed);
      if (apps.length === 0) return undefined;
      return whenAll(
        apps.map(({ key }) => loadApp(key)),
        (loaded) => {
          const due = apps.flatMap(({ key, changes }, at) => {
            const app = loaded[at];
            return app ? dueJobs(app, key, changes) : [];
          });
          if (due.length > 0) unit.atCommit(jobs.writes(due));
          return () =>
            afterCommit(() => {
              if (due.length > 0) jobs.wake(apps.map(({ key }) => key));
              for (const { key, changes } of apps) hub.emit(key, changes.map(said));
            });
        },
      );
    },

    bulk: (store) => ({
      async createMany(key, records, options) {
        const { targets } = await targetsOf(key, 'create');
        if (targets.length === 0) return store.createMany(key, records, options);
        const at = now();
        const total = await store.createMany(key, records, {
          ...options,
          atCommit: (ranges) =>
            joined([
              jobs.writes(targets.flatMap((to) => jobsOfRanges(key, to, ranges, at))),
              options?.atCommit?.(ranges),
            ]),
        });
        await afterCommit(() => jobs.wake([key]));
        return total;
      },

      async clear(key, atCommit) {
        const { app, targets } = await targetsOf(key, 'delete');
        if (targets.length === 0) return store.clear(key, atCommit);
        await store.clear(key, (records) => {
          const changes = records.flatMap(({ id, items, creator }): DeliveredChange[] =>
            isUnconfirmed(items) ? [] : [{ event: 'delete', id, items, creator }],
          );
          const announced = targets.flatMap((to) => ('strapi' in to ? jobsOfChanges(key, to, changes, now()) : []));
          const due = jobs.writes([...(app ? dueJobs(app, key, changes) : []), ...announced]);
          return joined([due, atCommit?.(records)]);
        });
        await afterCommit(() => jobs.wake([key]));
      },
    }),
  };
}

/** Strapi's events, which its own webhooks and the host's code can wait for. */
export interface HostHub {
  /** Whether a webhook of Strapi waits for an event; other code may wait too. */
  isHeard(event: RecordEvent): boolean;
  /** Tells Strapi of changes, after their commit. */
  emit(key: AppKey, changes: readonly DeliveredChange[]): void;
}

/** What is said about a change, to Strapi's webhooks and to those of apps. */
interface ChangeData {
  site: string;
  app: string;
  block: string | null;
  id: string;
  /** The record's address; of a deleted one, the address that it had. */
  path: string;
  items: Items;
}

/** The name of an event, `apps.record.create` and so on. */
export const eventName = (event: RecordEvent): string => `apps.record.${event}`;

/** The data of a change; null where the site is gone. */
export function changeData(
  sites: Pick<Sites, 'site' | 'urls'>,
  key: AppKey,
  { id, items }: Pick<DeliveredChange, 'id' | 'items'>,
): Awaitable<ChangeData | null> {
  return whenAll([sites.site(key.site)], ([site]) => {
    if (!site) return null;
    const block = typeof items.block === 'string' ? items.block : null;
    const path = sites.urls.record(site, key.app, id);
    return { site: key.site, app: key.app, block, id, path, items: { ...items, id } };
  });
}

/** The parts of Strapi that its webhooks are made of. */
interface HostWebhooks {
  addAllowedEvent(key: string, event: string): void;
}

/** Strapi's hub of events, with the events of records among those that its webhooks may name. */
export function createHostHub(
  strapi: Core.Strapi,
  sites: Pick<Sites, 'site' | 'urls'>,
  report: (error: unknown) => void,
): HostHub {
  const store = strapi.get('webhookStore') as HostWebhooks;
  for (const event of ['create', 'update', 'delete'] as const)
    store.addAllowedEvent(`APPS_RECORD_${event.toUpperCase()}`, eventName(event));

  const tell = async (key: AppKey, changes: readonly DeliveredChange[]): Promise<void> => {
    for (const change of changes) {
      const data = await changeData(sites, key, change);
      if (data) await strapi.eventHub.emit(eventName(change.event), data);
    }
  };

  return {
    isHeard(event) {
      const { webhooksMap } = strapi.get('webhookRunner') as { webhooksMap?: Map<string, unknown> };
      return webhooksMap?.has(eventName(event)) === true;
    },
    // The request does not wait for those that listen.
    emit: (key, changes) => void tell(key, changes).catch(report),
  };
}
