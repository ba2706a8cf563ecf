import type { Json } from '../../../../shared/json';
import type { ElementDefinition } from '../types';
import { ariaLabel, attributes, controlId, describedBy, field, plainText, readableText } from './html';
import { compilePattern, MAX_PATTERN_INPUT } from './pattern';
import type { PatternWork } from './pattern-machine';
import type { ElementType, ElementView } from './types';

/** Keys that every input takes (contract, section 7). */
export const inputKeys = ['label', 'required', 'default', 'help', 'index_type', 'mode'] as const;

const textKeys = [...inputKeys, 'placeholder', 'minlength', 'maxlength', 'pattern'] as const;

/** What a person is told when a required field is empty. */
export const REQUIRED = 'Please fill in this field.';

/** What a person is told when the patterns of a form have taken too many steps. */
export const TOO_MUCH_WORK = 'Checking the format takes too long. Please enter less text.';

/** The last entry: what a browser shows when a name was sent more than once. */
export function lastEntry(submitted: readonly string[]): string {
  return submitted.at(-1) ?? '';
}

/** The problem with a text's length or pattern, or null. Lengths are UTF-16 units, as in HTML. */
export function textProblem(text: string, definition: ElementDefinition, work?: PatternWork): string | null {
  const { required, minlength, maxlength, pattern } = definition;
  if (text.trim() === '' && required) return REQUIRED;
  if (text === '') return null;
  if (minlength !== undefined && text.length < minlength) return `Please enter at least ${characters(minlength)}.`;
  if (maxlength !== undefined && text.length > maxlength) return `Please enter at most ${characters(maxlength)}.`;
  if (pattern === undefined || compilePattern(pattern)(text, work)) return null;
  if (text.length > MAX_PATTERN_INPUT) return `Please enter at most ${characters(MAX_PATTERN_INPUT)}.`;
  if (work && work.left < 0) return TOO_MUCH_WORK;
  return definition.help
    ? `Please match the requested format: ${definition.help}`
    : 'Please match the requested format.';
}

function characters(count: number): string {
  return count === 1 ? '1 character' : `${count} characters`;
}

/** What was entered, else the value. */
export function shownText(view: ElementView): string {
  return view.entered ? lastEntry(view.entered) : plainText(view.value);
}

export interface TextInputOptions {
  /** HTML input type. */
  type: string;
  /** Definition keys beyond those of every text. */
  keys?: readonly string[];
  /** Removes white space at both ends of what was submitted. */
  trim?: boolean;
  /** The problem with a filled-in value of this kind, or null. */
  check?(text: string, definition: ElementDefinition): string | null;
  /** Attributes of the control beyond those of every text. */
  attributes?(definition: ElementDefinition): Record<string, string | number | boolean | undefined>;
}

/** An element type of one line of text. */
export function textInput({ type, keys, trim, check, attributes: extra }: TextInputOptions): ElementType {
  return {
    keys: [...textKeys, ...(keys ?? [])],
    input: true,
    read(submitted, definition, _options, work) {
      const text = trim ? lastEntry(submitted).trim() : lastEntry(submitted);
      const error = textProblem(text, definition, work) ?? (text === '' ? null : (check?.(text, definition) ?? null));
      return error === null ? { value: text } : { error };
    },
    render(view) {
      if (view.mode === 'text') return readableText(view.value);
      return field(view, control(view, type, { ...textAttributes(view.definition), ...extra?.(view.definition) }));
    },
  };
}

/** An `<input>` with what every control carries. */
export function control(
  view: ElementView,
  type: string,
  extra: Record<string, string | number | boolean | undefined>,
  value: Json = shownText(view),
): string {
  const { name, required } = view.definition;
  const own = { id: controlId(view), name, type, value: plainText(value), required };
  return `<input${attributes({ ...own, ...extra, ...ariaLabel(view), ...describedBy(view) })}>`;
}

/** The HTML attributes that let a browser check a text as the server does. */
export function textAttributes({ placeholder, minlength, maxlength, pattern }: ElementDefinition) {
  return { placeholder, minlength, maxlength, pattern };
}
