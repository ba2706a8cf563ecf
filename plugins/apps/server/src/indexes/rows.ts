import { isDeepStrictEqual } from 'node:util';
import type { Items, Json } from '../../../shared/json';
import { chunks } from '../common/collections';
import { asciiAddress } from '../common/text';
import { onClock, storedMoment } from '../common/time/moments';
import { type Dialect, marks, type Sql } from '../database';
import { documentIdsIn } from '../files';
import { encodeKey, encodeTerm, encodeWord, phraseText, unorderedTerm, words } from './keys';
import {
  BLOCK_INDEX,
  CREATOR_INDEX,
  FILES_INDEX,
  fieldIndexes,
  type Generation,
  type IndexLayout,
  type LaidOutIndex,
  layoutOf,
  tablesOf,
  UNCONFIRMED_INDEX,
} from './tables';

/**
 * What the keyword indexes of places have of a record of their block (docs/decisions/places.md): its `state`, `taken` or
 * `waiting`; `by`, who has made it; `option`, what it has chosen; `same`, the value of a unique element, and `folded`, that of a
 * unique address without regard to letter case and spaces; `clock`, that of a unique time in milliseconds, by the clock of the zone
 * that follows the element's name.
 */
export type PlaceKind = 'state' | 'by' | 'option' | 'same' | 'folded' | 'clock';

/** Records of a block that count together: those with this value in one of the plugin's indexes of places. */
export interface Place {
  /** `placeIndex`. */
  index: string;
  value: string;
}

/**
 * The item by which the server marks a record that waits: for a place, `waiting`, or until its maker has confirmed the address in it,
 * `unconfirmed`.
 */
export const STATE = '_state';

/** The item of an unconfirmed record while it has places; without it, it has none. */
export const HELD = '_held';

/** The item of an unconfirmed record that says since when it waits, in ISO 8601. */
export const SINCE = '_since';

/** The item of an unconfirmed record that a form has made: the mail of `notify` waits for the confirmation. */
export const NOTIFY = '_notify';

/** The item of an unconfirmed record with the e-mail address of the account that has made it: mails that wait may name it. */
export const MAKER = '_maker';

/** What the server notes beside the state of an unconfirmed record, until it is confirmed. */
export const CONFIRMATION_ITEMS: readonly string[] = [HELD, SINCE, NOTIFY, MAKER];

/** Items of a record that the server alone sets. */
export const SERVER_ITEMS: readonly string[] = [STATE, ...CONFIRMATION_ITEMS];

/** Whether a record waits until it is confirmed (docs/decisions/confirmation.md). */
export const isUnconfirmed = (items: Items | null): boolean => items?.[STATE] === 'unconfirmed';

/** Items without what the server has noted for the confirmation: an address, for example, is to go with it. */
export function withoutNotes(items: Items): Items {
  if (!isUnconfirmed(items)) return items;
  return Object.fromEntries(Object.entries(items).filter(([name]) => !CONFIRMATION_ITEMS.includes(name)));
}

/** Whether a record has no places, although it is of its block: it was not confirmed in time. */
export const isLapsed = (items: Items): boolean => isUnconfirmed(items) && items[HELD] !== true;

const PREFIX = '@place/';

/** The name of an index of places. Ids of blocks and names of elements have no slash. @param zone of `clock` */
export const placeIndex = (block: string, kind: PlaceKind, element = '', zone = ''): string =>
  `${PREFIX}${block}/${kind}/${element}${zone && `/${zone}`}`;

const isPlaceIndex = (name: string): boolean => name.startsWith(PREFIX);

/**
 * The values that a record has in an index of places: none where it is of another block. The files that records name are places too:
 * a private one belongs to one record.
 */
export function placeValues(index: string, record: { items: Items; creator: string | null }): string[] {
  if (index === FILES_INDEX) return documentIdsIn(record.items);
  if (index === UNCONFIRMED_INDEX) return unconfirmedAs(record.items);
  const [block, kind, element = '', ...zone] = index.slice(PREFIX.length).split('/');
  if (record.items.block !== block || isLapsed(record.items) || !Object.hasOwn(values, kind ?? '')) return [];
  return values[kind as PlaceKind](record, element, zone.join('/'));
}

