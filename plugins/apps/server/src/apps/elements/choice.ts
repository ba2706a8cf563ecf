import type { Json } from '../../../../shared/json';
import type { ElementDefinition, ElementOption } from '../types';
import { attributes, controlId, escapeHtml, fieldset, plainText } from './html';
import type { ElementView } from './types';

/** What a person is told when a required choice is missing. */
export const CHOOSE = 'Please choose an option.';

const UNKNOWN = 'Please choose one of the options.';

/** Reads one choice: the option's own value (not its text), null when nothing is chosen. */
export function readOne(
  submitted: readonly string[],
  { required }: ElementDefinition,
  options: readonly ElementOption[],
) {
  const text = submitted.at(-1) ?? '';
  const option = options.find(({ value }) => String(value) === text);
  if (option) return text === '' && required ? { error: CHOOSE } : { value: option.value as Json };
  if (text !== '') return { error: UNKNOWN };
  return required ? { error: CHOOSE } : { value: null };
}

/** Reads any number of choices, in the order of the options, each once. */
export function readMany(
  submitted: readonly string[],
  { required }: ElementDefinition,
  options: readonly ElementOption[],
) {
  const wanted = new Set(submitted.filter((text) => text !== ''));
  const chosen = options.filter(({ value }) => wanted.delete(String(value)));
  if (wanted.size > 0) return { error: 'Please choose from the options only.' };
  if (required && chosen.length === 0) return { error: 'Please choose at least one option.' };
  return { value: chosen.map(({ value }) => value) as Json };
}

/** Tells whether an option is chosen, by what was entered or else by the value. */
export function chosenIn(view: ElementView): (option: ElementOption) => boolean {
  const chosen = new Set(view.entered ?? listOf(view.value).map(plainText));
  return (option) => chosen.has(String(option.value));
}

/** The labels of the chosen options for reading; a value that is no option any more is shown as it is. */
export function chosenLabels({ value, options }: ElementView): string {
  const labels = new Map(options.map((option) => [String(option.value), option.label]));
  return listOf(value)
    .map(plainText)
    .map((text) => escapeHtml(labels.get(text) ?? text))
    .join(', ');
}

function listOf(value: Json): Json[] {
  if (Array.isArray(value)) return value;
  return value === null || value === undefined ? [] : [value];
}

/** A group of radio buttons or checkboxes, each with its own label. */
export function choiceGroup(view: ElementView, type: 'radio' | 'checkbox'): string {
  const { name, required } = view.definition;
  const isChosen = chosenIn(view);
  const choices = view.options.map((option, index) => {
    const id = controlId(view, index + 1);
    // `required` on one checkbox of several would demand that very one.
    const needed = required && type === 'radio';
    const attrs = { id, name, type, value: String(option.value), checked: isChosen(option), required: needed };
    return `<span class="apps-choice"><input${attributes(attrs)}> <label for="${id}">${escapeHtml(option.label)}</label></span>`;
  });
  return fieldset(view, choices.join(' '));
}

/**
 * Options as a definition or a function `<element>_options` gives them: a list of values or of `{value, label}`.
 * Null if it is not such a list, or names a value twice.
 */
export function toOptions(given: unknown): ElementOption[] | null {
  if (!Array.isArray(given)) return null;
  const options = given.map(toOption);
  if (options.includes(null)) return null;
  const texts = new Set(options.map((option) => String(option?.value)));
  return texts.size === options.length ? (options as ElementOption[]) : null;
}

function toOption(given: unknown): ElementOption | null {
  if (isScalar(given)) return { value: given, label: String(given) };
  if (typeof given !== 'object' || given === null) return null;
  const { value, label, ...others } = given as Record<string, unknown>;
  if (!isScalar(value) || Object.keys(others).length > 0) return null;
  if (label === undefined || label === null) return { value, label: String(value) };
  return isScalar(label) ? { value, label: String(label) } : null;
}

function isScalar(value: unknown): value is string | number | boolean {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  );
}
