import { z } from 'zod';
import type { Json } from '../../../../../shared/json';
import { type Message, message } from '../../locales';
import { compilePattern, compileSteps, MAX_PATTERN_INPUT, type PatternWork } from '../../patterns';
import type { ElementDefinition } from '../../types';
import type { YamlNode } from '../../yaml';
import { check, number, size, text } from '../../yaml-schema';
import type { ElementType, ElementView, JsonSchema } from '../types';
import { attributes, controlId, field, isDemanded, plainText, readableText, stateAttributes } from './html';
import {
  type Autocomplete,
  autocomplete,
  type DefinitionWork,
  type Inputmode,
  inputSettings,
  type Placeholder,
  placeholder,
  type Settings,
  unique,
} from './settings';

/** Maps the values of an ordered type to numbers. */
export interface Scale {
  /** The value as a number, or null if it is not of this type. */
  position(value: string | number): number | null;
  /** One `step` as a number. Without `min`, steps begin at 0. */
  stepSize: number;
}

const bound = check<number | string>(z.union([text.schema, z.number()]));

const step = check<number | 'any'>(
  z.union([number.schema, z.literal('any')]).refine((value) => value === 'any' || value > 0, {
    error: 'This must be a number above 0, or "any"',
  }),
);

/** Settings of a type of ordered values. */
export type Range = { min?: number | string; max?: number | string; step?: number | 'any' };

export const rangeSettings: Settings<Range> = {
  min: { own: 'min', check: bound },
  max: { own: 'max', check: bound },
  step: { own: 'step', check: step },
};

/**
 * Checks that `min` is not above `max`.
 * @param positionOf the bound as a number; a DefinitionError when it is not of this type
 */
export function checkRange(
  { settings: { min, max } }: ElementDefinition<Range>,
  at: YamlNode,
  positionOf: (bound: YamlNode) => number,
): void {
  const low = min === undefined ? undefined : positionOf(at.child('min'));
  const high = max === undefined ? undefined : positionOf(at.child('max'));
  if (low !== undefined && high !== undefined && low > high)
    at.child('min').fail(`The least value ${min} is above the greatest, ${max}`);
}

/** The message for a value outside of `min` and `max` or not on a `step`, or null. */
export function rangeProblem(position: number, { min, max, step }: Range, scale: Scale): Message | null {
  const low = min === undefined ? null : scale.position(min);
  const high = max === undefined ? null : scale.position(max);
  if (low !== null && position < low) return message('min', { min: String(min) });
  if (high !== null && position > high) return message('max', { max: String(max) });
  if (step === undefined || step === 'any') return null;
  return isOnStep(position - (low ?? 0), step * scale.stepSize)
    ? null
    : low === null
      ? message('step', { step: String(step) })
      : message('step_from', { step: String(step), min: String(min) });
}

/** Decimal steps such as 0.1 have no exact binary form, so that the comparison has a tolerance: some of the last digits of a number. */
function isOnStep(distance: number, step: number): boolean {
  const steps = distance / step;
  return Math.abs(steps - Math.round(steps)) <= Math.max(1e-9, Math.abs(steps) * 4 * Number.EPSILON);
}

const pattern = check(text.schema, (source, at, work: DefinitionWork): string => {
  work.patterns -= compileSteps(source);
  if (work.patterns < 0) at.fail('The patterns of this block are too large together');
  try {
    compilePattern(source);
  } catch (error) {
    at.fail(`The pattern cannot be used: ${(error as Error).message}`);
  }
  return source;
});

/** Settings of every text. */
export type TextSettings = Placeholder & Autocomplete & { minlength?: number; maxlength?: number; pattern?: string };

export const textSettings: Settings<TextSettings> = {
  ...inputSettings,
  ...placeholder,
  ...autocomplete,
  ...unique,
  minlength: { own: 'minlength', check: size },
  maxlength: { own: 'maxlength', check: size },
  pattern: { own: 'pattern', check: pattern },
};

/** Checks that `minlength` is not above `maxlength`. */
export function checkLengths({ settings }: ElementDefinition<TextSettings>, at: YamlNode): void {
  const { minlength, maxlength } = settings;
  if (minlength !== undefined && maxlength !== undefined && minlength > maxlength)
    at.child('minlength').fail(`The least length ${minlength} is above the greatest, ${maxlength}`);
}

/** Message for an empty required field. */
export const REQUIRED = message('required');

/** Message when the patterns of a form have taken too many steps. */
const TOO_MUCH_WORK = message('pattern_work');

/** The last entry of a name that was sent more than once. */
export function lastEntry(submitted: readonly string[]): string {
  return submitted.at(-1) ?? '';
}

/**
 * Characters without ink: white space, controls, format characters such as U+200B, and letters that are shown as nothing, such as
 * the filler U+3164 and the empty Braille pattern.
 */
