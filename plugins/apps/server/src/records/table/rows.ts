import { AppsError } from '../../common/errors';
import { expectWork } from '../../common/time/pace';
import { marks, type Row, type Sql } from '../../database';
import { documentIdsIn } from '../../files';
import type { IndexedRecord } from '../../indexes';
import type { Items, Json, RecordChange, StoredRecord } from '../types';

/**
 * Bytes of items that one read brings into memory: records may be a megabyte each, and ten thousand may be requested,
 * while all requests share the process.
 */
export const MAX_BYTES = 16 * 1024 * 1024;

/** Bytes of items that one statement reads, where it reads several records: SQLite holds the thread meanwhile. */
export const MAX_AT_ONCE = 2 * 1024 * 1024;

/**
 * The items of a record `r` and their size, as columns `items` and `bytes` of a select of up to `limit` rows.
 * Items longer than a row's part of `MAX_AT_ONCE` are null: `withItems` reads them.
 */
export function itemColumns(limit: number): string {
  const part = Math.floor(MAX_AT_ONCE / Math.max(1, limit));
  return `case when octet_length(r.items) <= ${part} then r.items end as items, octet_length(r.items) as bytes`;
}

/** The number of rows, from the first, that have at most `maxBytes` of items together; one at least. */
export function fitting(rows: readonly Row[], maxBytes = MAX_BYTES): number {
  let bytes = 0;
  for (const [at, row] of rows.entries()) {
    bytes += Number(row.bytes);
    if (bytes > maxBytes && at > 0) return at;
  }
  return rows.length;
}

/** Bytes of items that are read in a millisecond. */
const READ = 200_000;

/** Rows that are read by one statement. */
const MAX_ROWS = 500;

interface Part {
  ids: unknown[];
  bytes: number;
}

function partsOf(rows: readonly Row[]): Part[] {
  const parts: Part[] = [];
  for (const { id, bytes } of rows) {
    const last = parts.at(-1);
    const isFull = !last || last.ids.length === MAX_ROWS || last.bytes + Number(bytes) > MAX_AT_ONCE;
    const part = isFull ? { ids: [], bytes: 0 } : last;
    if (isFull) parts.push(part);
    part.ids.push(id);
    part.bytes += Number(bytes);
  }
  return parts;
}

/** Adds the items that `itemColumns` left out; drops rows whose record was deleted meanwhile. */
export async function withItems(sql: Sql, table: string, rows: readonly Row[]): Promise<Row[]> {
  const missing = rows.filter((row) => row.items === null);
  if (missing.length === 0) return [...rows];
  const whole = new Map<string, Row>();
  for (const { ids, bytes } of partsOf(missing)) {
    await expectWork(bytes / READ);
    for (const row of await sql.rows(`select id, items, version from ${table} where id in (${marks(ids)})`, ids))
      whole.set(String(row.id), row);
  }
  return rows
    .map((row) => (row.items === null ? { ...row, ...whole.get(String(row.id)) } : row))
    .filter((row) => row.items !== null);
}

/**
 * A record that was read. Its items are parsed when they are first used: most answers pass their text on. A copy of it by
 * spreading has no items, because `items` is an accessor of the class: accessors of each object are slow.
 */
class ReadRecord implements StoredRecord {
  readonly id: string;
  readonly creator: string | null;
  readonly version: number;
  readonly seq: number;
  readonly #text: string;
  #items: Items | undefined;

  constructor(row: Row) {
    this.id = row.identifier as string;
    this.creator = row.creator as string | null;
    this.version = Number(row.version);
    this.seq = Number(row.id);
    this.#text = row.items as string;
  }

  get items(): Items {
    this.#items ??= JSON.parse(this.#text) as Items;
    return this.#items;
  }

  /** The stored JSON of a record's items; undefined for a record that was changed since it was read. */
  static textOf(record: StoredRecord): string | undefined {
    return record instanceof ReadRecord ? record.#text : undefined;
  }
}

/** Whether a record may name files of the media library: a quick look that parses nothing. */
export function mayNameFiles(record: StoredRecord): boolean {
  return ReadRecord.textOf(record)?.includes('"documentId"') ?? documentIdsIn(record.items).length > 0;
}

/** The record with other items. */
export function withOtherItems({ id, creator, version, seq }: StoredRecord, items: Items): StoredRecord {
  return { id, items, creator, version, seq };
}

export const toRecord = (row: Row): StoredRecord => new ReadRecord(row);

