import { z } from 'zod';
import type { Items, Json } from '../../../../shared/json';
import { didYouMean } from '../../common/text';
import type { Wrong } from '../../common/validation';
import { idPattern, reservedViews, type ThemeFile } from '../../sites';
import { ACTION, builtInActions, type ElementType, elementTypes, readAlone, reservedNames } from '../elements';
import type { DefinitionWork } from '../elements/inputs/settings';
import { LIVE_VIEW } from '../live-topics';
import { inEnglish } from '../locales';
import { type PatternWork, patternWork } from '../patterns';
import type { Definition, ElementDefinition } from '../types';
import { readYaml, shorten, type Tolerance, type YamlNode } from '../yaml';
import {
  caption,
  check,
  describe,
  flag,
  isMapping,
  mapping,
  named,
  namesOrText,
  oneOf,
  shownAs,
  unknownKey,
} from '../yaml-schema';
import { notify, schedules } from './automation';
import { pages, placeOnPages, relate } from './pages';
import {
  checkReceipt,
  checkStates,
  placesKeys,
  placesOf,
  privacyKeys,
  privacyOf,
  receipt,
  selfService,
  states,
} from './records';

/**
 * Reads one element: a type's name, or a mapping with `type`; a built-in action needs no type.
 * @param work the budget that all elements of the definition share
 */
export function readElement(at: YamlNode, name: string, work: DefinitionWork): ElementDefinition {
  if (reservedNames.has(name)) at.fail(`"${name}" is a name of the plugin's own; choose another`);
  const { value } = at;
  const typeAt = isMapping(value) && Object.hasOwn(value, 'type') ? at.child('type') : at;
  const type = isMapping(typeAt.value) ? defaultType(at, name) : typeName(typeAt);
  if (builtInActions.has(name) && type !== ACTION)
    typeAt.fail(`"${name}" is a built-in action, so its type is ${ACTION}`);
  const kind = elementTypes.get(type) as ElementType;
  const shared: Record<string, unknown> = {};
  const own: Record<string, unknown> = {};
  for (const key of isMapping(value) ? Object.keys(value) : []) {
    if (key === 'type') continue;
    const setting = Object.hasOwn(kind.settings, key) ? kind.settings[key] : undefined;
    if (!setting) unknownKey(at, key, ['type', ...Object.keys(kind.settings)], ` for the type ${type}`);
    else if (at.child(key).value === null) continue;
    else if ('own' in setting) own[setting.own] = setting.check(at.child(key), work);
    else shared[setting.shared] = setting.check(at.child(key), work);
  }
  const definition: ElementDefinition = { ...shared, name, type, kind, settings: own, position: at.position };
  kind.check?.(definition, at);
  return withDefault(at, definition, work);
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
  return builtInActions.has(name) ? ACTION : at.fail('An element needs a "type"');
}

/**
 * A default must be a value that the element could store: it is read like a visitor's entry. It is not checked where the
 * options are computed.
 */
function withDefault(at: YamlNode, definition: ElementDefinition, work: PatternWork): ElementDefinition {
  const { default: given, kind } = definition;
  const { read, options, isList } = kind;
  if (given === undefined || given === '' || !read) return definition;
  if (options && !options(definition)) return definition;
  const entered = (Array.isArray(given) ? given : [given]).map((value) => {
    if (typeof value === 'object') at.child('default').fail(`This cannot be a default value: ${describe(value)}`);
    return String(value);
  });
  if (Array.isArray(given) && !isList?.(definition)) at.child('default').fail('This must be one value, not a list');
  const result = readAlone({ ...definition, required: false }, entered, work);
  if (result && 'error' in result)
    return at.child('default').fail(`This is not a value of the element: ${inEnglish(result.error)}`);
  return result && 'value' in result ? { ...definition, default: result.value } : definition;
}

