import { type Items, isItems, itemOf, type Json } from '../../../../shared/json';
import type { Region } from '../../common/time/moments';
import type { Definition, ElementDefinition } from '../types';
import { isShown } from './inputs/settings';
import { fieldsOf, textsCompared, textsShown } from './parts';
import type { ShownAgain } from './types';

/** The place of a form's pages in a layout. */
export const PAGES = '_pages';

/** Fields and buttons of a form with pages. */
export const pageFields = { page: '_page', seen: '_seen', next: '_next', back: '_back' } as const;

/** Buttons and fields of the search for targets have the element's name before these. */
export const referenceFields = { find: ':find', search: ':search' } as const;

/** Form fields as submitted: text, or a list of texts where a name came more than once. */
export type FormFields = Readonly<Record<string, unknown>>;

/** The texts that a form has sent for a field. */
export function textsOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return list.filter((entry) => typeof entry !== 'object' || entry === null).map((entry) => String(entry ?? ''));
}

/** Entries without `max`, and the most that `max` may allow. */
export const MAX_ENTRIES = { default: 20, allowed: 100 };

/** The least and the greatest number of entries of a repeated group. */
export function boundsOf({ settings }: ElementDefinition): { min: number; max: number } {
  const { min, max } = settings as { min?: number; max?: number };
  const least = min ?? 0;
  return { min: least, max: max ?? Math.max(MAX_ENTRIES.default, least) };
}

/** An entry of a repeated group as a form has sent it: texts by field, and under ORIGIN which stored entry it has shown. */
export type SentEntry = ReadonlyMap<string, readonly string[]>;

/** No field has this name. */
const ORIGIN = '';

/** The field that marks an entry of a form has this before the position of the stored entry that it shows. */
const MARK = /^s(\d{1,5})$/;

/** What an entry of a form keeps of the field that marks it; none for a new entry. */
const originOf = (mark: unknown): [string, readonly string[]][] =>
  typeof mark === 'string' && MARK.test(mark) ? [[ORIGIN, [mark]]] : [];

/** The text that marks an entry of a form. */
export const markOf = (position: number | null): string => (position === null ? '1' : `s${position}`);

/** The position of the stored entry that an entry of a form shows; null for a new one. */
export function positionOf(entry: SentEntry | null): number | null {
  const [, digits] = MARK.exec(entry?.get(ORIGIN)?.[0] ?? '') ?? [];
  return digits === undefined ? null : Number(digits);
}

/** The texts of an entry's fields. */
export const textsIn = (entry: SentEntry): string[] =>
  [...entry].flatMap(([field, texts]) => (field === ORIGIN ? [] : texts));

/** An entry without the mark of the stored one. */
export const withoutOrigin = (entry: SentEntry | null): SentEntry | null =>
  entry && new Map([...entry].filter(([field]) => field !== ORIGIN));

/** An entry that a form shows again; null for a new one. */
export type ShownEntry = SentEntry | null;

/** What a form has sent for a repeated group. */
export interface SentEntries {
  entries: readonly SentEntry[];
  /** The numbers that the form has given to the entries, in order. */
  numbers: readonly number[];
  /** Whether a value was sent that is no list of entries. */
  isWrong: boolean;
}

/** A pressed button of a repeated group. */
interface EntryChange {
  element: ElementDefinition;
  kind: 'add' | 'remove' | 'up' | 'down';
  /** Of the entry; -1 to add one. */
  number: number;
}

/** What follows the name of a repeated group in a field's name: an entry, and a field of it. */
const ENTRY = /^(\d{1,9})(?::(.*))?$/s;
const BUTTON = /^(?:(add)|(remove|up|down):(\d{1,9}))$/;

/** The elements of the fields whose names hold a colon, with what follows it: no name of an element has one. */
function* ofGroups({ elements }: Definition, fields: FormFields): Generator<[string, ElementDefinition, string]> {
  for (const name of Object.keys(fields)) {
    const colon = name.indexOf(':');
    const element = colon < 0 ? undefined : elements.get(name.slice(0, colon));
    if (element?.kind.fields) yield [name, element, name.slice(colon + 1)];
  }
}

