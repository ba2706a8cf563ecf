import { isItems } from '../../../../../shared/json';
import { boundsOf, MAX_ENTRIES } from '../../elements';
import type { Definition, ElementDefinition } from '../../types';
import { type FormFields, originOf, type SentEntry, type ShownEntry, textsIn, textsOf } from './form';

/** What a form has sent for a repeated group. */
export interface SentEntries {
  entries: readonly SentEntry[];
  /** The numbers that the form has given to the entries, in order. */
  numbers: readonly number[];
  /** Whether a value was sent that is no list of entries. */
  isWrong: boolean;
}

/** A pressed button of a repeated group. */
export interface EntryChange {
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
export const isBlank = (entry: SentEntry): boolean => textsIn(entry).every((text) => text === '');
