import type { App, RecordEvent, Webhook } from '../../apps/types';
import { memoized } from '../../common/collections';
import { isAppsError } from '../../common/errors';
import { isUnconfirmed, searchMatcher } from '../../indexes';
import type { NewJob } from '../../jobs/types';
import type { ChangedItems } from '../../records';
import type { AppKey, Items, SeqRange } from '../../records/types';

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
export type DeliveryTarget = { webhook: string } | { strapi: true };

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

/** Changes of one transaction for one webhook that are jobs of their own at once, and those that one job holds for later. */
const MAX_AT_ONCE = 50;
const MAX_TOGETHER = 100;
const MAX_TEXT = 256 * 1024;

/** Ranges of a bulk creation in one job. */
const MAX_RANGES = 1_000;

/** Whether a webhook of the app is about a change. An update counts as the record is after it, a deletion as it was before. */
export type IsAbout = (name: string, change: DeliveredChange) => boolean;

/** By the app's folder at its revision: the queries are checked once. @param report receives why a query cannot be used */
export const createIsAbout = (report: (message: string) => void): ((app: App) => IsAbout) =>
  memoized((app: App) => {
    const tests = new Map([...app.settings.webhooks].map(([name, one]) => [name, testOf(app, name, one, report)]));
    return (name, change) =>
      app.settings.webhooks.get(name)?.events.has(change.event) === true && tests.get(name)?.(change) === true;
  });

function testOf(
  { id, indexes }: App,
  name: string,
  { block, query }: Webhook,
  report: (message: string) => void,
): (change: DeliveredChange) => boolean {
  try {
    const matches = searchMatcher(indexes, { query: query ?? '' });
    return (change) => (block === null || change.items.block === block) && matches(change);
  } catch (error) {
    if (!isAppsError(error)) throw error;
    report(`the webhook "${name}" of the app "${id}" is not sent: ${error.message}`);
    return () => false;
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

/** The jobs of what a transaction has changed for one target: few rows, however many records they are about. */
export function jobsOfChanges(
  key: AppKey,
  to: DeliveryTarget,
  changes: readonly DeliveredChange[],
  at: number,
): NewJob[] {
  return 'webhook' in to && changes.length <= MAX_AT_ONCE
    ? recordJobs(key, to, changes, at)
    : jobsTogether(key, to, changes, at);
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
