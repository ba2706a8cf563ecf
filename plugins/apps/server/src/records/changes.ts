import { type Provenance, provenance } from './provenance';
import type { AppKey, Items, UnitObserver } from './types';

/** A record that a unit of work has changed: before it and at its end; null where there is none. */
export interface ChangedItems {
  key: AppKey;
  id: string;
  creator: string | null;
  before: Items | null;
  after: Items | null;
  /** Who has changed it, and through what, when it was first changed; undefined for the host's own code. */
  by: Provenance | undefined;
}

/** What a unit of work has changed: each record before it, and at its end. */
export class RecordChanges {
  private readonly entries = new Map<string, ChangedItems>();

  readonly observer: UnitObserver = {
    onItems: (key, before, after, { id, creator }) => {
      const known = this.entries.get(nameOf(key, id));
      const first = known ?? { before, by: provenance() };
      this.entries.set(nameOf(key, id), { key, id, creator, before: first.before, after, by: first.by });
    },
    onRename: (key, from, to) => {
      const source = this.entries.get(nameOf(key, from));
      if (!source || from === to) return;
      const before = this.entries.get(nameOf(key, to))?.before ?? null;
      this.entries.set(nameOf(key, to), { ...source, id: to, before });
      this.entries.set(nameOf(key, from), { ...source, after: null });
    },
  };

  /** In the order in which the records were first changed, without those that were created and deleted again. */
  list(): ChangedItems[] {
    return [...this.entries.values()].filter(({ before, after }) => before !== null || after !== null);
  }
}

const nameOf = ({ site, app }: AppKey, id: string): string => JSON.stringify([site, app, id]);
