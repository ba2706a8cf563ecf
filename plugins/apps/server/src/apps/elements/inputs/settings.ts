import { z } from 'zod';
import type { Json } from '../../../../../shared/json';
import { memoized } from '../../../common/collections';
import type { PatternWork } from '../../patterns';
import type { ElementCondition, ElementDefinition, OwnSettings, Verify } from '../../types';
import type { YamlNode } from '../../yaml';
import {
  boundedList,
  type Check,
  caption,
  check,
  describe,
  flag,
  isMapping,
  mapping,
  number,
  oneOf,
  text,
} from '../../yaml-schema';
import type { ElementType } from '../types';
import { truthText } from './truth';

type Scalar = string | number | boolean | null;

/** Maximum elements that one condition names, and values for each. */
const MAX = { elements: 20, values: 100 };

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const shape = z.record(
  z.string(),
  z.union([scalar, scalar.array(), z.strictObject({ not: z.union([scalar, scalar.array()]) })]),
);

/** Conditions, by the mapping of the file: with an alias, hundreds of elements have the same one. */
const known = new WeakMap<object, Readonly<Record<string, ElementCondition>>>();

const showIf = check(z.unknown(), (_value, at): Readonly<Record<string, ElementCondition>> => {
  const { value } = at;
  const before = isMapping(value) && known.get(value);
  if (before) return before;
  if (!isMapping(value)) return at.fail(`This must be a mapping of elements to values, not ${describe(value)}`);
  const names = Object.keys(value);
  if (names.length === 0 || names.length > MAX.elements) return at.fail(`This names 1 to ${MAX.elements} elements`);
  const conditions = Object.fromEntries(names.map((name) => [name, conditionOf(at.child(name))]));
  known.set(value, conditions);
  return conditions;
});

function conditionOf(at: YamlNode): ElementCondition {
  const isNegated = isMapping(at.value) && Object.keys(at.value).join() === 'not';
  const inner = isNegated ? at.child('not') : at;
  const values = Array.isArray(inner.value) ? inner.value : [inner.value];
  if (values.length > MAX.values || !values.every((one) => scalar.safeParse(one).success))
    return at.fail(`This must be a value, a list of at most ${MAX.values} values, or a mapping with "not"`);
  return { values: values as Scalar[], not: isNegated, isNumber: false };
}

/** On which values of other elements an element is shown (docs/reference/definitions.md#show_if). */
export const showIfSetting: SharedSettings = {
  show_if: { shared: 'showIf', check: Object.assign(showIf, { schema: shape.meta({ minProperties: 1 }) }) },
};

/** Whether an element is shown. @param valueFor the values of the elements that its condition names */
export function isShown({ showIf }: Pick<ElementDefinition, 'showIf'>, valueFor: (name: string) => Json): boolean {
  return Object.entries(showIf ?? {}).every(([name, condition]) => isMet(condition, valueFor(name)));
}

function isMet(condition: ElementCondition, given: Json): boolean {
  const entries = Array.isArray(given) && given.length > 0 ? given : [Array.isArray(given) ? null : given];
  const texts = textsIn(condition);
  const textFor = textsOf(condition);
  return (
    entries.some((entry) => texts.has(textFor(entry))) !== condition.not &&
    (!condition.also || isMet(condition.also, given))
  );
}

/** Texts of a condition, made once: a form may have a thousand of them, each with many values, and is read often. */
const textsIn = memoized((condition: ElementCondition): ReadonlySet<string> => {
  const texts = condition.values.flatMap(textsFor);
  return new Set(texts.map(textsOf(condition)));
});

/** How a condition writes a value that it is compared with. */
const textsOf = ({ isNumber, isTruth }: ElementCondition) => (isTruth ? truthText : isNumber ? numberText : textOf);

/** A condition on an element that is a number or a box, which is compared as one however it is written. */
export const comparedAs = (
  how: 'isNumber' | 'isTruth',
  { also, ...condition }: ElementCondition,
): ElementCondition => ({
  ...condition,
  [how]: true,
  ...(also && { also: comparedAs(how, also) }),
});

/** An element with the condition of its group or page besides its own. */
export function withCondition(
  element: ElementDefinition,
  { showIf }: Pick<ElementDefinition, 'showIf'>,
): ElementDefinition {
  if (!showIf) return element;
  const all = new Map(Object.entries(element.showIf ?? {}));
  for (const [name, condition] of Object.entries(showIf)) {
    const own = all.get(name);
    all.set(name, own ? { ...condition, also: own } : condition);
  }
  return { ...element, showIf: Object.fromEntries(all) };
}