/** Schema for editors: the keys of an element of a type. */
function typeShape(type: string, isTypeNeeded: boolean): z.ZodType {
  const settings = Object.entries(elementTypes.get(type)?.settings ?? {}).map(([key, { check, isFields }]) => [
    key,
    (isFields ? entryShape() : check.schema).nullish(),
  ]);
  const name = z.literal(type);
  return z.strictObject({ type: isTypeNeeded ? name : name.optional(), ...Object.fromEntries(settings) });
}

/** Schema for editors: a type's name, or a mapping with the keys of its type. */
function elementShape(): z.ZodType {
  const types = [...elementTypes.keys()];
  return z.union([z.enum(types), ...types.map((type) => typeShape(type, true))]);
}

/** Schema for editors: the fields of a repeated group. */
function entryShape(): z.ZodType {
  const types = [...elementTypes].flatMap(([type, { notRepeated }]) => (notRepeated === undefined ? [type] : []));
  const field = z.union([z.enum(types), ...types.map((type) => typeShape(type, true))]);
  return z.record(z.string(), field).meta({ propertyNames: { pattern: idPattern.source } });
}

/** Schema for editors: all elements of a block. */
function elementsShape(): z.ZodType {
  const action = z.union([z.literal(ACTION), typeShape(ACTION, false)]).optional();
  const builtIn = Object.fromEntries([...builtInActions.keys()].map((name) => [name, action]));
  return z
    .object(builtIn)
    .catchall(elementShape())
    .meta({ propertyNames: { pattern: idPattern.source } });
}

/** The definition of a block without a definition file. */
export const emptyDefinition: Definition = {
  title: null,
  target: null,
  view: null,
  withTheme: null,
  viewPermission: null,
  refresh: null,
  cache: null,
  notify: null,
  places: null,
  receipt: null,
  states: null,
  selfService: null,
  drafts: false,
  privacy: { keep: null, anonymize: null },
  schedules: [],
  pages: null,
  elements: new Map(),
  builtIn: builtInActions,
  source: { elements: {} },
};

/** Maximum characters of a view's id. */
export const MAX_VIEW_ID = 255;

const notView = { error: ({ input }: Wrong) => `This must be the id of a view, not ${describe(input)}` };

const viewId = z
  .string(notView)
  .max(MAX_VIEW_ID, notView)
  .regex(idPattern, notView)
  .refine((id) => !reservedViews.has(id) && id !== LIVE_VIEW, {
    error: ({ input }) => `"@@${input}" is an address of the plugin's own; choose another id`,
  });

const viewMapping = mapping({ id: check<string>(viewId), with_theme: flag });

const view = check(z.union([viewId, viewMapping.schema]), (value, at): Definition['view'] => {
  if (typeof value === 'string') return { id: value, withTheme: null };
  const { id, with_theme: withTheme = null } = viewMapping.read(value, at);
  return id === undefined ? at.fail('A view needs an "id"') : { id, withTheme };
});

const notSeconds = {
  error: ({ input }: Wrong) => `This must be a whole number of seconds from 1 to 86400, not ${describe(input)}`,
};

/** Whole seconds, at most a day. */
const secondsSchema = z.int(notSeconds).min(1, notSeconds).max(86_400, notSeconds);

const notShared = {
  error: ({ input }: Wrong) =>
    `This must be false, or a whole number of seconds from 1 to 86400, not ${describe(input)}`,
};

const cache = check<number | false>(
  z.union([z.literal(false, notShared), z.int(notShared).min(1, notShared).max(86_400, notShared)], notShared),
);

const refresh = check<number | 'on-change'>(z.union([z.literal('on-change', notSeconds), secondsSchema]));

/** Maximum elements of a definition: more than any form needs, and each costs time on every page of the block. */
export const MAX_ELEMENTS = 500;

/** Maximum steps of compiling all patterns of a definition, 100 for each character: about 100 ms. */
const MAX_PATTERN_STEPS = 4_000_000;

