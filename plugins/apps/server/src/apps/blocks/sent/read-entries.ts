import type { Items, Json } from '../../../../../shared/json';
import { shortWork } from '../../../common/time/pace';
import type { Region } from '../../../common/values/moments';
import { boundsOf, elementTypes, isShown, optionsToRead } from '../../elements';
import { type Message, message } from '../../locales';
import type { PatternWork } from '../../patterns/pattern-machine';
import type { ElementDefinition, ElementOption } from '../../types';
import { positionOf, type SentEntry } from './form';
import { keptValue } from './left-alone';
import { isBlank, type SentEntries } from './sent-entries';

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
