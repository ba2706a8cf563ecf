import { grouped } from '../../common/collections';
import { type AppsError, unavailable } from '../../common/errors';
import { type Dialect, isFailure, type Sql } from '../../database';
import { type IndexedRecord, type Indexes, IndexMissing, type RecordWrite } from '../../indexes';
import { CollisionError } from '../commits/log';
import { hashOf, scopeOf } from '../table/ids';
import { deleteRow, insertRecords, lockVersions, updateRow } from '../table/table';
import type { AppKey, CommitRows, StoredRecord } from '../types';

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

type Generations = Awaited<ReturnType<Indexes['lock']>>;

/**
 * Locks apps until the transaction ends, in an order that excludes deadlocks.
 * @param written apps in which it writes records
 * @param alone apps in which no other unit of work may do so meanwhile
 * @param isCallers whether the transaction is that of other code, and may last longer
 */
export async function lockApps(
  sql: Sql,
  indexes: Indexes,
  written: Iterable<string>,
  alone: ReadonlySet<string>,
  isCallers = false,
): Promise<Map<string, Generations>> {
  const locked = new Map<string, Generations>();
  for (const scope of [...new Set([...written, ...alone])].sort()) {
    const commits = isCallers ? 'apart' : alone.has(scope) ? 'alone' : 'shared';
    locked.set(scope, await indexes.lock(sql, scope, commits));
  }
  return locked;
}

/**
 * Writes entries of locked apps and their index rows in the transaction; returns what it has written, by scope. CollisionError
 * when one was changed meanwhile.
 */
export async function flushEntries(
  sql: Sql,
  { dialect, indexes }: { dialect: Dialect; indexes: Indexes },
  pending: readonly Entry[],
  locked: ReadonlyMap<string, Generations>,
): Promise<Map<string, RecordWrite[]>> {
  const written = new Map<string, RecordWrite[]>();
  for (const [scope, entries] of grouped(pending, (entry) => entry.scope)) {
    for (const entry of entries) if (!entry.written) entry.stored = entry.base;
    const generations = locked.get(scope) as Generations;
    // Sorted by hash, so that two units that change the same records cannot deadlock.
    const existing = entries.filter((entry) => entry.base).sort((a, b) => (a.hash < b.hash ? -1 : 1));
    const writes: RecordWrite[] = [];
    for (const entry of existing) writes.push(await writeExisting(sql, entry));
    writes.push(...(await insertNew(sql, dialect, scope, entries.filter(isNew).map(withJson))));
    await indexes.write(sql, generations, writes);
    written.set(scope, writes);
    for (const entry of entries) Object.assign(entry, { dirty: false, written: true });
  }
  return written;
}

/** What pending entries are going to change. */
export function writesOf(pending: readonly Entry[]): Map<string, RecordWrite[]> {
  const writes = new Map<string, RecordWrite[]>();
  for (const [scope, entries] of grouped(pending, (entry) => entry.scope))
    writes.set(
      scope,
      entries.map(({ base, current }) => ({ before: base && indexed(base), after: current && indexed(current) })),
    );
  return writes;
}

/** Whether the entry is a record that is not in the database yet. */
export const isNew = ({ base, current }: Entry): boolean => !base && current !== null;

/** A new record, and the JSON of its items. */
export interface NewEntry {
  entry: Entry;
  json: string;
}

export const withJson = (entry: Entry): NewEntry => ({ entry, json: JSON.stringify(entry.current?.items) });

/** Locks records that were read and not written. CollisionError when one was changed meanwhile. */
export async function checkReads(sql: Sql, dialect: Dialect, read: readonly Entry[]): Promise<void> {
  if (read.length === 0) return;
  const hashes = read.map((entry) => entry.hash);
  const versions = await lockVersions(sql, dialect, hashes);
  const changed = read.filter(({ base, hash }) => {
    const now = versions.get(hash);
    return base?.seq !== now?.seq || base?.version !== now?.version;
  });
  if (changed.length) throw new CollisionError(changed.map((entry) => entry.hash));
}

async function writeExisting(sql: Sql, entry: Entry): Promise<RecordWrite> {
  const { hash, current } = entry;
  const base = entry.base as StoredRecord;
  const done = current ? await updateRow(sql, base, current) : await deleteRow(sql, base);
  if (!done) throw new CollisionError([hash]);
  entry.base = current && { ...current, items: current.items, seq: base.seq };
  entry.current = entry.base;
  return { before: indexed(base), after: entry.base && indexed(entry.base) };
}

/**
 * Inserts new records without their index rows, which it returns. CollisionError when an id is taken.
 * @param first see insertRecords
 */
export async function insertNew(
  sql: Sql,
  dialect: Dialect,
  scope: string,
  fresh: readonly NewEntry[],
  first?: number,
): Promise<RecordWrite[]> {
  if (fresh.length === 0) return [];
  const inserts = fresh.map(({ entry: { hash, key, id, current }, json }) => {
    const { creator } = current as StoredRecord;
    return { hash, site: key.site, app: key.app, id, json, creator };
  });
  let seqs: number[];
  try {
    seqs = await insertRecords(sql, dialect, scope, inserts, first);
  } catch (error) {
    if (isFailure(error, 'taken'))
      throw new CollisionError(
        fresh.map(({ entry }) => entry.hash),
        error,
      );
    throw error;
  }
  return fresh.map(({ entry }, at) => {
    entry.base = { ...(entry.current as StoredRecord), version: 1, seq: seqs[at] as number };
    entry.current = entry.base;
    return { before: null, after: indexed(entry.base) };
  });
}

const indexed = ({ seq, id, items, creator }: StoredRecord): IndexedRecord => ({ seq, id, items, creator });

/** Inserts rows of other tables, with one statement for each table. */
export async function insertRows(sql: Sql, inserts: readonly CommitRows[]): Promise<void> {
  for (const [table, together] of grouped(inserts, (insert) => insert.table)) {
    const [{ columns } = { columns: [] }] = together;
    await sql.insert(
      table,
      columns,
      together.flatMap(({ rows }) => rows),
    );
  }
}