/** The JSON of a record's items; stored text is not parsed. */
export const storedJson = (record: StoredRecord): string => ReadRecord.textOf(record) ?? JSON.stringify(record.items);

/** The JSON of a record's items and, as the last item, its `id`. Stored text is not parsed, unless it may have such an item. */
export function itemsJson(record: StoredRecord): string {
  const text = ReadRecord.textOf(record);
  const id = JSON.stringify(record.id);
  if (text === '{}') return `{"id":${id}}`;
  const isPlain = text?.startsWith('{"') && text.endsWith('}') && !text.includes('"id"');
  if (text === undefined || !isPlain) return JSON.stringify({ ...record.items, id: record.id });
  return `${text.slice(0, -1)},"id":${id}}`;
}

export function toIndexed(row: Row): IndexedRecord {
  const { id, identifier, items, creator } = row;
  return {
    seq: Number(id),
    id: identifier as string,
    items: JSON.parse(items as string) as Items,
    creator: creator as string | null,
  };
}

/** Items of a record: each request that touches the record copies, compares and shows all of them. A definition has half as many. */
export const MAX_ITEMS = 1_000;
/** Characters of an item's name: as many as a key of a definition has. */
export const MAX_NAME = 1_000;

/**
 * Items in stored form: without `id`. Every other own key stays unchanged, `__proto__` too. BadRequestError for more than
 * a record may have, for a name that is too long, and for an infinite number.
 */
export function storable(items: Items): Items {
  return checkFinite(checkNames(withoutId(items), {}));
}

/**
 * BadRequestError for a number that JSON does not have: it would be stored as null, and found as a number. JSON text of a sandbox
 * may have one that JavaScript reads as infinite.
 */
function checkFinite(items: Items): Items {
  const name = Object.keys(items).find((one) => !isFiniteJson(items[one]));
  if (name === undefined) return items;
  throw new AppsError('BadRequestError', `The item ${JSON.stringify(name)} has a number that is too large`);
}

function isFiniteJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isFiniteJson);
}

/** Items of an export in stored form: a record that was stored under larger limits is restored with all its items. */
export function withoutId(items: Items): Items {
  return Object.hasOwn(items, 'id') ? without(items, ['id']) : items;
}

/** @param before the items that are stored: they may be more, and have longer names, and the record may not grow then */
function checkNames(items: Items, before: Items): Items {
  const names = Object.keys(items);
  if (names.length > MAX_ITEMS && names.length > Object.keys(before).length)
    throw new AppsError('BadRequestError', `A record has at most ${MAX_ITEMS} items`);
  if (names.some((name) => name.length > MAX_NAME && !Object.hasOwn(before, name)))
    throw new AppsError('BadRequestError', `The name of an item has at most ${MAX_NAME} characters`);
  return items;
}

/**
 * Items after a change: `unset`, then `set`, then `inc`. BadRequestError when an item to be incremented is not a number,
 * missing or null, when JSON cannot hold a number, or when there are more items, or longer names, than a record may have.
 */
export function applyChange(items: Items, { set = {}, unset = [], inc = {} }: RecordChange): Items {
  // The result has at least the items of `set`: too many are refused before they are copied.
  const changed = { ...without(items, unset), ...checkFinite(checkNames(withoutId(set), items)) };
  const added = Object.entries(inc).map(([name, by]): [string, Json] => [name, increment(changed, name, by)]);
  if (added.length === 0) return checkNames(changed, items);
  // Both forms define properties; an assignment would run the setter of `__proto__`.
  return checkNames({ ...changed, ...Object.fromEntries(added) }, items);
}

function without(items: Items, names: readonly string[]): Items {
  if (names.length === 0) return items;
  const left = new Set(names);
  return Object.fromEntries(Object.entries(items).filter(([name]) => !left.has(name)));
}

function increment(items: Items, name: string, by: number): number {
  const value = Object.hasOwn(items, name) ? items[name] : null;
  const refuse = (reason: string) =>
    new AppsError('BadRequestError', `Cannot increment ${JSON.stringify(name)}: ${reason}`, {
      details: { item: name },
    });
  if (name === 'id') throw refuse('it is the record id');
  if (typeof by !== 'number' || !Number.isFinite(by)) throw refuse('the increment is not a number');
  if (value !== null && typeof value !== 'number') throw refuse('its value is not a number');
  const sum = (value ?? 0) + by;
  if (!Number.isFinite(sum)) throw refuse('the result is too large');
  return sum;
}
