import { z } from 'zod';
import type { Json } from '../../../../../shared/json';
import type { PatternWork } from '../../patterns';
import type { ElementDefinition, OwnSettings } from '../../types';
import { type Check, check } from '../../yaml/check';
import { boundedList, caption, flag, number, oneOf, text } from '../../yaml/schema';

import type { YamlNode } from '../../yaml/yaml';
import type { ElementType } from '../types';
import { showIfSetting } from './show-if';

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
export type SharedSettings = Readonly<Record<string, SharedSetting>>;

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