/** What the index of unconfirmed records has of a record: whether it has places; nothing of others. */
export type UnconfirmedAs = 'held' | 'lapsed';

const unconfirmedAs = (items: Items): UnconfirmedAs[] =>
  isUnconfirmed(items) ? [isLapsed(items) ? 'lapsed' : 'held'] : [];

/** The unconfirmed records of an app. */
export const unconfirmedPlace = (value: UnconfirmedAs): Place => ({ index: UNCONFIRMED_INDEX, value });

type Values = (record: { items: Items; creator: string | null }, element: string, zone: string) => string[];

const values: Record<PlaceKind, Values> = {
  state: ({ items }) => [items[STATE] === 'waiting' ? 'waiting' : 'taken'],
  by: ({ creator }) => (creator ? [creator] : []),
  option: ({ items }, element) => [...new Set([own(items, element)].flat().flatMap(filled))],
  same: ({ items }, element) => filled(own(items, element)),
  folded: ({ items }, element) => filled(own(items, element)).map(foldedAddress),
  clock: ({ items }, element, zone) => filled(own(items, element)).map((text) => onClockOf(text, zone)),
};

/** A time by the clock of a zone, however it is written; any other text unchanged. */
function onClockOf(text: string, zone: string): string {
  const moment = storedMoment(text);
  return moment ? String(onClock(moment, zone)) : text;
}

const own = (items: Items, element: string): Json => (Object.hasOwn(items, element) ? (items[element] ?? null) : null);

/** A scalar as text; nothing for an empty one, and for what no input of one value stores. */
function filled(value: Json): string[] {
  if (value === null || value === '' || typeof value === 'object') return [];
  return [String(value)];
}

/** An e-mail address in its form for comparisons: `Anna@Example.org ` equals `anna@example.org`. */
export const foldedAddress = (text: string): string => asciiAddress(text.replace(/\s+/g, '')).toLowerCase();

/** A record for the indexes; `seq` is its row in the records table. */
export interface IndexedRecord {
  seq: number;
  id: string;
  items: Items;
  /** Identity of who has made it; null or '' without one. */
  creator: string | null;
}

interface Term {
  index: number;
  term: Buffer;
  /** Negative weight of a word in its text: the smaller, the more relevant. 0 for keywords and for lists in field indexes. */
  rank: number;
}

/** A record's rows in the tables of one generation. */
interface Entries {
  /** In the order of the field indexes in the layout. */
  keys: Buffer[];
  terms: Term[];
  /** Long strings of field indexes, folded texts of text indexes. */
  bodies: { index: number; body: Buffer }[];
}

/** The entries of a record, which depend only on the record and the layout. */
export function entriesOf(layout: IndexLayout, record: Omit<IndexedRecord, 'seq'>): Entries {
  const entries: Entries = { keys: [], terms: [], bodies: [] };
  for (const index of layout.values()) add[index.type](entries, index, itemValue(record, index.name));
  return entries;
}

/** The value of an item, the record's id, its creator, its block, its places or the files that it names; only own properties are items. */
export function itemValue(record: Omit<IndexedRecord, 'seq'>, name: string): Json | undefined {
  if (name === 'id') return record.id;
  if (name === CREATOR_INDEX) return record.creator || null;
  if (name === FILES_INDEX) return documentIdsIn(record.items);
  if (isPlaceIndex(name) || name === UNCONFIRMED_INDEX) return placeValues(name, record);
  const item = name === BLOCK_INDEX ? 'block' : name;
  return Object.hasOwn(record.items, item) ? record.items[item] : undefined;
}

