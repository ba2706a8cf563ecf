import { type Items, isItems, itemOf, type Json } from '../../../../../shared/json';
import { shortWork } from '../../../common/time/pace';
import { type Message, message } from '../../locales';
import type { ElementDefinition } from '../../types';
import { boundsOf, NO_ENTRIES, positionOf, type SentEntry, storedEntries, textsIn, valuesOfEntries } from '../entries';
import { isShown } from '../inputs/show-if';
import { fieldsOf } from '../parts';
import { readInput } from '../read';
import { idsIn, MAX_REFERENCES } from '../reference/targets';
import type { Read, ReadRequest, WrongField } from '../types';

/** Whether nothing was entered in an entry. */
const isBlank = (entry: SentEntry): boolean => textsIn(entry).every((text) => text === '');

/**
 * The value of a repeated group, or what is wrong with it. Entries in which nothing was entered are left out, but those that
 * the least number needs are checked as they are.
 */
export async function readEntries(element: ElementDefinition, request: ReadRequest): Promise<Read> {
  const { entries, isWrong } = request.entries;
  const { name } = element;
  const { min, max } = boundsOf(element);
  await findTargets(element, request);
  const refuse = (refusal: Message): Read => ({ wrong: [{ path: [name], message: refusal }] });
  if (isWrong) return refuse(message('entries_list'));
  const filled = entries.filter((entry) => !isBlank(entry)).length;
  if (filled > max) return refuse(message('entries_max', { count: max }));
  let blank = Math.max(0, min - filled);
  const value: Json[] = [];
  const wrong: WrongField[] = [];
  const shown = storedEntries(request.shown);
  const fields = fieldRequests(element, request);
  for (const [position, entry] of entries.entries()) {
    if (isBlank(entry)) {
      if (blank === 0) continue;
      blank -= 1;
    }
    const read = await readEntry(entry, fields, shown[positionOf(entry) ?? -1]);
    value.push(read.items);
    for (const [field, refusal] of read.wrong) wrong.push({ path: [name, String(position), field], message: refusal });
  }
  if (filled < min && wrong.length === 0) return refuse(message('entries_min', { count: min }));
  if (wrong.length > 0) return { wrong };
  // Entries that no form can show.
  const others = Array.isArray(request.shown) ? request.shown.filter((one) => !isItems(one)) : [];
  return { value: [...value, ...others] };
}

/** Asks for the targets of all entries together. */
async function findTargets(element: ElementDefinition, { entries, data }: ReadRequest): Promise<void> {
  const { max } = boundsOf(element);
  for (const field of fieldsOf(element)?.values() ?? []) {
    const idsOf = (entry: SentEntry) => (entry.get(field.name) ?? []).slice(0, MAX_REFERENCES.chosen);
    await field.kind.targets?.(idsIn(entries.entries.slice(0, max).flatMap(idsOf)), field, data);
  }
}

/** The fields of an entry, each with the request for which it is read. */
type Fields = readonly { field: ElementDefinition; request: ReadRequest }[];

const fieldRequests = (element: ElementDefinition, request: ReadRequest): Fields =>
  [...(fieldsOf(element)?.values() ?? [])].map((field) => ({
    field,
    request: {
      ...request,
      field: `${element.name}:${field.name}`,
      entries: NO_ENTRIES,
      stored: valuesOfEntries(request.stored, field.name),
    },
  }));

/** One entry; conditions of its fields name fields of the same entry. @param before the stored entry that the form has shown */
async function readEntry(
  sent: SentEntry,
  fields: Fields,
  before: Items | undefined,
): Promise<{ items: Items; wrong: ReadonlyMap<string, Message> }> {
  const items = new Map<string, Json>();
  const wrong = new Map<string, Message>();
  const valueFor = (name: string): Json => (wrong.has(name) ? [...(sent.get(name) ?? [])] : (items.get(name) ?? null));
  const names = new Set(fields.map(({ field }) => field.name));
  // What the definition does not name, such as a field that it no longer has, stays with its entry.
  for (const [name, value] of Object.entries(before ?? {})) if (!names.has(name)) items.set(name, value);
  for (const { field, request } of fields) {
    const { name } = field;
    if (!(await shortWork(() => isShown(field, valueFor)))) continue;
    const shown = before && Object.hasOwn(before, name) ? itemOf(before, name) : undefined;
    const result = await readInput(field, sent.get(name) ?? [], { ...request, shown });
    if (!result) continue;
    if ('value' in result) items.set(name, result.value);
    else if ('error' in result) wrong.set(name, result.error);
  }
  return { items: Object.fromEntries(items), wrong };
}