const allElements = named(
  'an element',
  // `readElement` checks it, because its keys depend on its type.
  check(z.unknown(), (_value, at, name: string, work: DefinitionWork) => readElement(at, name, work)),
);

const elements = check(shownAs(allElements.schema, elementsShape), (value, at) => {
  const tooMany = Object.keys(at.value as object)[MAX_ELEMENTS];
  if (tooMany !== undefined) at.key(tooMany).fail(`A block has at most ${MAX_ELEMENTS} elements`);
  const work: DefinitionWork = {
    ...patternWork(),
    options: 0,
    patterns: MAX_PATTERN_STEPS,
    fields: MAX_ELEMENTS,
    types: elementTypes,
    readElement(inner, name) {
      work.fields -= 1;
      if (work.fields < 0) inner.fail(`The repeated groups of a block have at most ${MAX_ELEMENTS} fields together`);
      return readElement(inner, name, work);
    },
  };
  return relate(allElements.read(value, at, work), at);
});

/** Keys of a definition file (docs/reference/definitions.md#keys-of-a-block). */
export const definitionFile = mapping({
  title: caption,
  target: oneOf('ajax'),
  view,
  with_theme: flag,
  view_permission: namesOrText,
  refresh,
  cache,
  notify,
  schedules,
  elements,
  pages,
  states,
  ...placesKeys,
  receipt,
  self_service: selfService,
  drafts: flag,
  ...privacyKeys,
});

/**
 * Reads a block's definition file (docs/reference/definitions.md). DefinitionError with file, line and column for
 * unknown keys, types and values.
 * @param tolerance ignores unknown keys
 */
export function readDefinition(file: ThemeFile, tolerance?: Tolerance): Definition {
  const root = readYaml(file, tolerance);
  if (root.value === null) return emptyDefinition;
  const given = definitionFile(root);
  const { title = null, target = null, view = null, refresh = null, cache = null, elements = new Map() } = given;
  if (refresh === 'on-change' && typeof cache === 'number') {
    return root.key('cache').fail('A shared rendering would hide the changes that "refresh: on-change" waits for');
  }
  const viewPermission = given.view_permission ?? restrictedByNothing(root);
  return {
    title,
    target,
    view,
    withTheme: given.with_theme ?? null,
    viewPermission,
    refresh,
    cache,
    notify: given.notify ?? null,
    places: placesOf(given, elements, root),
    receipt: checkReceipt(given.receipt, elements, root),
    states: checkStates(given.states, elements, root),
    selfService: given.self_service ?? null,
    drafts: draftsOf(given.drafts, elements, root),
    privacy: privacyOf(given, elements, root),
    schedules: given.schedules ?? [],
    pages: given.pages ?? null,
    elements: given.pages ? placeOnPages(elements, given.pages, root) : elements,
    builtIn: builtInActions,
    source: normalised(root.value as Items),
  };
}

/** Whether the block keeps drafts; a button for them needs that. */
function draftsOf(drafts = false, elements: Definition['elements'], root: YamlNode): boolean {
  if (!drafts && elements.has('_draft'))
    root
      .child('elements')
      .key('_draft')
      .fail('"_draft" saves a draft of the form, which needs "drafts: true" in the block');
  return drafts;
}

/** An empty `view_permission:` permits no one: its author may have begun to restrict the block. */
function restrictedByNothing({ value }: YamlNode): string[] | null {
  return isMapping(value) && Object.hasOwn(value, 'view_permission') ? [] : null;
}

/** The file's content with every element as a mapping with `type`, for `GET <app>/blocks/<block_id>`. */
function normalised(source: Items): Items {
  const elements = Object.entries((source.elements ?? {}) as { [name: string]: Json }).map(([name, element]) => [
    name,
    isMapping(element) ? { type: ACTION, ...element } : { type: element },
  ]);
  return { ...source, elements: Object.fromEntries(elements) };
}