/** As a form sends a value: nothing and false are an empty text, true is 1. */
function textOf(value: unknown): string {
  if (value === null || value === undefined || value === false) return '';
  return value === true ? '1' : String(value);
}

/** The texts that meet a value of a condition: a box sends truth values otherwise than a choice that has them as options. */
function textsFor(value: unknown): string[] {
  return typeof value === 'boolean' ? [textOf(value), String(value)] : [textOf(value)];
}

/** As `textOf`, one text for all spellings of a number. */
function numberText(value: unknown): string {
  const text = textOf(value).trim();
  const number = Number(text);
  return text === '' || !Number.isFinite(number) ? text : String(number);
}

/** A condition for the browser script, as JSON. */
export function conditionJson(condition: ElementCondition): string {
  const plain = ({ values, not, isNumber, isTruth, also }: ElementCondition): object => ({
    not,
    ...(isNumber && { isNumber }),
    ...(isTruth && { isTruth }),
    values: isTruth ? [...new Set(values.map(truthText))] : values.flatMap(textsFor),
    ...(also && { also: plain(also) }),
  });
  return JSON.stringify(plain(condition));
}

/** Budget of all elements of a definition: `left` steps of matching default values. */
export interface DefinitionWork extends PatternWork {
  /** Options counted so far. */
  options: number;
  /** Remaining steps of compiling patterns. */
  patterns: number;
  /** Fields that repeated groups may still have. */
  fields: number;
  /** The element type table. */
  types: ReadonlyMap<string, ElementType>;
  /** Reads an element inside another one. */
  readElement(at: YamlNode, name: string): ElementDefinition;
}

/** Keys of elements of all types. */
type SharedKey = Exclude<keyof ElementDefinition, 'name' | 'type' | 'kind' | 'settings' | 'position'>;

interface Row<T> {
  check: Check<T, [DefinitionWork]>;
  /** It is a text that catalogues may translate. */
  isText?: true;
  /** It is fields, whose keys depend on their types. */
  isFields?: true;
}

/** A setting that elements of all types may have, under this name. */
type SharedSetting = { [K in SharedKey]: { shared: K } & Row<Exclude<ElementDefinition[K], undefined>> }[SharedKey];

/** A setting of one type, or of some, by its name in ElementDefinition.settings. */
type OwnSetting<Own> = {
  [K in keyof Own & string]: { own: K } & Row<Exclude<Own[K], undefined>>;
}[keyof Own & string];

/** Settings by their keys in a definition file. */
export type Settings<Own = OwnSettings> = Readonly<Record<string, SharedSetting | OwnSetting<Own>>>;

/** Settings that elements of all types may have. */
type SharedSettings = Readonly<Record<string, SharedSetting>>;

/** Maximum values of a default that is a list. */
export const MAX_DEFAULTS = 1_000;

const anything = check<Json>(
  boundedList(
    MAX_DEFAULTS,
    `There are at most ${MAX_DEFAULTS} values`,
    z.union([text.schema, z.custom<Json>((value) => typeof value !== 'string')]),
  ),
);

export const label: SharedSettings = { label: { shared: 'label', check: caption, isText: true } };

export const help: SharedSettings = { help: { shared: 'help', check: caption, isText: true } };

export type Placeholder = { placeholder?: string };

export const placeholder: Settings<Placeholder> = {
  placeholder: { own: 'placeholder', check: caption, isText: true },
};

const MAX_CLASSES = 200;

/** Class names for the element's outermost tag. */
export const classNames: SharedSettings = {
  class: {
    shared: 'class',
    check: check(text.schema, (value, at) =>
      value.length > MAX_CLASSES ? at.fail(`The class names have at most ${MAX_CLASSES} characters`) : value.trim(),
    ),
  },
};

const AUTOCOMPLETE = /^[a-z][a-z0-9-]*(?: [a-z][a-z0-9-]*){0,4}$/i;

/** What a browser may fill in: the words of HTML's `autocomplete`. */
export type Autocomplete = { autocomplete?: string };

export const autocomplete: Settings<Autocomplete> = {
  autocomplete: {
    own: 'autocomplete',
    check: check(text.schema, (value, at) =>
      value.length <= 100 && AUTOCOMPLETE.test(value)
        ? value
        : at.fail('This must be words of HTML\'s autocomplete, such as "email" or "street-address"'),
    ),
  },
};

