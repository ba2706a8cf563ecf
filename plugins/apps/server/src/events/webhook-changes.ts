import type { Core } from '@strapi/strapi';
import type { App, RecordEvent, Webhook } from '../apps/types';
import { memoized } from '../common/collections';
import { type Awaitable, whenAll } from '../common/time/awaitable';
import { isUnconfirmed, searchMatcher } from '../indexes';
import type { Jobs, NewJob } from '../jobs/types';
import { type ChangedItems, type ChangeWatcher, joined } from '../records';
import type { AppKey, Items, SeqRange } from '../records/types';
import type { Sites } from '../sites/types';

/** A change of a record: its items after the change; those before it where the record was deleted. */
export interface DeliveredChange {
  event: RecordEvent;
  id: string;
  items: Items;
  creator: string | null;
  /** Whether webhooks get none of its items (`Provenance.forgets`). */
  forgets?: boolean;
}

/** A change as webhooks report it: of a record that is forgotten, its id and block. */
export function said({ forgets = false, ...change }: DeliveredChange): DeliveredChange {
  if (!forgets || change.event !== 'delete') return change;
  const { block } = change.items;
  return { ...change, creator: null, items: block === undefined ? {} : { block } };
}

/** The changes of each app, in the order in which its records were first changed. */
export function changesOfApps(changed: readonly ChangedItems[]): { key: AppKey; changes: DeliveredChange[] }[] {
  const apps = new Map<string, { key: AppKey; changes: DeliveredChange[] }>();
  for (const entry of changed) {
    const change = changeOf(entry);
    if (!change) continue;
    const name = JSON.stringify([entry.key.site, entry.key.app]);
    const app = apps.get(name) ?? { key: entry.key, changes: [] };
    apps.set(name, app);
    app.changes.push(change);
  }
  return [...apps.values()];
}

/** A record that waits until it is confirmed is none for others: its confirmation creates it (docs/decisions/confirmation.md). */
const announced = (items: Items | null): Items | null => (isUnconfirmed(items) ? null : items);

/** Null for a record that was created and deleted again, and for one that was not confirmed yet. */
function changeOf(change: ChangedItems): DeliveredChange | null {
  const { id, creator, by } = change;
  const forgets = by?.forgets ?? false;
  const [before, after] = [announced(change.before), announced(change.after)];
  if (after) return { event: before ? 'update' : 'create', id, creator, items: after, forgets };
  return before && { event: 'delete', id, creator, items: before, forgets };
}

/** Where changes are delivered to: a webhook of the app, by its name, or those of Strapi (`apps.record.create` and so on). */
type DeliveryTarget = { webhook: string } | { strapi: true };

/** One change, for a webhook. Times are milliseconds since the epoch. */
export interface SingleDelivery {
  what: 'record';
  to: { webhook: string };
  event: RecordEvent;
  id: string;
  items: Items;
  at: number;
}

/** Several changes, or the records of a bulk creation by their rows: each becomes a job of its own. */
export type ManyDeliveries = { to: DeliveryTarget; at: number } & (
  | { what: 'records'; changes: readonly DeliveredChange[] }
  | { what: 'created'; ranges: readonly SeqRange[] }
);

/** What a job of the kind `webhook` has to deliver. */
export type Delivery = SingleDelivery | ManyDeliveries;

/** Changes of one transaction that one job holds for later. */
const MAX_TOGETHER = 100;
const MAX_TEXT = 256 * 1024;

/** Ranges of a bulk creation in one job. */
const MAX_RANGES = 1_000;

/** Whether a webhook of the app is about a change. An update counts as the record is after it, a deletion as it was before. */
export type IsAbout = (name: string, change: DeliveredChange) => boolean;

/**
 * By the app's folder at its revision: the queries are checked once. While a broken block leaves out an index of a query, what the webhook is
 * about is not known: asking fails with the error of the block.
 */
export const isAboutOf: (app: App) => IsAbout = memoized((app: App) => {
  const tests = new Map([...app.settings.webhooks].map(([name, one]) => [name, testOf(app, one)]));
  return (name, change) =>
    app.settings.webhooks.get(name)?.events.has(change.event) === true && tests.get(name)?.(change) === true;
});

