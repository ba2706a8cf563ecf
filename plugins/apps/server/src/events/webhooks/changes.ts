import type { RecordEvent } from '../../apps/types';
import type { AppKey, Items, UnitObserver } from '../../records/types';

/** A record that is created, changed or deleted, as it is afterwards; a deleted one as it was before. */
export interface RecordChange {
  event: RecordEvent;
  id: string;
  items: Items;
  creator: string | null;
}

interface Entry {
  key: AppKey;
  id: string;
  creator: string | null;
  before: Items | null;
  after: Items | null;
}

/** What a unit of work has changed: each record before it, and at its end. */
export class RecordChanges {
  private readonly entries = new Map<string, Entry>();

  readonly observer: UnitObserver = {
    onItems: (key, before, after, { id, creator }) => {
      const known = this.entries.get(nameOf(key, id));
      this.entries.set(nameOf(key, id), { key, id, creator, before: known ? known.before : before, after });
    },
    onRename: (key, from, to) => {
      const source = this.entries.get(nameOf(key, from));
      if (!source || from === to) return;
      const before = this.entries.get(nameOf(key, to))?.before ?? null;
      this.entries.set(nameOf(key, to), { ...source, id: to, before });
      this.entries.set(nameOf(key, from), { ...source, after: null });
    },
  };

  /** The changes of each app, in the order in which its records were first changed. */
  list(): { key: AppKey; changes: RecordChange[] }[] {
    const apps = new Map<string, { key: AppKey; changes: RecordChange[] }>();
    for (const entry of this.entries.values()) {
      const change = changeOf(entry);
      if (!change) continue;
      const app = apps.get(nameOf(entry.key, '')) ?? { key: entry.key, changes: [] };
      apps.set(nameOf(entry.key, ''), app);
      app.changes.push(change);
    }
    return [...apps.values()];
  }
}

const nameOf = ({ site, app }: AppKey, id: string): string => JSON.stringify([site, app, id]);

/** Null for a record that was created and deleted again. */
function changeOf({ id, creator, before, after }: Entry): RecordChange | null {
  if (after) return { event: before ? 'update' : 'create', id, creator, items: after };
  return before && { event: 'delete', id, creator, items: before };
}
