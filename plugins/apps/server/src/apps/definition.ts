import type { Items, Json } from '../../../shared/json';
import { isId, reservedViews, type ThemeFile } from '../sites';
import { readElement } from './definition-element';
import { patternWork } from './elements/pattern-machine';
import { LIVE_VIEW } from './embed-live';
import type { Definition, ElementDefinition } from './types';
import { readYaml, type Tolerance, type YamlPlace } from './yaml';
import { type Check, describe, flag, isMapping, mapping, named, namesOrText, oneOf } from './yaml-schema';

/** What a block without a definition file says. */
export const emptyDefinition: Definition = {
  target: null,
  view: null,
  withTheme: null,
  viewPermission: null,
  refresh: null,
  cache: null,
  elements: new Map(),
  source: { elements: {} },
};

/** Characters of a view's id, at most. */
const MAX_VIEW_ID = 255;

const viewId: Check<string> = (at) => {
  const { value } = at;
  if (typeof value !== 'string' || value.length > MAX_VIEW_ID || !isId(value))
    return at.fail(`This must be the id of a view, not ${describe(value)}`);
  return reservedViews.has(value) || value === LIVE_VIEW
    ? at.fail(`"@@${value}" is an address of the plugin's own; choose another id`)
    : value;
};

const viewMapping = mapping({ id: viewId, with_theme: flag });

const view: Check<Definition['view']> = (at) => {
  if (!isMapping(at.value)) return { id: viewId(at), withTheme: null };
  const { id, with_theme: withTheme = null } = viewMapping(at);
  return id === undefined ? at.fail('A view needs an "id"') : { id, withTheme };
};

/** Whole seconds, at most a day. */
const seconds: Check<number> = (at) => {
  const { value } = at;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 86_400) return value;
  return at.fail(`This must be a whole number of seconds from 1 to 86400, not ${describe(value)}`);
};

const refresh: Check<number | 'on-change'> = (at) => (at.value === 'on-change' ? 'on-change' : seconds(at));

/** Elements of a definition, at most: a form of more is nobody's, and each costs every page of the block. */
const MAX_ELEMENTS = 500;

/** Steps of compiling all patterns of a definition, at most: 100 a character, which takes about 100 ms together. */
const MAX_PATTERN_STEPS = 4_000_000;

const elements: Check<Map<string, ElementDefinition>> = (at) => {
  const tooMany = isMapping(at.value) ? Object.keys(at.value)[MAX_ELEMENTS] : undefined;
  if (tooMany !== undefined) at.key(tooMany).fail(`A block has at most ${MAX_ELEMENTS} elements`);
  const work = { ...patternWork(), options: 0, patterns: MAX_PATTERN_STEPS };
  return named('an element', (element, name) => readElement(element, name, work))(at);
};

/** Keys of a definition file (contract, section 7). */
const schema = mapping({
  target: oneOf('ajax'),
  view,
  with_theme: flag,
  view_permission: namesOrText,
  refresh,
  cache: seconds,
  elements,
});

/**
 * Reads a block's definition file. DefinitionError with file, line and column for anything the contract does not know.
 * @param tolerance lets unknown keys pass
 */
export function readDefinition(file: ThemeFile, tolerance?: Tolerance): Definition {
  const root = readYaml(file, tolerance);
  if (root.value === null) return emptyDefinition;
  const given = schema(root);
  const { target = null, view = null, refresh = null, cache = null, elements = new Map() } = given;
  if (refresh === 'on-change' && cache !== null) {
    return root.key('cache').fail('A shared rendering would hide the changes that "refresh: on-change" waits for');
  }
  const viewPermission = given.view_permission ?? restrictedByNothing(root);
  return {
    target,
    view,
    withTheme: given.with_theme ?? null,
    viewPermission,
    refresh,
    cache,
    elements,
    source: normalised(root.value as Items),
  };
}

/** An empty `view_permission:` names nobody; taking it for "open to all" would open what somebody began to close. */
function restrictedByNothing({ value }: YamlPlace): string[] | null {
  return isMapping(value) && Object.hasOwn(value, 'view_permission') ? [] : null;
}

/** The file's content with every element as a mapping with `type`, as `GET <app>/blocks/<block_id>` shows it. */
function normalised(source: Items): Items {
  const elements = Object.entries((source.elements ?? {}) as { [name: string]: Json }).map(([name, element]) => [
    name,
    isMapping(element) ? { type: 'ACTION', ...element } : { type: element },
  ]);
  return { ...source, elements: Object.fromEntries(elements) };
}
