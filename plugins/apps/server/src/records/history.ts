import { isDeepStrictEqual } from 'node:util';
import { chunks } from '../common/collections';
import { createSql, dialects, type HostDatabase, MAX_SEQ, marks, type Row, readerOf, type Sql } from '../database';
import { withoutNotes } from '../indexes';
import type { ChangedItems, Provenance, Through } from './changes';
import { hashOf, scopeOf } from './table/ids';
import { recordsTable } from './table/table';
import type { AppKey, CommitRows, CommitWrite, Items, SeqRange, StoredRecord } from './types';

/** What a change has replaced: the values that items had before, and the names of those that there were not. */
export interface Earlier {
  set: Items;
  added: readonly string[];
}

/** What a change has made of a record. */
export interface HistoryVersion {
  /** Grows with each change of any record; names the version. */
  version: number;
  /** The record's id. */
  id: string;
  creator: string | null;
  /** Milliseconds since 1970. */
  at: number;
  /** `Requester.identity`; null for anonymous. */
  by: string | null;
  through: Through;
  /** The record after the change; null: it was deleted. */
  items: Items | null;
  /** Null: the record was created. */
  earlier: Earlier | null;
}

/** Versions of an app, newest first. */
export interface HistoryPage {
  limit: number;
  /** Only older ones than this version. */
  before?: number | undefined;
  /** Of one record. */
  id?: string | undefined;
  /** Of one requester, by the identity; '' for anonymous. */
  requester?: string | undefined;
  /** Not before this time, in milliseconds since 1970. */
  since?: number | undefined;
}

/**
 * Versions of records of apps with `history: true`, in the host's database (docs/decisions/history.md). None has what the server notes
 * until a record is confirmed (`withoutNotes`).
 */
export interface History {
  /** The rows of what a unit of work has changed. */
  rowsOf(changed: readonly ChangedItems[]): CommitRows;
  /** Writes the versions of records that a bulk creation has made, by their rows. */
  ofCreated(key: AppKey, by: Provenance, ranges: readonly SeqRange[]): CommitWrite;
  /** Writes the versions of records that were deleted with all others of their app. */
  ofCleared(key: AppKey, by: Provenance, records: readonly StoredRecord[]): CommitWrite;
  /** At most as many versions as are asked for; fewer where they are large. `isLast`: no older ones follow. */
  page(key: AppKey, page: HistoryPage): Promise<{ versions: HistoryVersion[]; isLast: boolean }>;
  find(key: AppKey, id: string, version: number): Promise<HistoryVersion | null>;
  /** Versions of these records that are newer than a version, oldest first, without their items. */
  later(
    key: AppKey,
    ids: readonly string[],
    version: number,
  ): Promise<(Pick<HistoryVersion, 'version' | 'id' | 'at' | 'by' | 'through'> & { earlier: Earlier | null })[]>;
  /** Deletes all versions of a record. */
  forget(key: AppKey, id: string): CommitWrite;
  /** Deletes old versions. @param days for which those of an app are kept; null: that is not known now */
  prune(days: (key: AppKey) => Promise<number | null>): Promise<void>;
}

const TABLE = 'apps_history';
const columns = [
  ...['hash', 'scope', 'site', 'app', 'identifier', 'creator', 'at'],
  ...['requester', 'through', 'items', 'earlier'],
];

/** Characters of the items of one page, beyond which it has fewer versions. */
export const MAX_TEXT = 8_000_000;

/** The JSON of all items of unconfirmed records has it; restored ones are created with many others. */
const WAITING = '%"_state":"unconfirmed"%';

/** Restored records that are read at once. */
const MAX_READ = 100;

/** Rows that are deleted at once. */
const MAX_DELETED = 1_000;

const DAY = 24 * 60 * 60_000;

/** What is said of changes by code of the host that names no requester. */
const byCode: Provenance = { requester: () => '', through: 'logic' };

