import type { Items, Json } from '../../../../shared/json';
import { documentIdsIn } from '../../files';
import { encodeKey, encodeTerm, unorderedTerm } from '../keys/keys';
import { encodeWord, phraseText, words } from '../keys/words';
import { BLOCK_INDEX, CREATOR_INDEX, FILES_INDEX, type LaidOutIndex, type Layout } from './layout';
import { isPlaceIndex, placeValues } from './places';

/** A record for the indexes; `seq` is its row in the records table. */
export interface IndexedRecord {
  seq: number;
  id: string;
  items: Items;
  /** Identity of who has made it; null or '' without one. */
  creator: string | null;
}

export interface Term {
  index: number;
  term: Buffer;
  /** Negative weight of a word in its text: the smaller, the more relevant. 0 for keywords and for lists in field indexes. */
  rank: number;
}

/** A record's rows in the tables of one generation. */
export interface Entries {
  /** In the order of the field indexes in the layout. */
  keys: Buffer[];
  terms: Term[];
  /** Long strings of field indexes, folded texts of text indexes. */
  bodies: { index: number; body: Buffer }[];
}

/** The entries of a record, which depend only on the record and the layout. */
export function entriesOf(layout: Layout, record: Omit<IndexedRecord, 'seq'>): Entries {
  const entries: Entries = { keys: [], terms: [], bodies: [] };
  for (const index of layout.values()) add[index.type](entries, index, itemValue(record, index.name));
  return entries;
}

/** The value of an item, the record's id, its creator, its block, its places or the files that it names; only own properties are items. */
export function itemValue(record: Omit<IndexedRecord, 'seq'>, name: string): Json | undefined {
  if (name === 'id') return record.id;
  if (name === CREATOR_INDEX) return record.creator || null;
  if (name === FILES_INDEX) return documentIdsIn(record.items);
  if (isPlaceIndex(name)) return placeValues(name, record);
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
    const list = words(textOf(value));
    if (list.length === 0) return;
    const counts = new Map<string, { term: Buffer; count: number }>();
    for (const word of list) {
      const term = encodeWord(word);
      const known = counts.get(term.toString('latin1'));
      if (known) known.count++;
      else counts.set(term.toString('latin1'), { term, count: 1 });
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
