import { z } from 'zod';
import type { Json } from '../../../../shared/json';
import { message } from '../locales';
import type { ElementDefinition, ElementOption } from '../types';
import type { YamlNode } from '../yaml';
import { boundedList, check, placesNumber, shownAs } from '../yaml-schema';
import {
  attributes,
  controlId,
  escapeHtml,
  field,
  fieldset,
  isDemanded,
  plainText,
  stateAttributes,
} from './inputs/html';
import {
  type Autocomplete,
  autocomplete,
  type DefinitionWork,
  inputSettings,
  isMultiple,
  type Multiple,
  multiple,
  type Placeholder,
  placeholder,
  type Settings,
  unique,
} from './inputs/settings';
import { inLines, lastEntry } from './inputs/text-input';
import { NO_WORDS, truthText, wordOf, YES_WORDS } from './inputs/truth';
import type { ElementType, ElementView, JsonSchema } from './types';

/** Message for a missing required choice. */
export const CHOOSE = message('choose');

/** Message for a value that is no option. */
const UNKNOWN_OPTION = message('choose_one');

/** Reads one choice: the option's own value (not its text), null when nothing is chosen. */
export function readOne(
  submitted: readonly string[],
  { required }: ElementDefinition,
  options: readonly ElementOption[],
) {
  const text = submitted.at(-1) ?? '';
  const option = options.find(({ value }) => String(value) === text);
  if (option) return text === '' && required ? { error: CHOOSE } : { value: option.value as Json };
  if (text !== '') return { error: UNKNOWN_OPTION };
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
  if (wanted.size > 0) return { error: message('choose_known') };
  if (required && chosen.length === 0) return { error: message('choose_any') };
  return { value: chosen.map(({ value }) => value) as Json };
}

/** One option's value; any value where a function computes the options. */
function oneSchema({ settings: { options }, required }: ElementDefinition<ChoiceSettings>): JsonSchema {
  const none = required ? [] : [null];
  if (!options) return { type: ['string', 'number', 'boolean', ...(required ? [] : ['null'])] };
  return { enum: [...options.map(({ value }) => value), ...none] };
}

/** A list of options' values, each once. */
function manySchema(definition: ElementDefinition<ChoiceSettings>): JsonSchema {
  const items = oneSchema({ ...definition, required: true });
  return { type: 'array', items, uniqueItems: true, ...(definition.required && { minItems: 1 }) };
}

/** Refuses `unique` where several options can be chosen: a list is not one value. */
export function checkUnique({ unique, settings }: ElementDefinition<Multiple>, at: YamlNode): void {
  if (unique && settings.multiple)
    at.key('unique').fail('Only an element of one value can be unique: leave out "multiple"');
}

/** Whether any number of options can be chosen. */
const isMany = (definition: ElementDefinition): boolean => definition.kind.isList?.(definition) ?? false;

/**
 * The texts of the options that a value has chosen, which a form sends back. A list has none of its own where one option can be
 * chosen: it is one text.
 */
export function textsChosen(value: Json, definition: ElementDefinition): string[] {
  if (isMany(definition)) return listOf(value).map(plainText);
  const [only = null] = Array.isArray(value) ? value : [];
  return [plainText(Array.isArray(value) && value.length <= 1 ? only : value)];
}

/** How the choices of a form are compared: in no order, each once. */
export const choicesCompared = (submitted: readonly string[], definition: ElementDefinition): string[] =>
  isMany(definition) ? [...new Set(submitted)].filter((text) => text !== '').sort() : [inLines(submitted.at(-1) ?? '')];

/** Whether an option is chosen: by the submitted entries, else by the value. */
function chosenIn(view: ElementView): (option: ElementOption) => boolean {
  const chosen = new Set(view.entered ?? textsChosen(view.value, view.definition));
  return (option) => chosen.has(String(option.value)) && !option.isFull;
}

/**
 * The options, with those that the stored value has chosen and that are no longer offered: to change another field must not
 * lose them.
 */
function optionsToShow({ options, stored, definition, locale }: ElementView): readonly ElementOption[] {
  if (stored === undefined || stored === null) return options;
  const known = new Set(options.map(({ value }) => String(value)));
  const gone = [...new Set(textsChosen(stored, definition))].filter((text) => text !== '' && !known.has(text));
  return [...options, ...gone.map((value) => ({ value, label: locale.say('option_gone', { label: value }) }))];
}

/** The options that a form may send: those that are offered, and those that the stored value has chosen. */
export function optionsToRead(options: readonly ElementOption[], stored: Json | undefined): readonly ElementOption[] {
  const chosen = listOf(stored ?? null).filter((value) => isScalar(value));
  // For each field of each record of a body: a thousand options are looked at only where something may be kept.
  if (chosen.length === 0) return options;
  const known = new Set(options.map(({ value }) => String(value)));
  const kept = chosen.filter((value) => !known.has(String(value)));
  return kept.length > 0 ? [...options, ...kept.map((value) => ({ value: value as string, label: '' }))] : options;
}

