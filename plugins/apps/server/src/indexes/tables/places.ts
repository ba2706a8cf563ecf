import type { Items, Json } from '../../../../shared/json';
import { asciiAddress } from '../../common/text';
import { documentIdsIn } from '../../files';
import { FILES_INDEX, UNCONFIRMED_INDEX } from './layout';

/**
 * What the keyword indexes of places have of a record of their block (docs/decisions/places.md): its `state`, `taken` or
 * `waiting`; `by`, who has made it; `option`, what it has chosen; `same`, the value of a unique element, and `folded`, that of a
 * unique address without regard to letter case and spaces.
 */
export type PlaceKind = 'state' | 'by' | 'option' | 'same' | 'folded';

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

/** Items of a record that the server alone sets. */
export const SERVER_ITEMS: readonly string[] = [STATE, HELD, SINCE];

/** Whether a record waits until it is confirmed (docs/decisions/confirmation.md). */
export const isUnconfirmed = (items: Items | null): boolean => items?.[STATE] === 'unconfirmed';

/** Whether a record has no places, although it is of its block: it was not confirmed in time. */
export const isLapsed = (items: Items): boolean => isUnconfirmed(items) && items[HELD] !== true;

const PREFIX = '@place/';

/** The name of an index of places. Ids of blocks and names of elements have no slash. */
export const placeIndex = (block: string, kind: PlaceKind, element = ''): string =>
  `${PREFIX}${block}/${kind}/${element}`;

export const isPlaceIndex = (name: string): boolean => name.startsWith(PREFIX);

/**
 * The values that a record has in an index of places: none where it is of another block. The files that records name are places too:
 * a private one belongs to one record.
 */
export function placeValues(index: string, record: { items: Items; creator: string | null }): string[] {
  if (index === FILES_INDEX) return documentIdsIn(record.items);
  if (index === UNCONFIRMED_INDEX) return unconfirmedAs(record.items);
  const [block, kind, element = ''] = index.slice(PREFIX.length).split('/');
  if (record.items.block !== block || isLapsed(record.items) || !Object.hasOwn(values, kind ?? '')) return [];
  return values[kind as PlaceKind](record, element);
}

/** What the index of unconfirmed records has of a record: whether it has places; nothing of others. */
export type UnconfirmedAs = 'held' | 'lapsed';

const unconfirmedAs = (items: Items): UnconfirmedAs[] =>
  isUnconfirmed(items) ? [isLapsed(items) ? 'lapsed' : 'held'] : [];

/** The unconfirmed records of an app. */
export const unconfirmedPlace = (value: UnconfirmedAs): Place => ({ index: UNCONFIRMED_INDEX, value });

const values: Record<PlaceKind, (record: { items: Items; creator: string | null }, element: string) => string[]> = {
  state: ({ items }) => [items[STATE] === 'waiting' ? 'waiting' : 'taken'],
  by: ({ creator }) => (creator ? [creator] : []),
  option: ({ items }, element) => [...new Set([own(items, element)].flat().flatMap(filled))],
  same: ({ items }, element) => filled(own(items, element)),
  folded: ({ items }, element) => filled(own(items, element)).map(foldedAddress),
};

const own = (items: Items, element: string): Json => (Object.hasOwn(items, element) ? (items[element] ?? null) : null);

/** A scalar as text; nothing for an empty one, and for what no input of one value stores. */
function filled(value: Json): string[] {
  if (value === null || value === '' || typeof value === 'object') return [];
  return [String(value)];
}

/** An address as it is compared: `Anna@Example.org ` and `anna@example.org` are one. */
export const foldedAddress = (text: string): string => asciiAddress(text.replace(/\s+/g, '')).toLowerCase();
