import type { RecordEvent } from '../../apps/types';
import type { ChangedItems } from '../../records';
import type { AppKey, Items } from '../../records/types';

/** A record that is created, changed or deleted, as it is afterwards; a deleted one as it was before. */
export interface RecordChange {
  event: RecordEvent;
  id: string;
  items: Items;
  creator: string | null;
  /** Whether those who are told get none of its items (`Provenance.forgets`). */
  forgets?: boolean;
}

/** A change as others are told of it: of a record that is forgotten, which one it was. */
export function said({ forgets = false, ...change }: RecordChange): RecordChange {
  if (!forgets || change.event !== 'delete') return change;
  const { block } = change.items;
  return { ...change, creator: null, items: block === undefined ? {} : { block } };
}

/** The changes of each app, in the order in which its records were first changed. */
export function changesOfApps(changed: readonly ChangedItems[]): { key: AppKey; changes: RecordChange[] }[] {
  const apps = new Map<string, { key: AppKey; changes: RecordChange[] }>();
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

/** Null for a record that was created and deleted again. */
function changeOf({ id, creator, before, after, by }: ChangedItems): RecordChange | null {
  const forgets = by?.forgets ?? false;
  if (after) return { event: before ? 'update' : 'create', id, creator, items: after, forgets };
  return before && { event: 'delete', id, creator, items: before, forgets };
}
