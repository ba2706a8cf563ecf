import { didYouMean } from '../../common/did-you-mean';
import { builtInActions, type ElementType, elementTypes } from '../elements';
import type { DefinitionWork } from '../elements/inputs/settings';
import { inEnglish } from '../locales';
import type { PatternWork } from '../patterns/pattern-machine';
import type { ElementDefinition } from '../types';
import { unknownKey } from '../yaml/check';
import { shorten } from '../yaml/events';
import { describe, isMapping } from '../yaml/schema';
import type { YamlNode } from '../yaml/yaml';

/**
 * Reads one element: a type's name, or a mapping with `type`; a built-in action needs no type.
 * @param work the budget that all elements of the definition share
 */
export function readElement(at: YamlNode, name: string, work: DefinitionWork): ElementDefinition {
  const { value } = at;
  const typeAt = isMapping(value) && Object.hasOwn(value, 'type') ? at.child('type') : at;
  const type = isMapping(typeAt.value) ? defaultType(at, name) : typeName(typeAt);
  if (builtInActions.has(name) && type !== 'ACTION')
    typeAt.fail(`"${name}" is a built-in action, so its type is ACTION`);
  const elementType = elementTypes.get(type) as ElementType;
  const { settings } = elementType;
  const definition: Record<string, unknown> = { name, type, position: at.position };
  for (const key of isMapping(value) ? Object.keys(value) : []) {
    if (key === 'type') continue;
    const setting = Object.hasOwn(settings, key) ? settings[key] : undefined;
    if (!setting) unknownKey(at, key, ['type', ...Object.keys(settings)], ` for the type ${type}`);
    else if (at.child(key).value !== null) definition[setting.as] = setting.check(at.child(key), work);
  }
  const checked = definition as unknown as ElementDefinition;
  elementType.check?.(checked, at);
  return withDefault(at, checked, elementType, work);
}

function typeName(at: YamlNode): string {
  if (typeof at.value !== 'string')
    return at.fail(`An element is the name of a type, or a mapping with "type", not ${describe(at.value)}`);
  if (elementTypes.has(at.value)) return at.value;
  const known = [...elementTypes.keys()];
  return at.fail(
    `The element type "${shorten(at.value)}" is not known${didYouMean(at.value, known) || '.'} Known: ${known.join(', ')}.`,
  );
}

function defaultType(at: YamlNode, name: string): string {
  return builtInActions.has(name) ? 'ACTION' : at.fail('An element needs a "type"');
}

/**
 * A default must be a value that the element could store: it is read like a visitor's entry. It is not checked where the
 * options are computed.
 */
function withDefault(
  at: YamlNode,
  definition: ElementDefinition,
  { read, settings, isList }: ElementType,
  work: PatternWork,
): ElementDefinition {
  const given = definition.default;
  if (given === undefined || given === '' || !read) return definition;
  if (Object.hasOwn(settings, 'options') && !definition.options) return definition;
  const entered = (Array.isArray(given) ? given : given === false ? [] : [given]).map((value) => {
    if (typeof value === 'object') at.child('default').fail(`This cannot be a default value: ${describe(value)}`);
    return String(value);
  });
  if (Array.isArray(given) && !isList?.(definition)) at.child('default').fail('This must be one value, not a list');
  const result = read(entered, { ...definition, required: false }, definition.options ?? [], work);
  if ('error' in result)
    return at.child('default').fail(`This is not a value of the element: ${inEnglish(result.error)}`);
  return { ...definition, default: result.value };
}
