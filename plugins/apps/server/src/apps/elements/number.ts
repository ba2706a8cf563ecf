import type { Json } from '../../../../shared/json';
import { isExact } from '../../common/numbers';
import { type Region, readableNumber } from '../../common/time/moments';
import { message } from '../locales';
import type { ElementDefinition } from '../types';
import { flag, number as yamlNumber } from '../yaml-schema';
import { escapeHtml, field, plainText } from './inputs/html';
import {
  type Autocomplete,
  autocomplete,
  type Inputmode,
  inputmode,
  inputSettings,
  type Placeholder,
  placeholder,
  type Settings,
  unique,
} from './inputs/settings';
import {
  checkRange,
  control,
  lastEntry,
  type Range,
  REQUIRED,
  rangeProblem,
  rangeSettings,
  type Scale,
  shownText,
} from './inputs/text-input';
import type { ElementType, JsonSchema } from './types';

/** No two adjacent parts match the same characters, so that matching takes linear time. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** A number in a text; null for any other text, and for a number that would change where it is stored. */
const numberIn = (text: string): number | null =>
  NUMBER.test(text) && isExact(text.replace(/\.(?!\d)/, '')) ? Number(text) : null;

const scale: Scale = { position: (value) => (typeof value === 'number' ? value : numberIn(value)), stepSize: 1 };

/** What HTML's control for numbers shows; it is empty for any other text. */
const IN_CONTROL = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** The type of the control: a text that is no number, such as a stored `1,5`, is shown unchanged. */
const controlType = (text: string): 'number' | 'text' => (text === '' || IN_CONTROL.test(text) ? 'number' : 'text');

/** Whether a number for reading has separators of thousands; default true. */
type Grouping = { grouping?: boolean };

type NumberSettings = Placeholder & Autocomplete & Inputmode & Range & Grouping;

/** Without `multipleOf`: validators compute it in binary, in which 0.3 is no multiple of 0.1. */
function numberSchema({ required, settings: { min, max } }: ElementDefinition<NumberSettings>): JsonSchema {
  return {
    type: required ? 'number' : ['number', 'null'],
    ...(typeof min === 'number' && { minimum: min }),
    ...(typeof max === 'number' && { maximum: max }),
  };
}

/** A stored number in the language of the page; without `grouping` its digits stay together, as those of a year. */
const readable = (
  value: Json,
  region: Region,
  { settings: { grouping = true } }: ElementDefinition<NumberSettings>,
): string => (typeof value === 'number' ? readableNumber(value, region, grouping) : plainText(value));

const groupingSetting: Settings<Grouping> = { grouping: { own: 'grouping', check: flag } };

/** A number; an empty field is null. Without `step` any number is valid. */
export const number: ElementType<NumberSettings> = {
  role: 'input',
  cell: 'number',
  isNumeric: true,
  settings: {
    ...inputSettings,
    ...placeholder,
    ...autocomplete,
    ...inputmode,
    ...unique,
    ...rangeSettings,
    ...groupingSetting,
  },
  check: (definition, at) => checkRange(definition, at, yamlNumber),
  schema: numberSchema,
  otherType: message('number'),
  read(submitted, definition) {
    const text = lastEntry(submitted).trim();
    if (text === '') return definition.required ? { error: REQUIRED } : { value: null };
    const value = scale.position(text);
    if (value === null) return { error: message(NUMBER.test(text) ? 'number_exact' : 'number') };
    const error = rangeProblem(value, definition.settings, scale);
    return error === null ? { value: value === 0 ? 0 : value } : { error };
  },
  compares(submitted) {
    const text = lastEntry(submitted).trim();
    return [String(scale.position(text) ?? text)];
  },
  readable,
  show(view) {
    if (view.mode === 'text') return escapeHtml(readable(view.value, view.locale, view.definition));
    const { placeholder: hint, min, max, step } = view.definition.settings;
    if (controlType(shownText(view)) === 'text') return field(view, control(view, 'text', { placeholder: hint }));
    return field(view, control(view, 'number', { placeholder: hint, min, max, step: step ?? 'any' }));
  },
};
