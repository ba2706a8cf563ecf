import { z } from 'zod';
import { type Items, isItems, itemOf, type Json } from '../../../../shared/json';
import { shortWork } from '../../common/time/pace';
import { type Message, message } from '../locales';
import type { ElementDefinition } from '../types';
import type { YamlNode } from '../yaml';
import { boundedList, caption, check, isMapping, named, number } from '../yaml-schema';
import {
  boundsOf,
  MAX_ENTRIES,
  NO_ENTRIES,
  positionOf,
  type SentEntry,
  storedEntries,
  textsIn,
  valuesOfEntries,
} from './entries';
import { classNames, type DefinitionWork, help, isShown, label, showIfSetting } from './inputs/settings';
import { fieldsOf } from './parts';
import { readInput } from './read';
import { idsIn, MAX_REFERENCES } from './reference-targets';
import { showRepeat } from './repeat-html';
import type { ElementType, FormLoad, JsonSchema, Read, ReadRequest, WrongField } from './types';

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

/**
 * Fields of all entries together, so that a full form stays below the fields that a form may have; options, files and targets
 * of all.
 */
const MAX_TOGETHER = { fields: 900, options: 20_000, files: 500, targets: 500 };

/** What all fields of an entry add to a form. */
function loadOf(fields: readonly ElementDefinition[]): Required<FormLoad> {
  const all = { fields: 0, options: 0, files: 0, targets: 0 };
  for (const field of fields) {
    const { kind } = field;
    const usual = { fields: 1, options: kind.options?.(field)?.length ?? 0, files: 0, targets: 0 };
    const own = { ...usual, ...kind.load?.(field) };
    for (const key of Object.keys(all) as (keyof FormLoad)[]) all[key] += own[key];
  }
  return all;
}

/** Keys of inputs that a field of an entry does not take. */
const NOT_IN_ENTRIES = ['mode', 'index_type', 'readonly', 'unique'];

function readField(at: YamlNode, name: string, work: DefinitionWork): ElementDefinition {
  const { value } = at;
  const typeAt = isMapping(value) && Object.hasOwn(value, 'type') ? at.child('type') : at;
  const reason = typeof typeAt.value === 'string' && work.types.get(typeAt.value)?.notRepeated;
  if (reason) typeAt.fail(`The type ${typeAt.value} cannot be repeated: ${reason}`);
  if (name.startsWith('_')) at.fail(`The name "${name}" of a field must not begin with "_"`);
  const field = work.readElement(at, name);
  for (const key of isMapping(value) ? NOT_IN_ENTRIES : [])
    if (Object.hasOwn(value as object, key)) at.key(key).fail(`A field of a repeated group does not take "${key}"`);
  const limited = field.kind.options?.(field)?.findIndex(({ limit }) => limit !== undefined) ?? -1;
  if (limited >= 0)
    at.child('options').child(limited).key('limit').fail('An option of a repeated group does not take "limit"');
  return field;
}

const fields = named<ElementDefinition, [work: DefinitionWork]>(
  'a field',
  check(z.unknown(), (_value, at, name: string, work: DefinitionWork) => readField(at, name, work)),
);

const NOT_COUNT = `This must be a whole number from 0 to ${MAX_ENTRIES.allowed}`;

const count = check(number.schema, (value, at): number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_ENTRIES.allowed
    ? (value as number)
    : at.fail(NOT_COUNT),
);

export type RepeatSettings = {
  /** Fields of each entry. */
  fields?: ReadonlyMap<string, ElementDefinition>;
  /** The least and the greatest number of entries. */
  min?: number;
  max?: number;
  /** What one entry is called, and the labels of its buttons. */
  entryLabel?: string;
  addLabel?: string;
  removeLabel?: string;
  upLabel?: string;
  downLabel?: string;
};

/** Fields that are entered any number of times, stored as a list of objects (docs/reference/definitions.md#repeated-groups). */
export const repeat: ElementType<RepeatSettings> = {
  role: 'input',
  notRepeated: 'repeated groups do not stand in each other',
  cell: 'json',
  settings: {
    ...label,
    ...help,
    ...classNames,
    ...showIfSetting,
    elements: { own: 'fields', check: fields, isFields: true },
    min: { own: 'min', check: count },
    max: { own: 'max', check: count },
    entry_label: { own: 'entryLabel', check: caption, isText: true },
    add_label: { own: 'addLabel', check: caption, isText: true },
    remove_label: { own: 'removeLabel', check: caption, isText: true },
    up_label: { own: 'upLabel', check: caption, isText: true },
    down_label: { own: 'downLabel', check: caption, isText: true },
  },
  isList: () => true,
  read: (_submitted, definition, { request }) => (request ? readEntries(definition, request) : { value: [] }),
  show: showRepeat,
  fields: ({ settings }) => settings.fields,
  check(definition, at) {
    const { fields } = definition.settings;
    if (!fields || fields.size === 0) {
      const where = isMapping(at.value) && Object.hasOwn(at.value, 'elements') ? at.child('elements') : at;
      return where.fail('A repeated group needs "elements": the fields of one entry');
    }
    const { min, max } = boundsOf(definition);
    const where = isMapping(at.value) && Object.hasOwn(at.value, 'max') ? at.child('max') : at;
    if (min > max) where.fail(`The least number of entries, ${min}, is above the greatest, ${max}`);
    const load = loadOf([...fields.values()]);
    const most = Math.floor(MAX_TOGETHER.fields / (load.fields + 1));
    if (max > most) where.fail(`Of these fields there can be at most ${most} entries: set a smaller "max"`);
    if (load.options * max > MAX_TOGETHER.options)
      where.fail(`The entries have more than ${MAX_TOGETHER.options} options together: set a smaller "max"`);
    if (load.files * max > MAX_TOGETHER.files)
      where.fail(`The entries can have more than ${MAX_TOGETHER.files} files together: set a smaller "max"`);
    if (load.targets * max > MAX_TOGETHER.targets)
      where.fail(
        `The entries can have more than ${MAX_TOGETHER.targets} targets together: set a smaller "max", of the group or of the reference`,
      );
  },
  schema(definition, schemaOf): JsonSchema {
    const { min, max } = boundsOf(definition);
    const all = [...(definition.settings.fields?.values() ?? [])];
    const properties = all.flatMap((field): [string, JsonSchema][] => {
      const schema = schemaOf(field);
      return schema ? [[field.name, field.label ? { title: field.label, ...schema } : schema]] : [];
    });
    const required = all.filter(({ showIf }) => !showIf).map(({ name }) => name);
    const items = { type: 'object', properties: Object.fromEntries(properties), required };
    return { type: 'array', items, ...(min > 0 && { minItems: min }), maxItems: max };
  },
};

type GroupSettings = { members?: readonly string[] };

/** Maximum elements of a group. */
const MAX_MEMBERS = 200;

const NOT_NAMES = 'This must be a list of names of elements';

const members = check<string[]>(
  boundedList(MAX_MEMBERS, `A group has at most ${MAX_MEMBERS} elements`, z.array(z.string(NOT_NAMES), NOT_NAMES)),
);

/** Elements under a heading (docs/reference/definitions.md#groups). */
export const group: ElementType<GroupSettings> = {
  role: 'group',
  notRepeated: 'an entry is a group already',
  members: ({ settings }) => settings.members ?? [],
  settings: {
    ...label,
    ...help,
    ...classNames,
    ...showIfSetting,
    elements: { own: 'members', check: members },
  },
};