export function createHistory({
  database,
  now = Date.now,
}: {
  database: HostDatabase;
  /** Milliseconds since 1970. */
  now?: () => number;
}): History {
  const dialect = dialects[database.client];
  const reading = async (): Promise<Sql> => createSql((await database.current()) ?? readerOf(database), dialect);

  return {
    rowsOf(changed) {
      const at = now();
      const rows = changed.flatMap(({ key, id, creator, before, after, by }) => {
        const items = after && withoutNotes(after);
        const earlier = earlierOf(before && withoutNotes(before), items);
        return earlier === 'same' ? [] : [rowOf({ key, id, creator, at, items, earlier }, by ?? byCode)];
      });
      return { table: TABLE, columns, rows };
    },

    ofCreated: (key, by, ranges) => async (sql) => {
      const at = now();
      const scope = scopeOf(key);
      // Numbers are part of the text: PostgreSQL takes a placeholder among selected columns for a text.
      const made = `hash, scope, site, app, identifier, creator, ${at}, ?, ?, items, null`;
      const within = `from ${recordsTable.name} where scope = ? and id between ? and ? and items`;
      const copy = `insert into ${TABLE} (${columns.join(', ')}) select ${made} ${within} not like ? order by id`;
      const read = `select id, identifier, creator, items ${within} like ? order by id limit ${MAX_READ}`;
      for (const [first, last] of ranges) {
        await sql.change(copy, [by.requester(), by.through, scope, first, last, WAITING]);
        for (let from = first; ; ) {
          const found = await sql.rows(read, [scope, from, last, WAITING]);
          await sql.insert(
            TABLE,
            columns,
            found.map((row) => createdRow(key, at, row, by)),
          );
          if (found.length < MAX_READ) break;
          from = Number(found.at(-1)?.id) + 1;
        }
      }
    },

    ofCleared: (key, by, records) => async (sql) => {
      const at = now();
      const rows = records.map(({ id, creator, items }) =>
        rowOf({ key, id, creator, at, items: null, earlier: { set: withoutNotes(items), added: [] } }, by),
      );
      await sql.insert(TABLE, columns, rows);
    },

    async page(key, { limit, ...which }) {
      const sql = await reading();
      const { text, values } = conditionOf(key, which);
      const size = 'coalesce(length(items), 0) + coalesce(length(earlier), 0)';
      const found = await sql.rows(
        `select id, ${size} as size from ${TABLE} where ${text} order by id desc limit ${limit + 1}`,
        values,
      );
      const ids: number[] = [];
      let characters = 0;
      for (const row of found.slice(0, limit)) {
        characters += Number(row.size);
        if (ids.length > 0 && characters > MAX_TEXT) break;
        ids.push(Number(row.id));
      }
      return { versions: await versionsOf(sql, ids), isLast: ids.length === found.length };
    },

    async find(key, id, version) {
      const sql = await reading();
      const { text, values } = conditionOf(key, { id });
      if (version > MAX_SEQ) return null;
      const [row] = await sql.rows(`select * from ${TABLE} where ${text} and id = ?`, [...values, version]);
      return row ? toVersion(row) : null;
    },

    async later(key, ids, version) {
      const sql = await reading();
      const found: Row[] = [];
      for (const some of chunks(ids, MAX_DELETED)) {
        const hashes = some.map((id) => hashOf(key, id));
        const text = `select id, identifier, at, requester, through, earlier from ${TABLE} where hash in (${marks(hashes)}) and id > ? order by id`;
        found.push(...(await sql.rows(text, [...hashes, Math.min(version, MAX_SEQ)])));
      }
      return found.map((row) => toVersion({ ...row, items: null }));
    },

    forget: (key, id) => async (sql) => {
      await sql.change(`delete from ${TABLE} where hash = ?`, [hashOf(key, id)]);
    },

    async prune(days) {
      const sql = await reading();
      const apps = await sql.rows(`select scope, min(site) as site, min(app) as app from ${TABLE} group by scope`);
      for (const { scope, site, app } of apps) {
        const kept = await days({ site: String(site), app: String(app) });
        if (kept !== null) await deleteOlder(createSql(database.knex(), dialect), String(scope), now() - kept * DAY);
      }
    },
  };
}

