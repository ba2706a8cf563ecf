import type { Json } from '../../../../shared/json';
import { escapeHtml } from '../../layouts';
import type { ElementView } from './types';

export { escapeHtml };

/** HTML attributes in the given order; `true` is a bare attribute, `false`, null and undefined leave it out. */
export function attributes(values: Record<string, string | number | boolean | null | undefined>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== null && value !== false)
    .map(([name, value]) => (value === true ? ` ${name}` : ` ${name}="${escapeHtml(String(value))}"`))
    .join('');
}

/** A stored value as one line of plain text: strings as they are, null as nothing, anything else as JSON. */
export function plainText(value: Json): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A stored value for reading: escaped, with its line breaks kept. */
export function readableText(value: Json): string {
  return escapeHtml(plainText(value)).replace(/\r\n?|\n/g, '<br>');
}

/** Id of the control of an element, or of its `help` or `error`; a page may show several blocks. */
export function controlId({ definition, idPrefix = 'apps' }: ElementView, part?: string | number): string {
  const id = `${idPrefix}-${definition.name}`;
  return part === undefined ? id : `${id}-${part}`;
}

/** What every control carries: its description and whether what was entered is wrong. */
export function describedBy(view: ElementView): Record<string, string | undefined> {
  const { help } = view.definition;
  const parts = [help ? controlId(view, 'help') : '', view.error ? controlId(view, 'error') : ''].filter(Boolean);
  return {
    'aria-describedby': parts.length ? parts.join(' ') : undefined,
    'aria-invalid': view.error ? 'true' : undefined,
  };
}

/** The name a screen reader says where no visible label is declared. */
export function ariaLabel(view: ElementView): Record<string, string | undefined> {
  return { 'aria-label': view.definition.label ? undefined : view.definition.name };
}

/** A control with its label, help and error; only phrasing content, so that a layout may put it inside a paragraph. */
export function field(view: ElementView, control: string, labelAfter = false): string {
  const { label } = view.definition;
  const labelHtml = label ? `<label${attributes({ for: controlId(view) })}>${escapeHtml(label)}</label>` : '';
  const parts = labelAfter ? [control, labelHtml] : [labelHtml, control];
  return `<span class="apps-field">${parts.filter(Boolean).join(' ')}${notes(view)}</span>`;
}

/** Several controls under one legend. */
export function fieldset(view: ElementView, controls: string): string {
  const { label } = view.definition;
  const legend = label ? `<legend>${escapeHtml(label)}</legend>` : '';
  const attrs = attributes({ class: 'apps-field', id: controlId(view), ...ariaLabel(view), ...describedBy(view) });
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
