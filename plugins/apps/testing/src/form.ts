import type { Fields, FormFile } from '../index';
import { attribute, type Element, fieldValue, matching, optionValue, textOf } from './dom';

/** What a browser sends for a form. */
export interface FormRequest {
  action: string;
  fields: [name: string, value: Value][];
  isMultipart: boolean;
}

type Value = string | FormFile;
type Given = Fields[string];

/** All controls of one name in a form. */
interface Field {
  form: Element;
  name: string;
  controls: Element[];
}

/** Types of `input` that hold no value of their own: buttons. */
const buttonTypes = new Set(['submit', 'button', 'reset', 'image']);

const typeOf = (element: Element) => attribute(element, 'type')?.toLowerCase() ?? 'text';
const isButton = (element: Element) =>
  element.tagName === 'button' || (element.tagName === 'input' && buttonTypes.has(typeOf(element)));
const isBox = (element: Element) => element.tagName === 'input' && ['checkbox', 'radio'].includes(typeOf(element));
const isChecked = (element: Element) => attribute(element, 'checked') !== undefined;

/**
 * The request of a form that a person has filled in and sent: the fields as the page shows them, but for those in `given`.
 * Throws an Error for a field, an option or a button that the form does not have, with those it has.
 * @param what the form in messages: `the block "rate"`
 */
export function fillIn(form: Element, given: Fields, button: string | undefined, what: string): FormRequest {
  const fields = fieldsOf(form);
  for (const name of Object.keys(given)) {
    if (fields.some((field) => field.name === name)) continue;
    const known = fields.map((field) => field.name).filter((one) => !one.startsWith('_'));
    throw new Error(`The form of ${what} has no field "${name}". It has: ${listed(known)}`);
  }
  const pressed = buttonOf(form, button, what);
  const values = fields.flatMap((field) => {
    const value = Object.hasOwn(given, field.name) ? valuesFor(field, given[field.name] as Given) : shownValues(field);
    return value.map((one): [string, Value] => [field.name, one]);
  });
  const name = attribute(pressed, 'name');
  if (name !== undefined) values.push([name, attribute(pressed, 'value') ?? '']);
  return {
    action: attribute(pressed, 'formaction') ?? attribute(form, 'action') ?? '',
    fields: values,
    isMultipart: attribute(form, 'enctype') === 'multipart/form-data',
  };
}

/** The content type and the body of a form's request. */
export async function bodyOf({ fields, isMultipart }: FormRequest): Promise<{ type: string; body: Buffer }> {
  const body = isMultipart ? new FormData() : new URLSearchParams();
  for (const [name, value] of fields) {
    if (typeof value === 'string') body.append(name, value);
    else if (body instanceof FormData) body.append(name, new File([value.content], value.name));
    else body.append(name, value.name);
  }
  const response = new Response(body);
  return { type: response.headers.get('content-type') ?? '', body: Buffer.from(await response.arrayBuffer()) };
}

function fieldsOf(form: Element): Field[] {
  const fields = new Map<string, Field>();
  for (const element of matching(form, 'input, textarea, select')) {
    const name = attribute(element, 'name');
    if (!name || isButton(element) || attribute(element, 'disabled') !== undefined) continue;
    const field = fields.get(name) ?? { form, name, controls: [] };
    field.controls.push(element);
    fields.set(name, field);
  }
  return [...fields.values()];
}

const isFileControl = (element: Element) => element.tagName === 'input' && typeOf(element) === 'file';

/** What a browser sends where no file is chosen. */
const noFile: FormFile = { name: '', content: '' };

const isFile = (given: unknown): given is FormFile => typeof given === 'object' && given !== null && 'content' in given;

/** The values that a browser sends for an untouched field. */
function shownValues({ controls }: Field): Value[] {
  return controls.flatMap((control): Value[] => {
    if (isFileControl(control)) return [noFile];
    if (isBox(control)) return isChecked(control) ? [attribute(control, 'value') ?? 'on'] : [];
    if (control.tagName !== 'select' || attribute(control, 'multiple') === undefined)
      return [fieldValue(control) ?? ''];
    return matching(control, 'option')
      .filter((option) => attribute(option, 'selected') !== undefined)
      .map(optionValue);
  });
}