const add = {
  field(entries: Entries, { number }: LaidOutIndex, value: Json | undefined): void {
    const { bytes, long } = encodeKey(value);
    entries.keys.push(bytes);
    if (long) entries.bodies.push({ index: number, body: long });
    if (typeof value === 'object' && value !== null)
      entries.terms.push({ index: number, term: unorderedTerm, rank: 0 });
  },
  keyword(entries: Entries, { number }: LaidOutIndex, value: Json | undefined): void {
    const terms = new Map<string, Buffer>();
    for (const scalar of keywordsOf(value)) {
      const term = encodeTerm(scalar);
      terms.set(term.toString('latin1'), term);
    }
    for (const term of terms.values()) entries.terms.push({ index: number, term, rank: 0 });
  },
  text(entries: Entries, { number }: LaidOutIndex, value: Json | undefined): void {
    const list = wordsOf(value);
    if (list.length === 0) return;
    const occurrences = new Map<string, number>();
    for (const word of list) occurrences.set(word, (occurrences.get(word) ?? 0) + 1);
    // Long words that begin alike have one term.
    const counts = new Map<string, { term: Buffer; count: number }>();
    for (const [word, count] of occurrences) {
      const term = encodeWord(word);
      const key = term.toString('latin1');
      const known = counts.get(key);
      if (known) known.count += count;
      else counts.set(key, { term, count });
    }
    for (const { term, count } of counts.values()) {
      entries.terms.push({ index: number, term, rank: -weight(count, list.length) });
    }
    entries.bodies.push({ index: number, body: Buffer.from(phraseText(list), 'utf8') });
  },
};

/** Keywords of an item: a scalar, or the scalars of a list; null is not one. */
export function keywordsOf(value: Json | undefined): (boolean | number | string)[] {
  const list = Array.isArray(value) ? value : [value];
  return list.filter(
    (entry): entry is boolean | number | string => entry !== null && typeof entry !== 'object' && entry !== undefined,
  );
}

/**
 * Bytes of the words of one text that an index has. An ASCII text of the most characters that logic may store fits. Folding may turn a character
 * into 18, and MariaDB takes statements of 16 MB, with two digits for a byte.
 */
export const MAX_INDEXED = 2_200_000;

/** The words of an item that an index has: its first ones, where they are too many. */
export const wordsOf = (value: Json | undefined): string[] => words(textOf(value), MAX_INDEXED);

/** Text of an item: a string, or the strings of a list. */
export function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string').join('\n') : '';
}

/**
 * Relevance of a text for a word: grows with each occurrence, by less each time, and falls with the length of the text.
 * BM25's term without statistics of the whole collection, in whole numbers: so the order is the same on every database,
 * and independent of other records.
 */
export function weight(count: number, length: number): number {
  return Math.round((10_000 * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length) / 50)));
}

/** A record before and after a change; `before` is null for a new record, `after` for a deleted one. */
export interface RecordWrite {
  before: IndexedRecord | null;
  after: IndexedRecord | null;
}

/** Applies the writes to the rows of one generation. Unchanged rows are not written. */
export async function writeRows(sql: Sql, generation: Generation, writes: readonly RecordWrite[]): Promise<void> {
  const layout = layoutOf(generation.indexes);
  const removed: number[] = [];
  const added: IndexedRecord[] = [];
  for (const { before, after } of writes) {
    if (before && after && before.seq === after.seq) await updateRows(sql, generation.id, layout, before, after);
    else {
      if (before) removed.push(before.seq);
      if (after) added.push(after);
    }
  }
  await deleteRows(sql, generation.id, removed);
  await insertRows(sql, generation.id, layout, added);
}

/** Deletes all rows of the records. */
async function deleteRows(sql: Sql, generation: string, seqs: readonly number[]): Promise<void> {
  for (const chunk of chunks(seqs, 500)) {
    for (const table of Object.values(tablesOf(generation))) {
      await sql.change(`delete from ${table} where record in (${marks(chunk)})`, chunk);
    }
  }
}

/** Records after `after` up to `until`; `visible`: without those of pending batches. */
export interface RowRange {
  after: number;
  until: number;
  visible: boolean;
}

/** Deletes all rows of the records in the range. */
export async function deleteRange(sql: Sql, generation: string, { after, until, visible }: RowRange): Promise<void> {
  const kept = visible ? sql.visible('record') : '';
  for (const table of Object.values(tablesOf(generation))) {
    await sql.change(`delete from ${table} where ${kept}record > ? and record <= ?`, [after, until]);
  }
}

/**
 * Inserts all rows of records, and skips existing ones: they were inserted with the record, and are equal, because they
 * depend only on it.
 */