/** The keyboard that a telephone shows. */
export type Inputmode = { inputmode?: string };

export const inputmode: Settings<Inputmode> = {
  inputmode: {
    own: 'inputmode',
    check: oneOf('none', 'text', 'decimal', 'numeric', 'tel', 'search', 'email', 'url'),
  },
};

const MAX_ROWS = 100;

/** Visible lines of a text of several lines. */
export type Rows = { rows?: number };

export const rows: Settings<Rows> = {
  rows: {
    own: 'rows',
    check: check(number.schema, (value, at) =>
      Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_ROWS
        ? (value as number)
        : at.fail(`This must be a whole number from 1 to ${MAX_ROWS}`),
    ),
  },
};

/** Settings of elements whose value is stored with the record. */
export const storedSettings: SharedSettings = {
  index_type: { shared: 'indexType', check: oneOf('field', 'text', 'keyword') },
  mode: { shared: 'mode', check: oneOf('COMPUTED_ON_SAVE', 'COMPUTED_ON_CREATION') },
};

/** Whether the value is a list. */
export type Multiple = { multiple?: boolean };

export const multiple: Settings<Multiple> = { multiple: { own: 'multiple', check: flag } };

export const isMultiple = ({ settings }: ElementDefinition<Multiple>): boolean => settings.multiple === true;

/** Settings of inputs of one value, of which no two records may have the same. */
export const unique: SharedSettings = { unique: { shared: 'unique', check: flag } };

/** Settings of inputs whose value says whose the record is. */
export const person: SharedSettings = { person: { shared: 'person', check: oneOf('email') } };

/** Settings of every input (docs/reference/definitions.md#element-types). */
export const inputSettings: SharedSettings = {
  ...label,
  required: { shared: 'required', check: flag },
  default: { shared: 'default', check: anything },
  ...help,
  readonly: { shared: 'readonly', check: flag },
  ...classNames,
  ...showIfSetting,
  ...storedSettings,
};

const SECRET = /^[A-Za-z0-9_-]{1,100}$/;
const HEADER = /^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/;
const VISIBLE = /^[\x21-\x7e]{1,50}$/;

const matching = (pattern: RegExp, wanted: string) => {
  const wrong = { error: ({ input }: { input?: unknown }) => `This must be ${wanted}, not ${describe(input ?? null)}` };
  return check(z.string(wrong).regex(pattern, wrong));
};

/** The name of a secret of the configuration (`fetch.secrets`). */
export const secretName = matching(SECRET, 'the name of a secret: letters, digits, "_" and "-"');

const verifyMapping = mapping({
  secret: secretName,
  header: matching(HEADER, 'the name of a header'),
  prefix: matching(VISIBLE, 'at most 50 visible characters'),
});

/** How the requests of a webhook are signed that calls the element (docs/reference/webhooks.md#verify). */
export const verify: SharedSettings = {
  verify: {
    shared: 'verify',
    check: check(verifyMapping.schema, (value, at): Verify => {
      const { secret, header, prefix } = verifyMapping.read(value, at);
      if (secret === undefined) return at.fail('"verify" needs a "secret"');
      if (header === undefined) {
        if (prefix !== undefined) return at.child('prefix').fail('"prefix" stands before the digits of a "header"');
        return { secret, hex: null };
      }
      return { secret, hex: { header: header.toLowerCase(), prefix: prefix ?? '' } };
    }),
  },
};

/** DefinitionError for keys that an element does not take beside `verify`, because it is called by webhooks alone. */
export function checkAlone<Own extends OwnSettings>(
  definition: ElementDefinition<Own>,
  at: YamlNode,
  settings: Settings<Own>,
): void {
  const isGiven = isMapping(at.value) && Object.hasOwn(at.value, 'verify');
  // Its author may have begun to restrict the element.
  if (isGiven && !definition.verify) at.child('verify').fail('"verify" needs a "secret"');
  if (!definition.verify) return;
  const isGivenToo = (setting: Settings[string]) =>
    ('own' in setting ? definition.settings[setting.own] : definition[setting.shared]) !== undefined;
  const [other] = Object.entries<Settings[string]>(settings).filter(
    ([key, one]) => key !== 'verify' && isGivenToo(one),
  );
  if (other) at.child(other[0]).fail(`An element with "verify" is called by webhooks alone and takes no "${other[0]}"`);
}