const INVISIBLE = /[\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;
const VISIBLE = /[^\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether people see nothing of a text. */
const isInvisible = (text: string): boolean => !VISIBLE.test(text);

/** A text without the invisible characters at both ends: copied telephone numbers and addresses bring them along. */
function withoutInvisibleEnds(text: string): string {
  const chars = Array.from(text.trim());
  let [start, end] = [0, chars.length];
  while (start < end && INVISIBLE.test(chars[start] ?? '')) start += 1;
  while (end > start && INVISIBLE.test(chars[end - 1] ?? '')) end -= 1;
  return chars.slice(start, end).join('');
}

/** The problem with a text's length or pattern, or null. Lengths are UTF-16 units, as in HTML. */
export function textProblem(
  text: string,
  { required, help, settings }: ElementDefinition<TextSettings>,
  work?: PatternWork,
): Message | null {
  const { minlength, maxlength, pattern } = settings;
  if (required && isInvisible(text)) return REQUIRED;
  if (text === '') return null;
  if (minlength !== undefined && text.length < minlength) return message('minlength', { count: minlength });
  if (maxlength !== undefined && text.length > maxlength) return message('maxlength', { count: maxlength });
  if (pattern === undefined || compilePattern(pattern)(text, work)) return null;
  if (text.length > MAX_PATTERN_INPUT) return message('maxlength', { count: MAX_PATTERN_INPUT });
  if (work && work.left < 0) return TOO_MUCH_WORK;
  return help ? message('pattern_help', { help }) : message('pattern');
}

/** The texts that `textProblem` accepts; an empty one unless it is required. */
export function textSchema({ required, settings }: ElementDefinition<TextSettings>, format?: string): JsonSchema {
  const { minlength, maxlength, pattern } = settings;
  const bounds = {
    ...(minlength !== undefined && { minLength: minlength }),
    ...(pattern !== undefined && { pattern: `^(?:${pattern})$` }),
    ...(format !== undefined && { format }),
  };
  const filled = { type: 'string', ...(maxlength !== undefined && { maxLength: maxlength }), ...bounds };
  if (required) return { minLength: 1, ...filled };
  return Object.keys(bounds).length > 0 ? { anyOf: [{ const: '' }, filled] } : filled;
}

/** The submitted text, else the value. */
export function shownText(view: ElementView): string {
  return view.entered ? lastEntry(view.entered) : plainText(view.value);
}

/** A text as it comes back from a browser: HTML has no NUL, and UTF-8 no half of a pair of surrogates. */
const fromBrowser = (text: string): string => String(Buffer.from(text)).replaceAll('\0', '\ufffd');

/** A text of one line: its control drops line breaks. */
const inOneLine = (text: string): string => fromBrowser(text).replace(/[\r\n]/g, '');

/** A text of several lines: a form sends each line break as CR LF. */
export const inLines = (text: string): string => fromBrowser(text).replace(/\r\n?/g, '\n');

interface TextInputOptions {
  /** HTML input type. */
  type: string;
  /** Removes white space and invisible characters at both ends of the submitted text. */
  trim?: boolean;
  /** Format of JSON Schema that every filled-in value has. */
  format?: 'idn-email' | 'uri';
  /** The problem with a filled-in value of this kind, or null. */
  check?(text: string): Message | null;
  /** Settings besides those of every text. */
  settings?: Settings<TextSettings & Inputmode>;
  /** What else its values are. */
  traits?: Pick<ElementType, 'isAddress' | 'isLink'>;
}

/** An element type of one line of text. */
export function textInput({
  type,
  trim,
  format,
  check,
  settings,
  traits,
}: TextInputOptions): ElementType<TextSettings & Inputmode> {
  return {
    role: 'input',
    ...traits,
    settings: { ...textSettings, ...settings },
    check: checkLengths,
    schema: (definition) => textSchema(definition, format),
    compares: (submitted) => {
      const text = inOneLine(lastEntry(submitted));
      return [trim ? withoutInvisibleEnds(text) : text];
    },
    read(submitted, definition, { work }) {
      const value = trim ? withoutInvisibleEnds(lastEntry(submitted)) : lastEntry(submitted);
      const error = textProblem(value, definition, work) ?? (value === '' ? null : (check?.(value) ?? null));
      return error === null ? { value } : { error };
    },
    show(view) {
      if (view.mode === 'text') return readableText(view.value);
      return field(view, control(view, type, textAttributes(view.definition.settings)));
    },
  };
}

/** An `<input>` with the attributes of every control. */
export function control(
  view: ElementView,
  type: string,
  extra: Record<string, string | number | boolean | undefined>,
  value: Json = shownText(view),
): string {
  const { name } = view.definition;
  const own = { id: controlId(view), name, type, value: plainText(value), required: isDemanded(view) };
  return `<input${attributes(own, extra)}${stateAttributes(view)}>`;
}

/** The HTML attributes that let a browser check a text as the server does. */
export function textAttributes({ placeholder, minlength, maxlength, pattern }: TextSettings) {
  return { placeholder, minlength, maxlength, pattern };
}
