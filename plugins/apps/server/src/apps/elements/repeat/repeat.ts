import { z } from 'zod';
import type { ElementDefinition } from '../../types';
import { check } from '../../yaml/check';
import { boundedList, caption, isMapping, named, number } from '../../yaml/schema';
import type { YamlNode } from '../../yaml/yaml';
import { boundsOf, MAX_ENTRIES } from '../entries';
import { classNames, type DefinitionWork, help, label } from '../inputs/settings';
import { showIfSetting } from '../inputs/show-if';
import type { ElementType, FormLoad, JsonSchema } from '../types';
import { showRepeat } from './html';
import { readEntries } from './read';

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