/** The labels of the chosen options for reading; a value that is no longer an option is its own label. */
function chosenLabels({ value, options }: ElementView): string {
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
function choiceGroup(view: ElementView, type: 'radio' | 'checkbox'): string {
  const choices = choicesOf(view, type).map(({ html }) => html);
  return fieldset(view, choices.join(' '), type === 'radio');
}

/** Radio buttons or checkboxes, one for each option. */
export function choicesOf(view: ElementView, type: 'radio' | 'checkbox'): { html: string; isChosen: boolean }[] {
  const { name, readonly } = view.definition;
  const isChosen = chosenIn(view);
  return optionsToShow(view).map((option, index) => {
    const id = controlId(view, index + 1);
    // A browser would demand each checkbox that is `required`.
    const required = isDemanded(view) && type === 'radio';
    const state = { checked: isChosen(option), required, disabled: readonly || option.isFull };
    const autofocus = view.autofocus && index === 0;
    const attrs = { id, name, type, value: String(option.value), ...state, autofocus };
    const html = `<span class="apps-choice"><input${attributes(attrs)}> <label for="${id}">${escapeHtml(option.label)}</label></span>`;
    return { html, isChosen: state.checked };
  });
}

/**
 * Options from a definition or a function `<element>_options`: a list of values or of `{value, label}`. Null for anything
 * else.
 */
export function toOptions(given: unknown): ElementOption[] | null {
  if (!Array.isArray(given)) return null;
  const options = given.map(toOption);
  return options.every((option) => option !== null) ? options : null;
}

function toOption(given: unknown): ElementOption | null {
  if (isScalar(given)) return { value: given, label: String(given) };
  const { value, label } = (given ?? {}) as Record<string, unknown>;
  return isScalar(value) ? { value, label: String(isScalar(label) ? label : value) } : null;
}

/** Options of a definition: as `toOptions`, but null for repeated values and for keys without effect. */
export function declaredOptions(given: unknown): ElementOption[] | null {
  const options = toOptions(given);
  const texts = new Set(options?.map(({ value }) => String(value)));
  if (!options || texts.size !== options.length || !(given as unknown[]).every(isExact)) return null;
  return options.map((option, index) => ({ ...option, ...limitOf((given as unknown[])[index]) }));
}

function isExact(given: unknown): boolean {
  if (isScalar(given)) return true;
  const { value: _, label, limit: _checked, ...others } = given as Record<string, unknown>;
  return Object.keys(others).length === 0 && (isScalar(label) || label === undefined || label === null);
}

/** The limit of an option of a definition, which is checked apart: a wrong one has a message of its own. */
function limitOf(given: unknown): Pick<ElementOption, 'limit'> {
  const { limit } = Object(given) as { limit?: unknown };
  return typeof limit === 'number' ? { limit } : {};
}

/** Whether a value may be one of an option. */
function isScalar(value: unknown): value is string | number | boolean {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  );
}

/** Maximum options of an element, and of all elements of a block. */
const MAX_OPTIONS = { element: 1_000, block: 20_000 };

const NOT_OPTIONS =
  'Options are a list of different values, or of mappings with "value", and with "label" and "limit" if wanted';

/** Names a value that is there twice: YAML reads the numbers 1.1 and 1.10 as the same. */
function repeated(given: unknown): string {
  const values = toOptions(given)?.map(({ value }) => value) ?? [];
  const twice = values.find((value, index) => values.findIndex((other) => String(other) === String(value)) < index);
  if (twice === undefined) return '';
  const cure = typeof twice === 'number' ? ': put texts of digits in quotes, such as "1.10"' : '';
  return `. The value ${String(twice).slice(0, 100)} is there twice${cure}`;
}

const scalar = z.union([z.string(), z.number(), z.boolean()], NOT_OPTIONS);
const option = z.union([
  scalar,
  z.strictObject({ value: scalar, label: scalar.nullish(), limit: placesNumber.schema.nullish() }),
]);

const options = check(
  boundedList(
    MAX_OPTIONS.element,
    `There are at most ${MAX_OPTIONS.element} options`,
    // `declaredOptions` checks the entries.
    shownAs(z.array(z.unknown(), NOT_OPTIONS), () => option.array().max(MAX_OPTIONS.element)),
  ),
  (value, at, work: DefinitionWork) => {
    work.options += value.length;
    if (work.options > MAX_OPTIONS.block) at.fail(`The elements of a block have at most ${MAX_OPTIONS.block} options`);
    for (const [index, one] of value.entries())
      if (typeof one === 'object' && one !== null && (one as Record<string, unknown>).limit != null)
        placesNumber(at.child(index).child('limit'));
    return declaredOptions(value) ?? at.fail(NOT_OPTIONS + repeated(value));
  },
);

/** Settings of a type with options; without them, a function computes the options. */
type ChoiceSettings = { options?: readonly ElementOption[] };

const optionsSetting: Settings<ChoiceSettings> = { options: { own: 'options', check: options } };

/** The options that the definition lists. */
const listed = ({ settings }: ElementDefinition<ChoiceSettings>) => settings.options;