/**
 * The entries of all repeated groups that a form has sent (docs/reference/definitions.md#repeated-groups): fields
 * `<group>:<number>:<field>`, or in JSON lists of objects. Numbers are an order only, so that a large one costs nothing.
 */
export function sentEntries(definition: Definition, fields: FormFields): Map<string, SentEntries> {
  const found = new Map<string, Map<number, Map<string, readonly string[]>>>();
  for (const [name, element, rest] of ofGroups(definition, fields)) {
    const [, digits, field] = ENTRY.exec(rest) ?? [];
    if (digits === undefined) continue;
    const entries = found.get(element.name) ?? new Map<number, Map<string, readonly string[]>>();
    const entry = entries.get(Number(digits)) ?? new Map<string, readonly string[]>();
    if (field === undefined) for (const [key, mark] of originOf(fields[name])) entry.set(key, mark);
    else if (fieldsOf(element)?.has(field)) entry.set(field, textsOf(fields[name]));
    found.set(element.name, entries.set(Number(digits), entry));
  }
  const all = new Map<string, SentEntries>();
  for (const element of definition.elements.values()) {
    const { name } = element;
    const entry = fieldsOf(element);
    if (!entry) continue;
    const own = [...(found.get(name) ?? [])].sort(([a], [b]) => a - b);
    const list = own.length === 0 && Object.hasOwn(fields, name) ? listOf(fields[name], entry) : [];
    const entries = list === null ? [] : [...own.map(([, one]) => one), ...list];
    const numbers = own.length > 0 ? own.map(([number]) => number) : entries.map((_, index) => index);
    all.set(name, { entries, numbers, isWrong: list === null });
  }
  return all;
}

/** Entries of a JSON list; null for another value. */
function listOf(value: unknown, entry: ReadonlyMap<string, ElementDefinition>): SentEntry[] | null {
  if (value === null || value === undefined || value === '') return [];
  if (!Array.isArray(value) || !value.every(isItems)) return null;
  // One more than is allowed is enough to say so.
  return value.slice(0, MAX_ENTRIES.allowed + 1).map((one) => {
    const names = [...entry.keys()].filter((name) => Object.hasOwn(one, name));
    return new Map(names.map((name) => [name, textsOf(one[name])]));
  });
}

/** The pressed button of a repeated group; null if none was. */
export function pressedButton(definition: Definition, fields: FormFields): EntryChange | null {
  for (const [, element, rest] of ofGroups(definition, fields)) {
    const [, add, kind, digits] = BUTTON.exec(rest) ?? [];
    if (add) return { element, kind: 'add', number: -1 };
    if (kind) return { element, kind: kind as EntryChange['kind'], number: Number(digits) };
  }
  return null;
}

/** The entries after a button was pressed, and the position of the one that gets the focus; -1: the button to add one. */
export function changedEntries(
  { entries, numbers }: SentEntries,
  { element, kind, number }: EntryChange,
): { entries: ShownEntry[]; focus: number } {
  const { min, max } = boundsOf(element);
  const changed: ShownEntry[] = [...entries];
  if (kind === 'add') {
    if (changed.length < max) changed.push(null);
    return { entries: changed, focus: changed.length - 1 };
  }
  const at = numbers.indexOf(number);
  if (at < 0) return { entries: changed, focus: -1 };
  if (kind === 'remove') {
    if (changed.length > min) changed.splice(at, 1);
    return { entries: changed, focus: Math.min(at, changed.length - 1) };
  }
  const to = at + (kind === 'up' ? -1 : 1);
  if (to < 0 || to >= changed.length) return { entries: changed, focus: at };
  const [moved = null] = changed.splice(at, 1);
  changed.splice(to, 0, moved);
  return { entries: changed, focus: to };
}

export const NO_ENTRIES: SentEntries = { entries: [], numbers: [], isWrong: false };

/** The entries of a stored value that a form shows. */
export const storedEntries = (value: Json | undefined): Items[] => (Array.isArray(value) ? value.filter(isItems) : []);

