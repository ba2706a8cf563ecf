import { grouped } from '../../common/collections';
import type { Dialect, IndexedRecord, Indexes, RecordWrite, Sql } from '../../indexes';
import { isFailure } from '../../indexes';
import { CollisionError } from '../commits/commits';
import { deleteRecord, insertRecords, lockVersions, updateRecord } from '../table/table';
import type { CommitRows, StoredRecord } from '../types';
import type { Entry } from './entries';

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
  const done = current ? await updateRecord(sql, base, current) : await deleteRecord(sql, base);
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