async function deleteOlder(sql: Sql, scope: string, until: number): Promise<void> {
  for (;;) {
    const text = `select id from ${TABLE} where scope = ? and at < ? limit ${MAX_DELETED}`;
    const ids = (await sql.rows(text, [scope, until])).map(({ id }) => id);
    if (ids.length > 0) await sql.change(`delete from ${TABLE} where id in (${marks(ids)})`, ids);
    if (ids.length < MAX_DELETED) return;
  }
}

/** What a change has replaced; null: it has created the record; `same`: it has changed nothing. */
function earlierOf(before: Items | null, after: Items | null): Earlier | null | 'same' {
  if (before === null) return null;
  if (after === null) return { set: before, added: [] };
  const changed = Object.entries(before).filter(
    ([name, value]) => !Object.hasOwn(after, name) || (value !== after[name] && !isDeepStrictEqual(value, after[name])),
  );
  const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name));
  return changed.length + added.length === 0 ? 'same' : { set: Object.fromEntries(changed), added };
}

function rowOf(
  {
    key,
    id,
    creator,
    at,
    items,
    earlier,
  }: Pick<HistoryVersion, 'id' | 'creator' | 'at' | 'items' | 'earlier'> & { key: AppKey },
  { requester, through }: Provenance,
): unknown[] {
  const texts = [items, earlier].map((value) => value && JSON.stringify(value));
  return [hashOf(key, id), scopeOf(key), key.site, key.app, id, creator, at, requester(), through, ...texts];
}

/** The version of a record that was created with many others. @param row of the record */
function createdRow(key: AppKey, at: number, { identifier, creator, items }: Row, by: Provenance): unknown[] {
  const made = { key, id: String(identifier), creator: (creator as string | null) ?? null, at, earlier: null };
  return rowOf({ ...made, items: withoutNotes(JSON.parse(String(items)) as Items) }, by);
}

function conditionOf(
  key: AppKey,
  { id, before, requester, since }: Omit<HistoryPage, 'limit'>,
): { text: string; values: unknown[] } {
  const parts: [string, unknown][] = [id === undefined ? ['scope = ?', scopeOf(key)] : ['hash = ?', hashOf(key, id)]];
  if (requester !== undefined) parts.push(['requester = ?', requester]);
  if (since !== undefined) parts.push(['at >= ?', since]);
  if (before !== undefined) parts.push(['id < ?', Math.min(before, MAX_SEQ)]);
  return { text: parts.map(([text]) => text).join(' and '), values: parts.map(([, value]) => value) };
}

async function versionsOf(sql: Sql, ids: readonly number[]): Promise<HistoryVersion[]> {
  if (ids.length === 0) return [];
  const rows = await sql.rows(`select * from ${TABLE} where id in (${marks(ids)}) order by id desc`, ids);
  return rows.map(toVersion);
}

function toVersion({ id, identifier, creator, at, requester, through, items, earlier }: Row): HistoryVersion {
  return {
    version: Number(id),
    id: String(identifier),
    creator: (creator as string | null) ?? null,
    at: Number(at),
    by: String(requester) || null,
    through: String(through) as Through,
    items: items === null ? null : (JSON.parse(String(items)) as Items),
    earlier: earlier === null ? null : (JSON.parse(String(earlier)) as Earlier),
  };
}

/** The items of a record before a change; null where there was no record. `after`: those after it. */
export function itemsBefore({ items, earlier }: Pick<HistoryVersion, 'items' | 'earlier'>): Items | null {
  if (earlier === null) return null;
  const kept = Object.entries(items ?? {}).filter(([name]) => !earlier.added.includes(name));
  return { ...Object.fromEntries(kept), ...earlier.set };
}
