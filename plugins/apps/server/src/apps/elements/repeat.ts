import { z } from 'zod';
import type { ElementDefinition } from '../types';
import { check } from '../yaml/check';
import { boundedList, caption, isMapping, named, number } from '../yaml/schema';
import type { YamlNode } from '../yaml/yaml';
import { MAX_FILES } from './file-types';
import { classNames, type DefinitionWork, label } from './inputs/settings';
import { showIfSetting } from './inputs/show-if';
import { MAX_REFERENCES, mostTargets } from './reference';
import type { ElementType, JsonSchema } from './types';

/** Entries without `max`, and the most that `max` may allow. */
export const MAX_ENTRIES = { default: 20, allowed: 100 };

/**
 * Fields of all entries together, so that a full form stays below the fields that a form may have; options, files and targets
 * of all.
 */
const MAX_TOGETHER = { fields: 900, options: 20_000, files: 500, targets: 500 };

const FILES = ['FILE', 'IMAGE'];

/** The fields that a form has for a field of an entry: a reference has one to look for targets, too. */
const fieldsOf = ({ type }: ElementDefinition): number => (type === 'REFERENCE' ? 2 : 1);

/** The options that a field of an entry shows. */
const optionsOf = ({ type, options }: ElementDefinition): number =>
  type === 'REFERENCE' ? MAX_REFERENCES.offered : (options?.length ?? 0);

const sumOf = (fields: readonly ElementDefinition[], count: (field: ElementDefinition) => number): number =>
  fields.reduce((sum, field) => sum + count(field), 0);

const NOT_REPEATED: Record<string, string> = {
  ACTION: 'an entry has no actions of its own',
  BASIC: 'an entry has fields only',
  GROUP: 'an entry is a group already',
  REPEAT: 'repeated groups do not stand in each other',
};

/** Keys of inputs that a field of an entry does not take. */
const NOT_IN_ENTRIES = ['mode', 'index_type', 'readonly', 'unique'];

function readField(at: YamlNode, name: string, work: DefinitionWork): ElementDefinition {
  const { value } = at;
  const typeAt = isMapping(value) && Object.hasOwn(value, 'type') ? at.child('type') : at;
  const reason = typeof typeAt.value === 'string' && Object.hasOwn(NOT_REPEATED, typeAt.value);
  if (reason) typeAt.fail(`The type ${typeAt.value} cannot be repeated: ${NOT_REPEATED[String(typeAt.value)]}`);
  if (name.startsWith('_')) at.fail(`The name "${name}" of a field must not begin with "_"`);
  const field = work.readElement(at, name);
  for (const key of isMapping(value) ? NOT_IN_ENTRIES : [])
    if (Object.hasOwn(value as object, key)) at.key(key).fail(`A field of a repeated group does not take "${key}"`);
  const limited = field.options?.findIndex(({ limit }) => limit !== undefined) ?? -1;
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

/** The least and the greatest number of entries. */
export function boundsOf({ min, max }: ElementDefinition): { min: number; max: number } {
  const least = Number(min ?? 0);
  return { min: least, max: Number(max ?? Math.max(MAX_ENTRIES.default, least)) };
}

/**
 * The fields of an entry as elements of their own, named as their functions are: `<repeat>_<field>`. None for other types.
 */
export function entryElements({ name, entry }: ElementDefinition): ElementDefinition[] {
  return [...(entry?.values() ?? [])].map((field) => ({ ...field, name: `${name}_${field.name}` }));
}

/** The references in an entry. */
export const referencesIn = ({ entry }: ElementDefinition): ElementDefinition[] =>
  [...(entry?.values() ?? [])].filter(({ type }) => type === 'REFERENCE');

/** Fields that are entered any number of times, stored as a list of objects (docs/reference/definitions.md#repeated-groups). */
export const repeat: ElementType = {
  role: 'input',
  cell: 'json',
  settings: {
    ...label,
    help: { as: 'help', check: caption },
    ...classNames,
    ...showIfSetting,
    elements: { as: 'entry', check: fields },
    min: { as: 'min', check: count },
    max: { as: 'max', check: count },
    entry_label: { as: 'entryLabel', check: caption },
    add_label: { as: 'addLabel', check: caption },
    remove_label: { as: 'removeLabel', check: caption },
    up_label: { as: 'upLabel', check: caption },
    down_label: { as: 'downLabel', check: caption },
  },
  isList: () => true,
  check(definition, at) {
    const { entry } = definition;
    if (!entry || entry.size === 0) {
      const where = isMapping(at.value) && Object.hasOwn(at.value, 'elements') ? at.child('elements') : at;
      return where.fail('A repeated group needs "elements": the fields of one entry');
    }
    const { min, max } = boundsOf(definition);
    const where = isMapping(at.value) && Object.hasOwn(at.value, 'max') ? at.child('max') : at;
    if (min > max) where.fail(`The least number of entries, ${min}, is above the greatest, ${max}`);
    const all = [...entry.values()];
    const fields = sumOf(all, fieldsOf);
    const most = Math.floor(MAX_TOGETHER.fields / (fields + 1));
    if (max > most) where.fail(`Of these fields there can be at most ${most} entries: set a smaller "max"`);
    if (sumOf(all, optionsOf) * max > MAX_TOGETHER.options)
      where.fail(`The entries have more than ${MAX_TOGETHER.options} options together: set a smaller "max"`);
    const files = all.filter(({ type }) => FILES.includes(type));
    if (sumOf(files, ({ multiple }) => (multiple ? MAX_FILES : 1)) * max > MAX_TOGETHER.files)
      where.fail(`The entries can have more than ${MAX_TOGETHER.files} files together: set a smaller "max"`);
    const references = all.filter(({ type }) => type === 'REFERENCE');
    if (sumOf(references, mostTargets) * max > MAX_TOGETHER.targets)
      where.fail(
        `The entries can have more than ${MAX_TOGETHER.targets} targets together: set a smaller "max", of the group or of the reference`,
      );
  },
  schema(definition, schemaOf): JsonSchema {
    const { min, max } = boundsOf(definition);
    const all = [...(definition.entry?.values() ?? [])];
    const properties = all.flatMap((field): [string, JsonSchema][] => {
      const schema = schemaOf(field);
      return schema ? [[field.name, field.label ? { title: field.label, ...schema } : schema]] : [];
    });
    const required = all.filter(({ showIf }) => !showIf).map(({ name }) => name);
    const items = { type: 'object', properties: Object.fromEntries(properties), required };
    return { type: 'array', items, ...(min > 0 && { minItems: min }), maxItems: max };
  },
};

/** Maximum elements of a group. */
const MAX_MEMBERS = 200;

const NOT_NAMES = 'This must be a list of names of elements';

const members = check<string[]>(
  boundedList(MAX_MEMBERS, `A group has at most ${MAX_MEMBERS} elements`, z.array(z.string(NOT_NAMES), NOT_NAMES)),
);

/** Elements under a heading (docs/reference/definitions.md#groups). */
export const group: ElementType = {
  role: 'group',
  settings: {
    ...label,
    help: { as: 'help', check: caption },
    ...classNames,
    ...showIfSetting,
    elements: { as: 'members', check: members },
  },
};