/** What a person can choose in a field, by value; null for one to type into. */
function choicesOf({ form, controls: [first, ...others] }: Field): { value: string; label: string }[] | null {
  if (!first) return null;
  if (first.tagName === 'select')
    return matching(first, 'option').map((option) => ({ value: optionValue(option), label: textOf(option) }));
  if (!isBox(first) && !others.some(isBox)) return null;
  return [first, ...others]
    .filter(isBox)
    .map((box) => ({ value: attribute(box, 'value') ?? 'on', label: labelOf(form, box) }));
}

/** The text of a box's label: the one that names its id, or the one around it. */
function labelOf(form: Element, box: Element): string {
  const labels = matching(form, 'label');
  const id = attribute(box, 'id');
  const label =
    labels.find((one) => id !== undefined && attribute(one, 'for') === id) ??
    labels.find((one) => matching(one, 'input').includes(box));
  return label ? textOf(label) : '';
}

function valuesFor(field: Field, given: Given): Value[] {
  const isOfFiles = field.controls.some(isFileControl);
  const files = [given].flat().filter(isFile);
  if (files.length > 0 && !isOfFiles) throw new Error(`The field "${field.name}" takes no file`);
  // The files that are there stay, as when a person chooses another one.
  if (files.length > 0) return [...shownValues(field).filter((value) => value !== noFile), ...files];
  const choices = choicesOf(field);
  if (isOfFiles && !choices && given !== null)
    throw new Error(`The field "${field.name}" takes a file: { name: 'cv.pdf', content: '…' }`);
  return isOfFiles && given === null ? [noFile] : textsFor(field, choices, given);
}

function textsFor(field: Field, choices: ReturnType<typeof choicesOf>, given: Given): string[] {
  const hidden = field.controls.filter((control) => !isBox(control) && choices && control.tagName === 'input');
  const always = hidden.map((control) => fieldValue(control) ?? '');
  if (!choices) return given === null ? [''] : [given].flat().map(String);
  if (given === null || given === false) return always;
  if (given === true) return [...always, choices[0]?.value ?? 'on'];
  const wanted = [given].flat().map(String);
  const chosen = wanted.map((one) => {
    const found = choices.find(({ value }) => value === one) ?? choices.find(({ label }) => label === one);
    if (!found)
      throw new Error(
        `The field "${field.name}" has no option "${one}". It has: ${listed(choices.map(({ value }) => value))}`,
      );
    return found.value;
  });
  return [...always, ...chosen];
}

function buttonOf(form: Element, wanted: string | undefined, what: string): Element {
  const buttons = matching(form, 'button, input').filter(
    (element) =>
      isButton(element) && ['submit', 'image'].includes(attribute(element, 'type')?.toLowerCase() ?? 'submit'),
  );
  const named = (name: string) =>
    buttons.find((one) => [name, `action.${name}`].includes(attribute(one, 'name') ?? '')) ??
    buttons.find((one) => (textOf(one) || attribute(one, 'value')) === name);
  const only = buttons.length === 1 ? buttons[0] : undefined;
  const found = wanted === undefined ? (named('_save') ?? only) : named(wanted);
  if (found) return found;
  const names = listed(buttons.map((one) => (attribute(one, 'name') ?? textOf(one)).replace(/^action\./, '')));
  if (buttons.length === 0) throw new Error(`The form of ${what} has no button`);
  if (wanted === undefined)
    throw new Error(`Say which button of ${what} is pressed, with { button: … }. It has: ${names}`);
  throw new Error(`The form of ${what} has no button "${wanted}". It has: ${names}`);
}

const listed = (names: readonly string[]) => names.filter(Boolean).join(', ') || 'none';