function testOf(app: App, { block, query }: Webhook): (change: DeliveredChange) => boolean {
  const matches = matcherOf(app, query ?? '');
  return (change) => (block === null || change.items.block === block) && matches(change);
}

function matcherOf({ indexes, blocks }: App, query: string): (change: DeliveredChange) => boolean {
  try {
    return searchMatcher(indexes, { query });
  } catch (error) {
    const broken = [...blocks.values()].find((one) => one.error);
    return () => {
      throw broken?.error ?? error;
    };
  }
}

/** The name that jobs for Strapi's webhooks have. */
const STRAPI = 'Strapi';

const jobOf = (key: AppKey, delivery: Delivery): NewJob => ({
  key,
  kind: 'webhook',
  name: 'webhook' in delivery.to ? delivery.to.webhook : STRAPI,
  data: { ...delivery } as unknown as Items,
  requester: '',
  jobKey: null,
  // A receiver gets the changes of a record in their order.
  sequence: delivery.what === 'record' ? JSON.stringify(['webhook', delivery.to.webhook, delivery.id]) : null,
  dueAt: null,
});

/** A job for each of the changes. */
export const recordJobs = (
  key: AppKey,
  to: SingleDelivery['to'],
  changes: readonly DeliveredChange[],
  at: number,
): NewJob[] => changes.map(({ event, id, items }) => jobOf(key, { what: 'record', to, event, id, items, at }));

/**
 * The jobs of what a transaction has changed for one target. A webhook of the app gets a job for each change at once: the jobs of one record
 * are done in the order of its changes.
 */
function jobsOfChanges(key: AppKey, to: DeliveryTarget, changes: readonly DeliveredChange[], at: number): NewJob[] {
  return 'webhook' in to ? recordJobs(key, to, changes, at) : jobsTogether(key, to, changes, at);
}

function jobsTogether(key: AppKey, to: DeliveryTarget, changes: readonly DeliveredChange[], at: number): NewJob[] {
  const jobs: NewJob[] = [];
  let [together, text]: [DeliveredChange[], number] = [[], 0];
  const end = () => {
    if (together.length > 0) jobs.push(jobOf(key, { what: 'records', to, changes: together, at }));
    [together, text] = [[], 0];
  };
  for (const change of changes) {
    together.push(change);
    text += JSON.stringify(change.items).length;
    if (together.length >= MAX_TOGETHER || text > MAX_TEXT) end();
  }
  end();
  return jobs;
}

/** The jobs of a bulk creation for one target. */
export function jobsOfRanges(key: AppKey, to: DeliveryTarget, ranges: readonly SeqRange[], at: number): NewJob[] {
  const jobs: NewJob[] = [];
  for (let from = 0; from < ranges.length; from += MAX_RANGES)
    jobs.push(jobOf(key, { what: 'created', to, ranges: ranges.slice(from, from + MAX_RANGES), at }));
  return jobs;
}

interface WatchTools {
  jobs: Pick<Jobs, 'writes' | 'wake'>;
  hub: HostHub;
  /** The app, by its files of now; null where there is none. */
  loadApp(key: AppKey): Awaitable<App | null>;
  /** Calls `effect` when the transaction of other code has ended that the caller is in, else at once; not after a rollback. */
  afterCommit(effect: () => void): Awaitable<void>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/**
 * Stores the jobs of an app's webhooks with each change of its records, in its own transaction (docs/decisions/webhooks.md). A change fails
 * while it is not known which webhooks are about it.
 */
export function watchRecords(tools: WatchTools): ChangeWatcher {
  const { jobs, hub, loadApp, afterCommit, now } = tools;

  /** The jobs of changes of an app, for its own webhooks. */
  const dueJobs = (app: App, key: AppKey, changes: readonly DeliveredChange[]): NewJob[] =>
    [...app.settings.webhooks.keys()].flatMap((webhook) => {
      const about = changes.filter((change) => isAboutOf(app)(webhook, change));
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
