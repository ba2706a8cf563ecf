import { type Items, isItems, type Json } from '../../../../../shared/json';
import { shortWork } from '../../../common/time/pace';
import type { Region } from '../../../common/values/moments';
import { boundsOf, elementTypes, isShown, MAX_ENTRIES, optionsToRead, pageFields, roleOf } from '../../elements';
import { type Message, message } from '../../locales';
import type { PatternWork } from '../../patterns';
import type { Block, Definition, ElementDefinition, ElementOption, FormPage } from '../../types';
import {
  type Entries,
  type FormFields,
  originOf,
  positionOf,
  type SentEntry,
  type ShownEntry,
  textsIn,
  textsOf,
} from './form';
import { keptValue, pagesByElement, seenPages } from './pages';

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
    if (element?.entry) yield [name, element, name.slice(colon + 1)];
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
    else if (element.entry?.has(field)) entry.set(field, textsOf(fields[name]));
    found.set(element.name, entries.set(Number(digits), entry));
  }
  const all = new Map<string, SentEntries>();
  for (const { name, entry } of definition.elements.values()) {
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
function listOf(value: unknown, entry: NonNullable<ElementDefinition['entry']>): SentEntry[] | null {
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

/** Whether nothing was entered in an entry. */
const isBlank = (entry: SentEntry): boolean => textsIn(entry).every((text) => text === '');

/**
 * The entries of a form that is shown again; null where none of the inputs that the layout shows was sent, so that they
 * have their usual values.
 */
export function enteredIn(
  block: Block,
  fields: FormFields,
  shows: (name: string) => boolean,
  pages: readonly FormPage[] = [],
): Pick<Entries, 'entered' | 'repeats'> | null {
  const seen = pages.length > 0 ? seenPages(fields, pages.length) : null;
  const pageOf = pagesByElement(block.definition, pages);
  const isUnseen = ({ name }: ElementDefinition) => {
    const page = pageOf.get(name);
    return page !== undefined && seen?.has(page) === false;
  };
  // Fields of a page that was not shown yet have their usual values.
  const inputs = shownInputs(block, shows).filter((element) => !isUnseen(element));
  const sent = sentEntries(block.definition, fields);
  const isSent = ({ name }: ElementDefinition) =>
    Object.hasOwn(fields, name) || (sent.get(name)?.entries.length ?? 0) > 0;
  // A page whose boxes are all unchecked sends none of them.
  const isPage = pages.length > 0 && Object.hasOwn(fields, pageFields.page);
  return isPage || inputs.some(isSent)
    ? { entered: entriesOf(inputs, fields, sent), repeats: repeatsOf(inputs, sent) }
    : null;
}

/** The inputs that a form of the block may set and its layout shows. */
export function shownInputs(block: Block, shows: (name: string) => boolean): ElementDefinition[] {
  return [...block.definition.elements.values()].filter((element) => isEntered(element) && shows(element.name));
}

/** The texts of each input; of a repeated group those of all its entries. */
export const entriesOf = (
  inputs: readonly ElementDefinition[],
  fields: FormFields,
  sent: ReadonlyMap<string, SentEntries>,
): Map<string, string[]> =>
  new Map(
    inputs.map(({ name, entry }) => {
      if (entry) return [name, (sent.get(name)?.entries ?? []).flatMap(textsIn)];
      return [name, textsOf(Object.hasOwn(fields, name) ? fields[name] : undefined)];
    }),
  );

/** Entries that a form shows again, as far as a form could have sent them. */
export const repeatsOf = (inputs: readonly ElementDefinition[], sent: ReadonlyMap<string, SentEntries>) =>
  new Map(
    inputs.flatMap(({ name, entry }): [string, readonly ShownEntry[]][] =>
      entry ? [[name, (sent.get(name)?.entries ?? []).slice(0, MAX_ENTRIES.allowed)]] : [],
    ),
  );

/** Whether a form may set the element. An element "block" is declared for its index: no form takes a record out of its block. */
function isEntered(element: ElementDefinition): boolean {
  return roleOf(element) === 'input' && !element.mode && !element.readonly && element.name !== 'block';
}

/** A message about a field of a form, before it is put into words. */
export interface WrongField {
  path: string[];
  message: Message;
}

/** What reads the fields of an entry. */
export interface EntryTools {
  /** By the names of `entryElements`. */
  options: ReadonlyMap<string, readonly ElementOption[]>;
  work: PatternWork;
  /** The stored entries that the form has shown: of a field that was left alone the stored value stays. */
  stored?: readonly Items[];
  region: Region;
  /** Reads a field of files. @param field `<group>:<field>` */
  readFileItem(
    field: string,
    element: ElementDefinition,
    submitted: readonly string[],
  ): Promise<{ value: Json } | { error: Message }>;
  /** Reads a reference. */
  readReference(
    element: ElementDefinition,
    submitted: readonly string[],
  ): Promise<{ value: Json } | { error: Message }>;
}

/**
 * The value of a repeated group, or what is wrong with it. Entries in which nothing was entered are left out, but those that
 * the least number needs are checked as they are.
 */
export async function readEntries(
  element: ElementDefinition,
  { entries, isWrong }: SentEntries,
  tools: EntryTools,
): Promise<{ value: Json; wrong: WrongField[] }> {
  const { name } = element;
  const { min, max } = boundsOf(element);
  const refuse = (refusal: Message) => ({ value: null, wrong: [{ path: [name], message: refusal }] });
  if (isWrong) return refuse(message('entries_list'));
  const filled = entries.filter((entry) => !isBlank(entry)).length;
  if (filled > max) return refuse(message('entries_max', { count: max }));
  let blank = Math.max(0, min - filled);
  const value: Json[] = [];
  const wrong: WrongField[] = [];
  for (const [position, entry] of entries.entries()) {
    if (isBlank(entry)) {
      if (blank === 0) continue;
      blank -= 1;
    }
    const read = await readEntry(element, entry, tools);
    value.push(read.items);
    for (const [field, refusal] of read.wrong) wrong.push({ path: [name, String(position), field], message: refusal });
  }
  if (filled < min && wrong.length === 0) return refuse(message('entries_min', { count: min }));
  return { value, wrong };
}

/** One entry; conditions of its fields name fields of the same entry. */
async function readEntry(
  { name: group, entry }: ElementDefinition,
  sent: SentEntry,
  { options, work, stored, region, readFileItem, readReference }: EntryTools,
): Promise<{ items: Items; wrong: Map<string, Message> }> {
  const items = new Map<string, Json>();
  const wrong = new Map<string, Message>();
  const valueFor = (name: string): Json => (wrong.has(name) ? [...(sent.get(name) ?? [])] : (items.get(name) ?? null));
  const before = stored?.[positionOf(sent) ?? -1];
  // What the definition does not name, such as a field that it no longer has, stays with its entry.
  for (const [name, value] of Object.entries(before ?? {})) if (!entry?.has(name)) items.set(name, value);
  for (const field of entry?.values() ?? []) {
    const { name, type } = field;
    if (!(await shortWork(() => isShown(field, valueFor)))) continue;
    const known = before && Object.hasOwn(before, name) ? before[name] : undefined;
    const own = optionsToRead(options.get(`${group}_${name}`) ?? [], known);
    const submitted = sent.get(name) ?? [];
    const elementType = elementTypes.get(type);
    const result = elementType?.files
      ? await readFileItem(`${group}:${name}`, field, submitted)
      : type === 'REFERENCE'
        ? await readReference(field, submitted)
        : await shortWork(() => elementType?.read?.(submitted, field, own, work));
    const kept = result && keptValue(field, { submitted, stored: known, result, region });
    if (kept !== undefined) items.set(name, kept);
    else if (result && 'error' in result) wrong.set(name, result.error);
    else if (result) items.set(name, result.value);
  }
  return { items: Object.fromEntries(items), wrong };
}
