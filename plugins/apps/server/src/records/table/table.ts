import { LRUCache } from 'lru-cache';
import { chunks } from '../../common/collections';
import { AppsError } from '../../common/errors';
import { expectWork } from '../../common/time/pace';
import { type Dialect, MAX_SEQ, marks, type Row, type Sql } from '../../database';
import {
  type Access,
  type IndexedRecord,
  type Indexes,
  queryLimits,
  type RecordSource,
  type RecordsTable,
} from '../../indexes';
import type { PageOptions, RecordPage, StoredRecord } from '../types';
import { fitting, itemColumns, MAX_AT_ONCE, MAX_BYTES, toIndexed, toRecord, withItems } from './rows';

/** The table of the content type `plugin::apps.record`, which Strapi's schema sync creates. */
export const recordsTable: RecordsTable = {
  name: 'apps_records',
  columns: (limit) => `r.id, r.identifier, ${itemColumns(limit)}, r.creator, r.version`,
};

const { name: table } = recordsTable;
/** Columns for records that are read by their hashes. They are few: items need no bound. */
const columns = 'r.id, r.hash, r.identifier, r.items, r.creator, r.version';
/** Hashes in one statement. */
const MAX_HASHES = 500;

/** A record that is to be inserted. */
export interface RecordInsert {
  hash: string;
  site: string;
  app: string;
  id: string;
  /** The JSON of its items. */
  json: string;
  creator: string | null;
}

/** The record of a hash. */
export async function selectRecord(sql: Sql, hash: string): Promise<StoredRecord | null> {
  const [row] = await sql.rows(`select ${columns} from ${table} r where ${sql.visible('r.id')}r.hash = ?`, [hash]);
  return row ? toRecord(row) : null;
}

/** Records by hash, without those that do not exist. */
export async function selectRecords(sql: Sql, hashes: readonly string[]): Promise<Map<string, StoredRecord>> {
  // Padded to a power of two, so that there are few different statements and they stay compiled.
  const size = 2 ** Math.ceil(Math.log2(hashes.length));
  const asked = Array.from({ length: size }, (_, at) => hashes[Math.min(at, hashes.length - 1)]);
  const text = `select ${columns} from ${table} r where ${sql.visible('r.id')}r.hash in (${marks(asked)})`;
  return new Map((await sql.rows(text, asked)).map((row) => [row.hash as string, toRecord(row)]));
}

type PageOf = PageOptions & { limit: number };

/** Rows of records in order of creation; long items are left out (`itemColumns`). @param ending a lock */
export function selectPageRows(
  sql: Sql,
  scope: string,
  { limit, offset = 0, after = 0 }: PageOf,
  ending = '',
): Promise<Row[]> {
  const text = `select ${recordsTable.columns(limit)} from ${table} r where ${sql.visible('r.id')}r.scope = ? and r.id > ? order by r.id limit ? offset ?${ending}`;
  return sql.rows(text, [scope, Math.min(after, MAX_SEQ), limit, offset]);
}

/**
 * Records of the first rows, with `recordsTable.columns` in order of creation, that fit into memory, and the `seq` after
 * which to continue; undefined at the end. @param limit the number of rows that were asked for
 */
export async function readSome(
  sql: Sql,
  rows: readonly Row[],
  limit: number,
): Promise<{ records: StoredRecord[]; next: number | undefined }> {
  const some = rows.slice(0, fitting(rows));
  const more = rows.length === limit || some.length < rows.length;
  return {
    records: (await withItems(sql, table, some)).map(toRecord),
    next: more ? Number(some.at(-1)?.id) : undefined,
  };
}

/** The records of rows with `recordsTable.columns`. PayloadTooLargeError when they are too large together. */
export async function readRecords(sql: Sql, rows: readonly Row[]): Promise<StoredRecord[]> {
  if (fitting(rows) < rows.length) {
    throw new AppsError(
      'PayloadTooLargeError',
      `The records asked for have more than ${MAX_BYTES / 1024 / 1024} MB together: ask for fewer at a time`,
    );
  }
  return (await withItems(sql, table, rows)).map(toRecord);
}

/** Which of the hashes are taken, also by records of pending batches, which no other read finds. */
export async function selectTaken(sql: Sql, hashes: readonly string[]): Promise<Set<string>> {
  if (hashes.length === 0) return new Set();
  const rows = await sql.rows(`select hash from ${table} where hash in (${marks(hashes)})`, hashes);
  return new Set(rows.map((row) => row.hash as string));
}

