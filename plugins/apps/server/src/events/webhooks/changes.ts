import type { RecordEvent } from '../../apps/types';
import { isUnconfirmed } from '../../indexes';
import type { ChangedItems } from '../../records';
import type { AppKey, Items } from '../../records/types';

/** A record that is created, changed or deleted, as it is afterwards; a deleted one as it was before. */
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
