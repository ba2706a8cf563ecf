import type { Json } from '../../../shared/json';
import { didYouMean } from '../did-you-mean';
import { builtInActions, type ElementType, elementTypes, toOptions } from './elements';
import { momentOf } from './elements/datetime-input';
import { compilePattern, compileSteps } from './elements/pattern';
import type { PatternWork } from './elements/pattern-machine';
import type { ElementDefinition } from './types';
import type { YamlPlace } from './yaml';
import { shorten } from './yaml-events';
import { type Check, caption, describe, flag, isMapping, number, oneOf, size, text, unknownKey } from './yaml-schema';

/** What all elements of a definition may take together: `left` steps of matching default values. */
export interface DefinitionWork extends PatternWork {
  /** Options so far. */
  options: number;
  /** Steps that are left for compiling patterns. */
  patterns: number;
}

/** Values of a default that is a list, at most. */
const MAX_DEFAULTS = 1_000;

const bound: Check<number | string> = (at) => (typeof at.value === 'number' ? at.value : text(at));

const step: Check<number | 'any'> = (at) =>
  at.value === 'any' || number(at) > 0
    ? (at.value as number | 'any')
    : at.fail('This must be a number above 0, or "any"');

const pattern = (at: YamlPlace, work: DefinitionWork): string => {
  const source = text(at);
  work.patterns -= compileSteps(source);
  if (work.patterns < 0) at.fail('The patterns of this block are too large together');
  try {
    compilePattern(source);
  } catch (error) {
    at.fail(`The pattern cannot be used: ${(error as Error).message}`);
  }
  return source;
};

/** Options of an element, at most, and of all elements of a block. */
const MAX_OPTIONS = { element: 1_000, block: 20_000 };

const options = (at: YamlPlace, work: DefinitionWork) => {
  const count = Array.isArray(at.value) ? at.value.length : 0;
  if (count > MAX_OPTIONS.element) at.fail(`There are at most ${MAX_OPTIONS.element} options`);
  work.options += count;
  if (work.options > MAX_OPTIONS.block) at.fail(`The elements of a block have at most ${MAX_OPTIONS.block} options`);
  return (
    toOptions(at.value) ?? at.fail('Options are a list of different values, or of mappings with "value" and "label"')
  );
};

const anything: Check<Json> = (at) => {
  if (Array.isArray(at.value) && at.value.length > MAX_DEFAULTS) at.fail(`There are at most ${MAX_DEFAULTS} values`);
  return typeof at.value === 'string' ? text(at) : at.value;
};

/** Every key that some element type takes, with its check and its name in ElementDefinition (contract, section 7). */
const keys = {
  label: { as: 'label', check: caption },
  required: { as: 'required', check: flag },
  default: { as: 'default', check: anything },
  placeholder: { as: 'placeholder', check: caption },
  help: { as: 'help', check: caption },
  min: { as: 'min', check: bound },
  max: { as: 'max', check: bound },
  step: { as: 'step', check: step },
  minlength: { as: 'minlength', check: size },
  maxlength: { as: 'maxlength', check: size },
  pattern: { as: 'pattern', check: pattern },
  options: { as: 'options', check: options },
  multiple: { as: 'multiple', check: flag },
  index_type: { as: 'indexType', check: oneOf('field', 'text', 'keyword') },
  mode: { as: 'mode', check: oneOf('COMPUTED_ON_SAVE', 'COMPUTED_ON_CREATION') },
} as const satisfies Record<
  string,
  { as: keyof ElementDefinition; check(at: YamlPlace, work: DefinitionWork): unknown }
>;

/**
 * Reads one element: a type's name, or a mapping with `type`; a built-in action needs no type.
 * @param work what all elements of the definition may take together; it is used up by each
 */
export function readElement(at: YamlPlace, name: string, work: DefinitionWork): ElementDefinition {
  const { value } = at;
  const typeAt = isMapping(value) && Object.hasOwn(value, 'type') ? at.child('type') : at;
  const type = isMapping(typeAt.value) ? defaultType(at, name) : typeName(typeAt);
  if (builtInActions.has(name) && type !== 'ACTION')
    typeAt.fail(`"${name}" is a built-in action, so its type is ACTION`);
  const elementType = elementTypes.get(type) as ElementType;
  const definition: Record<string, unknown> = { name, type, position: at.position };
  for (const key of isMapping(value) ? Object.keys(value) : []) {
    if (key === 'type') continue;
    if (!elementType.keys.includes(key)) {
      unknownKey(at, key, ['type', ...elementType.keys], ` for the type ${type}`);
      continue;
    }
    const { as, check } = keys[key as keyof typeof keys];
    if (at.child(key).value !== null) definition[as] = check(at.child(key), work);
  }
  return withDefault(at, checkBounds(at, definition as unknown as ElementDefinition), elementType, work);
}

function typeName(at: YamlPlace): string {
  if (typeof at.value !== 'string')
    return at.fail(`An element is the name of a type, or a mapping with "type", not ${describe(at.value)}`);
  if (elementTypes.has(at.value)) return at.value;
  const known = [...elementTypes.keys()];
  return at.fail(
    `The element type "${shorten(at.value)}" is not known${didYouMean(at.value, known) || '.'} Known: ${known.join(', ')}.`,
  );
}

function defaultType(at: YamlPlace, name: string): string {
  return builtInActions.has(name) ? 'ACTION' : at.fail('An element needs a "type"');
}

/** `min` and `max` are numbers for a NUMBER and dates for a DATE or DATETIME, and neither pair may cross. */
function checkBounds(at: YamlPlace, definition: ElementDefinition): ElementDefinition {
  const { type, min, max, minlength, maxlength } = definition;
  const positions = (['min', 'max'] as const).map((key) => {
    const value = definition[key];
    if (value === undefined) return undefined;
    if (type === 'NUMBER') return number(at.child(key));
    const moment = typeof value === 'string' ? momentOf(value) : null;
    const whole = moment !== null && (type === 'DATETIME') === String(value).includes('T');
    return whole
      ? moment
      : at
          .child(key)
          .fail(
            `This must be a ${type === 'DATE' ? 'date, such as 2026-03-01' : 'date and time, such as 2026-03-01T09:30'}`,
          );
  });
  const [low, high] = positions;
  if (low != null && high != null && low > high)
    at.child('min').fail(`The least value ${min} is above the greatest, ${max}`);
  if (minlength !== undefined && maxlength !== undefined && minlength > maxlength) {
    at.child('minlength').fail(`The least length ${minlength} is above the greatest, ${maxlength}`);
  }
  return definition;
}

/**
 * A default must be a value that the element could store: it is read as if a visitor had entered it. Where the options
 * are computed, only they can tell.
 */
function withDefault(
  at: YamlPlace,
  definition: ElementDefinition,
  { read, keys: taken }: ElementType,
  work: PatternWork,
): ElementDefinition {
  const given = definition.default;
  if (given === undefined || given === '' || !read) return definition;
  if (taken.includes('options') && !definition.options) return definition;
  const entered = (Array.isArray(given) ? given : given === false ? [] : [given]).map((value) => {
    if (typeof value === 'object') at.child('default').fail(`This cannot be a default value: ${describe(value)}`);
    return String(value);
  });
  if (Array.isArray(given) && definition.type !== 'CHECKBOXES' && !definition.multiple)
    at.child('default').fail('This must be one value, not a list');
  const result = read(entered, { ...definition, required: false }, definition.options ?? [], work);
  if ('error' in result) return at.child('default').fail(`This is not a value of the element: ${result.error}`);
  return { ...definition, default: result.value };
}