/** A state of a record: a version of the row `seq`. A record that was deleted and created again has another row. */
type RowVersion = Pick<StoredRecord, 'seq' | 'version'>;

/** Last committed versions by hash; locks the records against changes until the transaction ends. */
export async function lockVersions(
  sql: Sql,
  dialect: Dialect,
  hashes: readonly string[],
): Promise<Map<string, RowVersion>> {
  const versions = new Map<string, RowVersion>();
  for (const chunk of chunks(hashes, MAX_HASHES)) {
    const text = `select id, hash, version from ${table} where ${sql.visible('id')}hash in (${marks(chunk)}) order by id${dialect.shareLock}`;
    for (const row of await sql.rows(text, chunk))
      versions.set(row.hash as string, { seq: Number(row.id), version: Number(row.version) });
  }
  return versions;
}

/** Locks the records against changes until the transaction ends; waits for transactions that hold such a lock. */
export async function holdRecords(sql: Sql, hashes: readonly string[]): Promise<void> {
  // An update without effect: the one lock that every database has, in the order in which units write.
  for (const hash of [...hashes].sort())
    await sql.change(`update ${table} set version = version where hash = ?`, [hash]);
}

const insertColumns = [
  'document_id',
  'hash',
  'scope',
  'site',
  'app',
  'identifier',
  'items',
  'creator',
  'version',
  'created_at',
  'updated_at',
  'published_at',
];

/**
 * Inserts records in order and returns their `seq`s; a StorageError `taken` when a hash exists.
 * @param first the `seq` of the first one, if the next ones are reserved for them
 */
export async function insertRecords(
  sql: Sql,
  dialect: Dialect,
  scope: string,
  records: readonly RecordInsert[],
  first?: number,
): Promise<number[]> {
  const now = new Date();
  const rows = records.map(({ hash, site, app, id, json, creator }, at) => [
    ...(first === undefined ? [] : [first + at]),
    documentIdOf(hash, now),
    hash,
    scope,
    site,
    app,
    id,
    json,
    creator,
    1,
    now,
    now,
    now,
  ]);
  if (first !== undefined) {
    await sql.insert(table, ['id', ...insertColumns], rows);
    return records.map((_, at) => first + at);
  }
  const returned = await sql.insert(table, insertColumns, rows, dialect.returning ? ' returning id, hash' : '');
  const made = dialect.returning
    ? returned
    : await selectIds(
        sql,
        records.map((record) => record.hash),
      );
  const seqs = new Map(made.map((row) => [row.hash as string, Number(row.id)]));
  return records.map((record) => seqs.get(record.hash) as number);
}

/**
 * Strapi requires 24 unique letters and digits. They begin with the time, so that new records follow each other in Strapi's
 * index of them: with the hash alone, each insert changes another page (docs/decisions/storage-writing.md).
 */
function documentIdOf(hash: string, now: Date): string {
  return `r${now.getTime().toString(36).padStart(9, '0')}${hash.slice(0, 14)}`;
}

async function selectIds(sql: Sql, hashes: readonly string[]): Promise<Row[]> {
  const found: Row[] = [];
  for (const chunk of chunks(hashes, MAX_HASHES))
    found.push(...(await sql.rows(`select id, hash from ${table} where hash in (${marks(chunk)})`, chunk)));
  return found;
}

/** Writes the new state of a record; false when it no longer has that version. */
export async function updateRow(sql: Sql, { seq, version }: RowVersion, to: StoredRecord): Promise<boolean> {
  const text = `update ${table} set items = ?, creator = ?, version = ?, updated_at = ? where id = ? and version = ?`;
  const values = [JSON.stringify(to.items), to.creator, to.version, new Date(), seq, version];
  return (await sql.change(text, values)) === 1;
}

/** False when the record no longer has that version. */
export async function deleteRow(sql: Sql, { seq, version }: RowVersion): Promise<boolean> {
  return (await sql.change(`delete from ${table} where id = ? and version = ?`, [seq, version])) === 1;
}

/** `seq` of the app's newest record; 0 when there is none. */
export async function lastSeq(sql: Sql, scope: string): Promise<number> {
  const [row] = await sql.rows(`select max(id) as last from ${table} where ${sql.visible('id')}scope = ?`, [scope]);
  return Number(row?.last ?? 0);
}

