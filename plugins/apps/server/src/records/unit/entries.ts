import { type AppsError, unavailable } from '../../common/errors';
import { IndexMissing } from '../../indexes';
import { hashOf, scopeOf } from '../table/ids';
import type { AppKey, StoredRecord } from '../types';

/** State of one record in a unit of work. */
export interface Entry {
  readonly key: AppKey;
  readonly id: string;
  readonly hash: string;
  readonly scope: string;
  /** The state in the database, as this unit has read or written it. */
  base: StoredRecord | null;
  /** The state in the database before this unit wrote it in its open transaction. */
  stored: StoredRecord | null;
  /** The state that this unit's reads return. */
  current: StoredRecord | null;
  /** The state before the request that runs in this unit now; see `mark`. */
  before: StoredRecord | null;
  /** `current` is to be written. */
  dirty: boolean;
  /** This unit has read it by id: a change by another unit before the commit is a collision. */
  read: boolean;
  /** This unit has created it. */
  created: boolean;
  /** This unit has written it to its open transaction. */
  written: boolean;
}

/** The next version of the record: one more than before this request. 0 while it is not in the database. */
export function nextVersion({ base, before }: Entry): number {
  return base ? (before ?? base).version + 1 : 0;
}

/** The identity map of a unit of work: records that it has read or written, in order of their creation by it. */
export class Entries {
  private byHash = new Map<string, Entry>();

  find(hash: string): Entry | undefined {
    return this.byHash.get(hash);
  }

  /** The entry of a record that was read; an existing entry keeps its state. */
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

  /** Saves the state for the next request in this unit; returns a function that restores it. */
  mark(): () => void {
    for (const entry of this.byHash.values()) entry.before = entry.current;
    const kept = [...this.byHash.values()].map((entry) => ({ ...entry }));
    return () => {
      this.byHash = new Map(kept.map((entry) => [entry.hash, entry]));
    };
  }

  /** Moves an entry to the end: the record created last is inserted last. */
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

  /** After a rollback: marks the entries written in the transaction as pending again. */
  unwrite(): void {
    for (const entry of this.byHash.values()) {
      if (!entry.written) continue;
      Object.assign(entry, { base: entry.stored, written: false });
      entry.dirty = entry.base !== null || entry.current !== null;
      // A record that was deleted and created again has the row of the deleted one again, and so its versions.
      const { current } = entry;
      if (current) entry.current = { ...current, items: current.items, version: nextVersion(entry) };
    }
  }

  /** Entries that were read by id and not written. */
  readOnly(): Entry[] {
    return [...this.byHash.values()].filter((entry) => entry.read && !entry.dirty && !entry.written);
  }
}

/** The error in a transaction of other code, where an index can be neither built nor awaited. Starts to build the index. */
export function notBuilt(missing: IndexMissing): AppsError {
  missing.build().catch(() => undefined);
  return unavailable('The indexes are not built yet, try again soon', 2);
}

/** The result of a search; ServiceUnavailableError when an index is missing, which is then built. */
export async function refuseMissing<T>(search: Promise<T>): Promise<T> {
  try {
    return await search;
  } catch (error) {
    throw error instanceof IndexMissing ? notBuilt(error) : error;
  }
}