/** One of several options, all of them visible. */
export const radio: ElementType<ChoiceSettings> = {
  role: 'input',
  options: listed,
  otherType: UNKNOWN_OPTION,
  // A browser sends nothing where none is chosen.
  sent: (value) => (value === null || value === '' ? [] : isScalar(value) ? [String(value)] : UNKNOWN_OPTION),
  settings: { ...inputSettings, ...optionsSetting, ...unique },
  schema: oneSchema,
  shows: textsChosen,
  compares: choicesCompared,
  read: (submitted, definition, { options }) => readOne(submitted, definition, options),
  show: (view) => (view.mode === 'text' ? chosenLabels(view) : choiceGroup(view, 'radio')),
};

/** A list to choose from; with `multiple`, any number of its options, stored as a list. */
export const select: ElementType<Placeholder & Autocomplete & ChoiceSettings & Multiple> = {
  role: 'input',
  options: listed,
  settings: {
    ...inputSettings,
    ...placeholder,
    ...autocomplete,
    ...optionsSetting,
    ...unique,
    ...multiple,
  },
  check: checkUnique,
  isList: isMultiple,
  otherType: UNKNOWN_OPTION,
  schema: (definition) => (definition.settings.multiple ? manySchema : oneSchema)(definition),
  shows: textsChosen,
  compares: choicesCompared,
  read: (submitted, definition, { options }) =>
    (definition.settings.multiple ? readMany : readOne)(submitted, definition, options),
  show(view) {
    return view.mode === 'text' ? chosenLabels(view) : field(view, selectControl(view));
  },
};

/** The list without its label. */
export function selectControl(view: ElementView): string {
  const { name, settings } = view.definition;
  const { multiple } = settings as Multiple;
  const own = attributes({ id: controlId(view), name, required: isDemanded(view), multiple });
  const attrs = `${own}${stateAttributes(view, 'disabled')}`;
  const isChosen = chosenIn(view);
  const shown = optionsToShow(view);
  const options = shown.map((option) => {
    const own = attributes({ value: String(option.value), selected: isChosen(option), disabled: option.isFull });
    return `<option${own}>${escapeHtml(option.label)}</option>`;
  });
  return `<select${attrs}>${emptyOption({ ...view, options: shown })}${options.join('')}</select>`;
}

/**
 * Without an empty option the browser would choose the first one. A list with a default has none, as long as an option is
 * chosen.
 */
function emptyOption(view: ElementView): string {
  const { definition, options, hasDefault } = view;
  const { multiple, placeholder = '' } = definition.settings as Multiple & Placeholder;
  if (multiple || options.some(({ value }) => value === '')) return '';
  if ((hasDefault || definition.default != null) && options.some(chosenIn(view))) return '';
  return `<option value="">${escapeHtml(placeholder)}</option>`;
}

/** Any number of options, stored as a list. */
export const checkboxes: ElementType<ChoiceSettings> = {
  role: 'input',
  options: listed,
  settings: { ...inputSettings, ...optionsSetting },
  isList: () => true,
  otherType: message('choose_known'),
  schema: manySchema,
  shows: textsChosen,
  compares: choicesCompared,
  read: (submitted, definition, { options }) => readMany(submitted, definition, options),
  show: (view) => (view.mode === 'text' ? chosenLabels(view) : choiceGroup(view, 'checkbox')),
};

/** A stored value for reading. */
function readableBoolean({ value, locale }: ElementView): string {
  const word = wordOf(plainText(value));
  if (word === '') return '';
  return YES_WORDS.has(word) || NO_WORDS.has(word)
    ? locale.say(YES_WORDS.has(word) ? 'yes' : 'no')
    : escapeHtml(plainText(value));
}

/** A checkbox. A browser sends nothing for an unchecked one, so that an absent field is false. */
export const boolean: ElementType = {
  role: 'input',
  cell: 'boolean',
  settings: inputSettings,
  schema: () => ({ type: 'boolean' }),
  // A form sends any text for a checked box; of JSON only the usual words for yes and no are taken.
  sent(value) {
    const word = value === null || value === false ? '' : typeof value === 'object' ? '?' : wordOf(String(value));
    return NO_WORDS.has(word) ? [] : YES_WORDS.has(word) ? ['1'] : message('true_false');
  },
  word: (value) => (typeof value !== 'boolean' ? undefined : value ? 'yes' : 'no'),
  shows: (value) => [truthText(value)],
  compares: (submitted) => [NO_WORDS.has(wordOf(lastEntry(submitted))) ? '' : '1'],
  read(submitted, { required }) {
    const value = !NO_WORDS.has(wordOf(lastEntry(submitted)));
    return required && !value ? { error: message('check') } : { value };
  },
  show(view) {
    if (view.mode === 'text') return readableBoolean(view);
    const { name } = view.definition;
    const checked = view.entered ? !NO_WORDS.has(wordOf(lastEntry(view.entered))) : truthText(view.value) === '1';
    const attrs = { id: controlId(view), name, type: 'checkbox', value: '1', checked, required: isDemanded(view) };
    return field(view, `<input${attributes(attrs)}${stateAttributes(view, 'disabled')}>`, true);
  },
};