/** Deletes up to `count` of the app's oldest records, none after `last`; returns the `seq` up to which none is left. */
export async function deleteOldest(sql: Sql, scope: string, last: number, count: number): Promise<number> {
  const text = `select id from ${table} where ${sql.visible('id')}scope = ? and id <= ? order by id limit 1 offset ?`;
  const [row] = await sql.rows(text, [scope, last, count - 1]);
  const until = row ? Number(row.id) : last;
  await deleteUpTo(sql, scope, until);
  return until;
}

/** Deletes the app's records up to a `seq`. */
export async function deleteUpTo(sql: Sql, scope: string, until: number): Promise<void> {
  await sql.change(`delete from ${table} where ${sql.visible('id')}scope = ? and id <= ?`, [scope, until]);
}

/** Reads existing records for indexes/. */
export function recordSource(dialect: Dialect): RecordSource {
  return {
    async scan(sql, scope, after, limit, keep): Promise<IndexedRecord[]> {
      const lock = keep ? dialect.shareLock : '';
      const text = `select r.id, r.identifier, r.creator, ${itemColumns(limit)} from ${table} r where r.scope = ? and r.id > ? order by r.id limit ?${lock}`;
      const rows = await sql.rows(text, [scope, after, limit]);
      // They are parsed at once, in a transaction that others wait for.
      return (await withItems(sql, table, rows.slice(0, fitting(rows, MAX_AT_ONCE)))).map(toIndexed);
    },
    async count(sql, scope): Promise<number> {
      const [row] = await sql.rows(`select count(*) as n from ${table} where scope = ?`, [scope]);
      return Number(row?.n);
    },
    async last(sql, scope): Promise<number> {
      const [row] = await sql.rows(`select max(id) as last from ${table} where scope = ?`, [scope]);
      return Number(row?.last ?? 0);
    },
  };
}

/** Milliseconds that a row takes about to be read. */
const ROW_TIME = 0.003;

/** Rows of the last page of a scope: most pages have far fewer than they may have. */
const lastSizes = new LRUCache<string, number>({ max: 1_000 });

/** Rows in order of creation, after a wait in proportion to the rows that are expected. */
async function pacedRows(sql: Sql, scope: string, page: PageOptions & { limit: number }): Promise<Row[]> {
  await expectWork(ROW_TIME * Math.min(page.limit, lastSizes.get(scope) ?? page.limit));
  const rows = await selectPageRows(sql, scope, page);
  lastSizes.set(scope, rows.length);
  return rows;
}

/** The record, unless another identity than `creator` is wanted and has made it: '' has made none. */
export function ofCreator(record: StoredRecord | null, creator: string | undefined): StoredRecord | null {
  return creator === undefined || (creator !== '' && record?.creator === creator) ? record : null;
}

/** Rows of a page in order of creation: of all records, or of some, which the plugin's own indexes find. */
async function pageRows(
  indexes: Indexes,
  access: Access,
  scope: string,
  { only, ...page }: PageOptions & { limit: number },
): Promise<Row[]> {
  if (!only) return pacedRows(access.sql, scope, page);
  const limit = Math.min(page.limit, queryLimits.limit);
  const { indexes: declared, ...wanted } = only;
  const { rows } = await indexes.search(access, scope, declared, { ...page, limit, ...wanted }, {});
  const last = rows.at(-1);
  if (limit === page.limit || rows.length < limit || !last) return rows;
  // A page has one row more than a search may.
  const more = { limit: page.limit - limit, after: Number(last.id), only };
  return [...rows, ...(await pageRows(indexes, access, scope, more))];
}

/** Records in order of creation. PayloadTooLargeError when they are too large together. */
export async function readPage(
  indexes: Indexes,
  access: Access,
  scope: string,
  options: PageOptions,
): Promise<RecordPage> {
  const { limit = queryLimits.limit } = options;
  // One row more says whether there is a next page.
  const rows = await pageRows(indexes, access, scope, { ...options, limit: limit + 1 });
  const wanted = rows.slice(0, limit);
  const last = rows.length > limit ? wanted.at(-1) : undefined;
  return { records: await readRecords(access.sql, wanted), next: last && Number(last.id) };
}

/** The first records of the page that fit into memory, and the `seq` after which to continue; undefined at the end. */
export async function readSomeOf(
  indexes: Indexes,
  access: Access,
  scope: string,
  page: PageOptions & { limit: number },
): Promise<{ records: StoredRecord[]; next: number | undefined }> {
  return readSome(access.sql, await pageRows(indexes, access, scope, page), page.limit);
}
