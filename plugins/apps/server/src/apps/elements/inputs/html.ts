import type { Json } from '../../../../../shared/json';
import { memoized } from '../../../common/collections';
import { escapeHtml } from '../../../layouts';
import type { ElementCondition, ElementDefinition } from '../../types';
import type { ElementView } from '../types';
import type { Autocomplete, Inputmode } from './settings';
import { conditionJson } from './settings';

export { escapeHtml };

type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

/**
 * HTML attributes in the given order; `true` makes a bare attribute, `false`, null and undefined make none. Of several objects each
 * has other names.
 */
export function attributes(...all: readonly Attributes[]): string {
  let html = '';
  for (const values of all)
    for (const name in values) {
      const value = values[name];
      if (value === undefined || value === null || value === false) continue;
      html += value === true ? ` ${name}` : ` ${name}="${escapeHtml(String(value))}"`;
    }
  return html;
}

/**
 * The JSON of a condition, escaped. Made once: it may be long, and a form has it for each element and each entry of a group. As bytes in
 * between, because V8 keeps a text that was put together from pieces as these pieces.
 */
const conditionHtml = memoized((condition: ElementCondition): string =>
  Buffer.from(escapeHtml(conditionJson(condition))).toString(),
);

/** The attribute of conditions, which the browser's script reads. Texts are added, not joined: that would copy the long ones each time. */
function conditionAttribute(showIf: Readonly<Record<string, ElementCondition>>): string {
  let html = '';
  for (const [name, condition] of Object.entries(showIf))
    html += `${html && ','}${escapeHtml(JSON.stringify(name))}:${conditionHtml(condition)}`;
  return ` data-apps-show-if="{${html}}"`;
}

/** Attributes of the outermost tag of what may have a condition: its classes, and the condition. */
export const outerAttributes = (names: string, { showIf }: Pick<ElementDefinition, 'showIf'>): string =>
  attributes({ class: names }) + (showIf ? conditionAttribute(showIf) : '');

/** A stored value as plain text: a string unchanged, null as an empty text, anything else as JSON. */
export function plainText(value: Json): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A stored value for reading: escaped, with its line breaks kept. */
export function readableText(value: Json): string {
  return escapeHtml(plainText(value)).replace(/\r\n?|\n/g, '<br>');
}

/** Id of an element's control, or of its `help` or `error`; unique among several blocks of a page. */
export function controlId({ definition, idPrefix = 'apps' }: ElementView, part?: string | number): string {
  const id = `${idPrefix}-${definition.name}`;
  return part === undefined ? id : `${id}-${part}`;
}

/** Attributes of every control: its description, whether the entered value is invalid, and the focus. */
function describedBy(view: ElementView): Record<string, string | boolean | undefined> {
  const { help } = view.definition;
  const parts = [help ? controlId(view, 'help') : '', view.error ? controlId(view, 'error') : ''].filter(Boolean);
  return {
    'aria-describedby': parts.length ? parts.join(' ') : undefined,
    'aria-invalid': view.error ? 'true' : undefined,
    autofocus: view.autofocus,
  };
}

/** The name for screen readers where the definition has no label. */
function ariaLabel(view: ElementView): Record<string, string | undefined> {
  const { label, name } = view.definition;
  // In an entry of a repeated group the name has the group's before it.
  return { 'aria-label': label ? undefined : name.slice(name.lastIndexOf(':') + 1) };
}

/**
 * Attributes of every control beside its own.
 * @param fixed the attribute that keeps a visitor from changing it: HTML knows `readonly` for texts only
 */
export function stateAttributes(view: ElementView, fixed: 'readonly' | 'disabled' = 'readonly'): string {
  const { readonly, required, showIf, settings } = view.definition;
  const { autocomplete, inputmode } = settings as Autocomplete & Inputmode;
  const asked = required && !readonly && showIf ? 'true' : undefined;
  const own = { 'data-apps-required': asked, autocomplete, inputmode };
  const state = fixed === 'readonly' ? { readonly } : { disabled: readonly };
  return attributes(own, state, ariaLabel(view), describedBy(view));
}

/** Whether the browser demands an entry: not in a field that a visitor cannot change, or that may be hidden. */
export function isDemanded({ definition }: ElementView): boolean {
  return definition.required === true && !definition.readonly && !definition.showIf;
}

const outer = ({ definition }: ElementView): string =>
  outerAttributes(definition.class ? `apps-field ${definition.class}` : 'apps-field', definition);

/**
 * Marks a required field for the eye.
 * @param spoken whether no control says so to screen readers, by its attribute `required`
 */
function requiredMark(view: ElementView, spoken = false): string {
  const { required, readonly } = view.definition;
  if (!required || readonly) return '';
  if (spoken)
    return ` <abbr${attributes({ class: 'apps-required', title: view.locale.say('required_mark') })}>*</abbr>`;
  return ' <span class="apps-required" aria-hidden="true">*</span>';
}

/** A control with its label, help and error; phrasing content only, so that a layout may put it inside a paragraph. */
export function field(view: ElementView, control: string, labelAfter = false): string {
  const { label } = view.definition;
  const labelHtml = label
    ? `<label${attributes({ for: controlId(view) })}>${escapeHtml(label)}${requiredMark(view)}</label>`
    : '';
  const parts = labelAfter ? [control, labelHtml] : [labelHtml, control];
  return `<span${outer(view)}>${parts.filter(Boolean).join(' ')}${notes(view)}</span>`;
}

/**
 * Several controls under one legend.
 * @param saysRequired whether the controls themselves say that an entry is required
 */
export function fieldset(view: ElementView, controls: string, saysRequired = true): string {
  const { label } = view.definition;
  const legend = label ? `<legend>${escapeHtml(label)}${requiredMark(view, !saysRequired)}</legend>` : '';
  // The focus is for its first control.
  const described = { ...describedBy(view), autofocus: undefined };
  const attrs = outer(view) + attributes({ id: controlId(view) }, ariaLabel(view), described);
  return `<fieldset${attrs}>${legend}${controls}${notes(view)}</fieldset>`;
}

function notes(view: ElementView): string {
  const { error } = view;
  const { help } = view.definition;
  const helpHtml = help ? ` <small class="apps-help" id="${controlId(view, 'help')}">${escapeHtml(help)}</small>` : '';
  const errorHtml = error
    ? ` <span class="apps-error" id="${controlId(view, 'error')}" role="alert">${escapeHtml(error)}</span>`
    : '';
  return helpHtml + errorHtml;
}