/** Stored entries that are looked through for the values of a field. */
const MAX_LOOKED_THROUGH = 500;

/** The values that all stored entries have in a field. */
export const valuesOfEntries = (value: Json | undefined, field: string): Json[] =>
  (Array.isArray(value) ? value.slice(0, MAX_LOOKED_THROUGH).filter(isItems) : []).flatMap((items) =>
    itemOf(items, field),
  );

type Texts = [name: string, texts: readonly string[]][];

const isFilled = (fields: Texts): boolean => fields.some(([, texts]) => texts.some((text) => text !== ''));

/** The entries of a group in a form, without blank ones, and without fields whose condition is not met: a browser may leave these out. */
const filledEntries = <T>(
  element: ElementDefinition,
  entries: readonly T[],
  {
    valueFor,
    texts,
  }: { valueFor(one: T, name: string): Json; texts(one: T, field: ElementDefinition): readonly string[] },
): Texts[] =>
  entries
    .map((one) =>
      [...(fieldsOf(element)?.values() ?? [])]
        .filter((field) => isShown(field, (name) => valueFor(one, name)))
        .map((field): Texts[number] => [field.name, texts(one, field)]),
    )
    .filter(isFilled);

/** What a form sends for stored entries that are left alone. */
export const entriesShown = (element: ElementDefinition, value: Json, region: Region): Texts[] =>
  filledEntries<Items>(element, storedEntries(value), {
    valueFor: itemOf,
    texts: (items, field) => textsShown(field, itemOf(items, field.name), region),
  });

/** The same of entries that were sent. */
export const entriesSent = (element: ElementDefinition, sent: SentEntries | undefined): Texts[] =>
  filledEntries<SentEntry>(element, sent?.entries ?? [], {
    valueFor: (entry, name) => [...(entry.get(name) ?? [])],
    texts: (entry, field) => textsCompared(field, entry.get(field.name) ?? []),
  });

/** Characters of a text by which targets are looked for. */
const MAX_FIND = 200;

/** A reference in an entry of a repeated group, as fields of a form name it. */
const IN_ENTRY = /^([^:]+):(\d{1,9}):([^:]+)$/;

function findText(fields: FormFields, name: string): string {
  const field = `${name}${referenceFields.find}`;
  const text = textsOf(Object.hasOwn(fields, field) ? fields[field] : undefined).at(-1) ?? '';
  return text.trim().slice(0, MAX_FIND);
}

/**
 * Texts by which a form looks for targets of its references. In repeated groups only that of the pressed button counts, so
 * that a form of many entries does not make as many searches; its name has the entry's position.
 */
export function searchesIn(
  definition: Definition,
  fields: FormFields,
): Required<Pick<ShownAgain, 'searches'>> & Pick<ShownAgain, 'searched'> {
  const references = [...definition.elements.values()].filter(({ kind }) => kind.targets);
  const searches = new Map(references.map(({ name }) => [name, findText(fields, name)]));
  const pressed = pressedSearch(definition, fields);
  const [, group = '', number, field] = IN_ENTRY.exec(pressed ?? '') ?? [];
  if (pressed === undefined || number === undefined) return { searches, searched: pressed };
  const position = sentEntries(definition, fields).get(group)?.numbers.indexOf(Number(number)) ?? -1;
  const searched = `${group}:${position}:${field}`;
  return { searches: searches.set(searched, findText(fields, pressed)), searched };
}

const fieldIn = (element: ElementDefinition | undefined, name: string) => element && fieldsOf(element)?.get(name);

/** The reference whose button to look for targets was pressed, as the form names it. */
export function pressedSearch({ elements }: Definition, fields: FormFields): string | undefined {
  const buttons = Object.keys(fields).filter((name) => name.endsWith(referenceFields.search));
  const names = buttons.map((name) => name.slice(0, -referenceFields.search.length));
  return names.find((name) => {
    const [, group, , field] = IN_ENTRY.exec(name) ?? [];
    const element = group === undefined ? elements.get(name) : fieldIn(elements.get(group), field ?? '');
    return element?.kind.targets !== undefined;
  });
}