export function addRows(
  sql: Sql,
  dialect: Dialect,
  generation: string,
  layout: IndexLayout,
  records: readonly IndexedRecord[],
): Promise<void> {
  const { verb, ending } = dialect.insertIgnore;
  const ignoring: Sql = { ...sql, insert: (table, columns, rows) => sql.insert(table, columns, rows, ending, verb) };
  return insertRows(ignoring, generation, layout, records);
}

/** Inserts all rows of records that have none. */
async function insertRows(
  sql: Sql,
  generation: string,
  layout: IndexLayout,
  records: readonly IndexedRecord[],
): Promise<void> {
  const all = records.map((record) => ({ seq: record.seq, entries: entriesOf(layout, record) }));
  const tables = tablesOf(generation);
  const columns = ['record', ...fieldIndexes(layout).map((index) => `k${index.number}`)];
  await sql.insert(
    tables.fields,
    columns,
    all.map(({ seq, entries }) => [seq, ...entries.keys]),
  );
  await insertTerms(sql, generation, all);
  await insertBodies(sql, generation, all);
}

type SeqEntries = { seq: number; entries: Pick<Entries, 'terms' | 'bodies'> };

function insertTerms(sql: Sql, generation: string, all: readonly SeqEntries[]): Promise<unknown> {
  const rows = all.flatMap(({ seq, entries }) =>
    entries.terms.map(({ index, term, rank }) => [seq, index, term, rank]),
  );
  return sql.insert(tablesOf(generation).terms, ['record', 'ix', 'term', 'weight'], rows);
}

function insertBodies(sql: Sql, generation: string, all: readonly SeqEntries[]): Promise<unknown> {
  const rows = all.flatMap(({ seq, entries }) => entries.bodies.map(({ index, body }) => [seq, index, body]));
  return sql.insert(tablesOf(generation).bodies, ['record', 'ix', 'body'], rows);
}

async function updateRows(
  sql: Sql,
  generation: string,
  layout: IndexLayout,
  before: IndexedRecord,
  after: IndexedRecord,
): Promise<void> {
  const tables = tablesOf(generation);
  const seq = after.seq;
  // The words of a long text take long: only what has changed is looked at.
  const concerned = new Map(
    [...layout].filter(([, { name }]) => !isDeepStrictEqual(itemValue(before, name), itemValue(after, name))),
  );
  const old = entriesOf(concerned, before);
  const now = entriesOf(concerned, after);
  const columns = fieldIndexes(concerned);
  const changed = old.keys.flatMap((key, at) => (now.keys[at]?.equals(key) ? [] : at));
  if (changed.length) {
    const assignments = changed.map((at) => `k${columns[at]?.number} = ?`).join(', ');
    await sql.change(`update ${tables.fields} set ${assignments} where record = ?`, [
      ...changed.map((at) => now.keys[at]),
      seq,
    ]);
  }
  const terms = difference(old.terms, now.terms, (term) => `${term.rank} ${term.term.toString('latin1')}`);
  await deleteParts(sql, tables.terms, seq, terms.indexes);
  await insertTerms(sql, generation, [{ seq, entries: { terms: terms.entries, bodies: [] } }]);
  const bodies = difference(old.bodies, now.bodies, (body) => body.body.toString('latin1'));
  await deleteParts(sql, tables.bodies, seq, bodies.indexes);
  await insertBodies(sql, generation, [{ seq, entries: { terms: [], bodies: bodies.entries } }]);
}

/** Numbers of the indexes whose entries differ, and their new entries. */
function difference<T extends { index: number }>(
  old: T[],
  now: T[],
  text: (entry: T) => string,
): { indexes: number[]; entries: T[] } {
  const summary = (entries: T[], index: number) =>
    entries
      .filter((entry) => entry.index === index)
      .map(text)
      .sort()
      .join('\n');
  const numbers = [...new Set([...old, ...now].map((entry) => entry.index))];
  const indexes = numbers.filter((index) => summary(old, index) !== summary(now, index));
  return { indexes, entries: now.filter((entry) => indexes.includes(entry.index)) };
}

async function deleteParts(sql: Sql, table: string, seq: number, indexes: number[]): Promise<void> {
  if (indexes.length)
    await sql.change(`delete from ${table} where record = ? and ix in (${marks(indexes)})`, [seq, ...indexes]);
}
