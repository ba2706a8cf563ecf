import { hashOf, scopeOf } from './ids';
import type { AppKey, StoredRecord } from './types';

/** What a unit of work knows of one record. */
export interface Entry {
  readonly key: AppKey;
  readonly id: string;
  readonly hash: string;
  readonly scope: string;
  /** As it is in the database, as far as this unit has read and written it. */
  base: StoredRecord | null;
  /** As it was there before this unit wrote it to its open transaction. */
  stored: StoredRecord | null;
  /** As this unit sees it. */
  current: StoredRecord | null;
  /** As it was before the request whose turn it is in this unit; see `mark`. */
  before: StoredRecord | null;
  /** `current` is to be written. */
  dirty: boolean;
  /** This unit has asked for it by id: somebody's change of it until the commit is a collision. */
  read: boolean;
  /** This unit has created it. */
  created: boolean;
  /** This unit has written it to its open transaction. */
  written: boolean;
}

/** The records a unit of work has met, in order of their creation by it. */
export class Entries {
  private byHash = new Map<string, Entry>();

  find(hash: string): Entry | undefined {
    return this.byHash.get(hash);
  }

  /** The entry of a record that was read; an entry that is there already stays as it is. */
  seen(key: AppKey, id: string, base: StoredRecord | null, read: boolean): Entry {
    const hash = hashOf(key, id);
    const known = this.byHash.get(hash);
    if (known) {
      known.read ||= read;
      return known;
    }
    const entry: Entry = {
      key,
      id,
      hash,
      scope: scopeOf(key),
      base,
      stored: base,
      current: base,
      before: base,
      dirty: false,
      read,
      created: false,
      written: false,
    };
    this.byHash.set(hash, entry);
    return entry;
  }

  /** Lets another request begin with what there is; returns how to go back to that. */
  mark(): () => void {
    for (const entry of this.byHash.values()) entry.before = entry.current;
    const kept = [...this.byHash.values()].map((entry) => ({ ...entry }));
    return () => {
      this.byHash = new Map(kept.map((entry) => [entry.hash, entry]));
    };
  }

  /** Puts an entry behind all others: what is created last is inserted last. */
  last(entry: Entry): void {
    this.byHash.delete(entry.hash);
    this.byHash.set(entry.hash, entry);
  }

  /** Entries to be written, of one scope or of all. */
  pending(scope?: string): Entry[] {
    return [...this.byHash.values()].filter((entry) => entry.dirty && (scope === undefined || entry.scope === scope));
  }

  /** Entries that were written, or are to be. */
  written(): Entry[] {
    return [...this.byHash.values()].filter((entry) => entry.dirty || entry.written);
  }

  /** The transaction was rolled back: what was written in it is to be written again. */
  unwrite(): void {
    for (const entry of this.byHash.values()) {
      if (!entry.written) continue;
      Object.assign(entry, { base: entry.stored, written: false });
      entry.dirty = entry.base !== null || entry.current !== null;
    }
  }

  /** Entries that were only read, by id. */
  readOnly(): Entry[] {
    return [...this.byHash.values()].filter((entry) => entry.read && !entry.dirty && !entry.written);
  }
}
