import { z } from 'zod';
import type { Json } from '../../../../../shared/json';
import type { PatternWork } from '../../patterns';
import type { ElementDefinition } from '../../types';
import { type Check, check } from '../../yaml/check';
import { boundedList, caption, flag, number, oneOf, text } from '../../yaml/schema';

import type { YamlNode } from '../../yaml/yaml';
import { showIfSetting } from './show-if';

/** Budget of all elements of a definition: `left` steps of matching default values. */
export interface DefinitionWork extends PatternWork {
  /** Options counted so far. */
  options: number;
  /** Remaining steps of compiling patterns. */
  patterns: number;
  /** Fields that repeated groups may still have. */
  fields: number;
  /** Reads an element inside another one. */
  readElement(at: YamlNode, name: string): ElementDefinition;
}

/** A setting of an element: its name in ElementDefinition, and its check. */
export interface Setting {
  as: keyof ElementDefinition;
  check: Check<unknown, [DefinitionWork]>;
}

/** Settings by their keys in a definition file. */
export type Settings = Readonly<Record<string, Setting>>;

/** Maximum values of a default that is a list. */
const MAX_DEFAULTS = 1_000;

const anything = check<Json>(
  boundedList(
    MAX_DEFAULTS,
    `There are at most ${MAX_DEFAULTS} values`,
    z.union([text.schema, z.custom<Json>((value) => typeof value !== 'string')]),
  ),
);

export const label: Settings = { label: { as: 'label', check: caption } };

export const placeholder: Settings = { placeholder: { as: 'placeholder', check: caption } };

const MAX_CLASSES = 200;

/** Class names for the element's outermost tag. */
export const classNames: Settings = {
  class: {
    as: 'class',
    check: check(text.schema, (value, at) =>
      value.length > MAX_CLASSES ? at.fail(`The class names have at most ${MAX_CLASSES} characters`) : value.trim(),
    ),
  },
};

/** A question that a visitor must answer before the action runs. */
export const confirm: Settings = { confirm: { as: 'confirm', check: caption } };

const AUTOCOMPLETE = /^[a-z][a-z0-9-]*(?: [a-z][a-z0-9-]*){0,4}$/i;

/** What a browser may fill in: the words of HTML's `autocomplete`. */
export const autocomplete: Settings = {
  autocomplete: {
    as: 'autocomplete',
    check: check(text.schema, (value, at) =>
      value.length <= 100 && AUTOCOMPLETE.test(value)
        ? value
        : at.fail('This must be words of HTML\'s autocomplete, such as "email" or "street-address"'),
    ),
  },
};

/** The keyboard that a telephone shows. */
export const inputmode: Settings = {
  inputmode: {
    as: 'inputmode',
    check: oneOf('none', 'text', 'decimal', 'numeric', 'tel', 'search', 'email', 'url'),
  },
};

const MAX_ROWS = 100;

/** Visible lines of a text of several lines. */
export const rows: Settings = {
  rows: {
    as: 'rows',
    check: check(number.schema, (value, at) =>
      Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_ROWS
        ? (value as number)
        : at.fail(`This must be a whole number from 1 to ${MAX_ROWS}`),
    ),
  },
};

/** Settings of elements whose value is stored with the record. */
export const storedSettings: Settings = {
  index_type: { as: 'indexType', check: oneOf('field', 'text', 'keyword') },
  mode: { as: 'mode', check: oneOf('COMPUTED_ON_SAVE', 'COMPUTED_ON_CREATION') },
};

/** Settings of inputs of one value, of which no two records may have the same. */
export const unique: Settings = { unique: { as: 'unique', check: flag } };

/** Settings of inputs whose value says whose the record is. */
export const person: Settings = { person: { as: 'person', check: oneOf('email') } };

/** Settings of every input (docs/reference/definitions.md#element-types). */
export const inputSettings: Settings = {
  ...label,
  required: { as: 'required', check: flag },
  default: { as: 'default', check: anything },
  help: { as: 'help', check: caption },
  readonly: { as: 'readonly', check: flag },
  ...classNames,
  ...showIfSetting,
  ...storedSettings,
};
