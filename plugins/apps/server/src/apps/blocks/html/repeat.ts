import { type Items, isItems, itemOf, type Json } from '../../../../../shared/json';
import { logicError } from '../../../common/errors';
import { shortWork } from '../../../common/time/pace';
import {
  attributes,
  boundsOf,
  type ElementView,
  elementTypes,
  escapeHtml,
  fieldset,
  isShown,
  readableText,
  type ShownFile,
  type ShowTools,
} from '../../elements';
import type { ElementDefinition, ElementOption } from '../../types';
import { markOf, positionOf, type ShownEntry } from '../sent/form';
import { storedEntries } from '../sent/form-version';
import type { FormMessages } from './pages';

/** What the HTML of a repeated group needs besides its view. */
export interface RepeatParts {
  /** Entries of the form that is shown again; absent where the group shows its value. */
  sent?: readonly ShownEntry[] | undefined;
  /** The position of the entry with the focus; -1: the button that adds one. */
  focus?: number | undefined;
  messages?: FormMessages | undefined;
  /** By the names of `entryElements`. */
  options: ReadonlyMap<string, readonly ElementOption[]>;
  /** The files of a field that takes some. @param submitted its texts in the form that is shown again */
  files(submitted: readonly string[] | null, value: Json): readonly ShownFile[];
  /** The HTML of a reference, with its targets. */
  reference(view: ElementView): Promise<string>;
  tools: ShowTools;
}

/** Options of all entries that one group shows. */
const MAX_OPTIONS = 20_000;

/** A repeated group: in a form its entries with buttons, for reading a list of their labels and values. */
export async function repeatHtml(view: ElementView, parts: RepeatParts): Promise<string> {
  return view.mode === 'input' ? formOf(view, parts) : textOf(view, parts);
}

async function textOf(view: ElementView, parts: RepeatParts): Promise<string> {
  const { value, definition } = view;
  // What a client has stored by the JSON interface may be anything.
  if (!Array.isArray(value) || !value.every(isItems)) return value === null ? '' : readableText(value);
  if (value.length === 0) return '';
  const entries: string[] = [];
  for (const [position, items] of value.entries()) {
    const rows: string[] = [];
    for (const field of definition.entry?.values() ?? []) {
      if (!isShown(field, (name) => itemOf(items, name))) continue;
      const shown: ElementView = {
        ...fieldView(view, field, position, parts),
        mode: 'text',
        value: itemOf(items, field.name),
      };
      const html = await fieldHtml(shown, parts);
      if (html !== '') rows.push(`<div><dt>${escapeHtml(field.label ?? field.name)}</dt><dd>${html}</dd></div>`);
    }
    entries.push(`<li><dl>${rows.join('')}</dl></li>`);
  }
  const names = definition.class ? `apps-entries ${definition.class}` : 'apps-entries';
  return `<ol${attributes({ class: names })}>${entries.join('')}</ol>`;
}

async function fieldHtml(view: ElementView, parts: RepeatParts): Promise<string> {
  const { type } = view.definition;
  if (type === 'REFERENCE') return parts.reference(view);
  const { render, show } = elementTypes.get(type) ?? {};
  if (view.mode === 'text' && show) return show(view, parts.tools);
  return shortWork(() => render?.(view) ?? '');
}

/** An entry of the form: what was entered, else what is stored, else the defaults. */
interface FormEntry {
  sent: ShownEntry;
  stored: Items | null;
  /** Its position among the stored entries; null for a new one. */
  origin: number | null;
}

function entriesOf({ value, stored, definition }: ElementView, { sent }: RepeatParts): FormEntry[] {
  const known = storedEntries(stored);
  if (sent) {
    return sent.map((entry) => {
      const origin = positionOf(entry);
      return { sent: entry, stored: origin === null ? null : (known[origin] ?? null), origin };
    });
  }
  const shown = storedEntries(value);
  const missing = Math.max(0, boundsOf(definition).min - shown.length);
  const blank = Array.from({ length: missing }, () => ({ sent: null, stored: null, origin: null }));
  return [...shown.map((items, at) => ({ sent: null, stored: items, origin: known.length > 0 ? at : null })), ...blank];
}

async function formOf(view: ElementView, parts: RepeatParts): Promise<string> {
  const { definition, locale } = view;
  const { name, addLabel } = definition;
  const entries = entriesOf(view, parts);
  const { min, max } = boundsOf(definition);
  checkOptions(definition, entries.length, parts);
  const html: string[] = [];
  for (const [position, entry] of entries.entries())
    html.push(await entryHtml(view, parts, entry, { position, count: entries.length, min }));
  const focus = view.autofocus || (parts.focus === -1 && entries.length < max);
  const add = button(view, `${name}:add`, addLabel ?? locale.say('entry_add'), undefined, focus);
  const classes = definition.class ? `apps-repeat ${definition.class}` : 'apps-repeat';
  const whole = { ...view, definition: { ...definition, class: classes } };
  return fieldset(whole, `${html.join('')}${entries.length < max ? add : ''}`);
}

function checkOptions({ name, entry }: ElementDefinition, count: number, { options }: RepeatParts): void {
  for (const field of entry?.keys() ?? []) {
    const own = options.get(`${name}_${field}`)?.length ?? 0;
    if (own * count > MAX_OPTIONS)
      throw logicError(`${name}_${field}_options returns too many options for ${count} entries`);
  }
}

interface EntryPosition {
  position: number;
  count: number;
  min: number;
}

async function entryHtml(view: ElementView, parts: RepeatParts, entry: FormEntry, at: EntryPosition): Promise<string> {
  const { name, label, entryLabel } = view.definition;
  const { position } = at;
  const title = `${entryLabel ?? label ?? name} ${position + 1}`;
  const all = [...(view.definition.entry?.values() ?? [])];
  const fields: string[] = [];
  for (const [index, field] of all.entries()) {
    const shown = fieldView(view, field, position, parts);
    const isNew = entry.stored === null || entry.sent !== null;
    const stored = entry.stored ? itemOf(entry.stored, field.name) : undefined;
    const value = isNew ? (field.default ?? null) : (stored ?? null);
    const said = parts.messages?.beside(shown.definition.name);
    const isFirst = parts.focus === position && index === 0;
    const entered = entry.sent ? (entry.sent.get(field.name) ?? []) : null;
    const whole: ElementView = {
      ...shown,
      value,
      stored,
      entered,
      files: parts.files(entered, value),
      error: said?.error ?? null,
      autofocus: said?.autofocus || isFirst,
      hasDefault: field.default !== undefined,
    };
    fields.push(await fieldHtml(whole, parts));
  }
  // An entry of unchecked boxes sends no field besides this one.
  const mark = `<input${attributes({ type: 'hidden', name: `${name}:${position}`, value: markOf(entry.origin) })}>`;
  return (
    `<fieldset class="apps-entry"><legend>${escapeHtml(title)}</legend>${mark}${fields.join(' ')}` +
    `${buttons(view, title, at)}</fieldset>`
  );
}

function buttons(view: ElementView, title: string, { position, count, min }: EntryPosition): string {
  const { name, upLabel, downLabel, removeLabel } = view.definition;
  const { say } = view.locale;
  const made = [
    position > 0 && button(view, `${name}:up:${position}`, upLabel ?? say('entry_up'), title),
    position < count - 1 && button(view, `${name}:down:${position}`, downLabel ?? say('entry_down'), title),
    count > min && button(view, `${name}:remove:${position}`, removeLabel ?? say('entry_remove'), title),
  ].filter(Boolean);
  return made.length > 0 ? ` <span class="apps-entry-actions">${made.join(' ')}</span>` : '';
}

/** A button that changes the entries of the form and saves nothing. */
function button({ formAction }: ElementView, name: string, label: string, entry?: string, autofocus = false): string {
  const attrs = attributes({
    type: 'submit',
    class: 'apps-action apps-entry-action',
    name,
    value: '1',
    formaction: formAction,
    formnovalidate: true,
    autofocus,
    'aria-label': entry && `${label}: ${entry}`,
    'data-apps-stay': true,
  });
  return `<button${attrs}>${escapeHtml(label)}</button>`;
}

/** The view of a field in an entry: its names have the group's name and the entry's position before them. */
function fieldView(
  view: ElementView,
  field: ElementDefinition,
  position: number,
  { options }: RepeatParts,
): ElementView {
  const { name } = view.definition;
  const inEntry = (one: string) => `${name}:${position}:${one}`;
  const showIf =
    field.showIf &&
    Object.fromEntries(Object.entries(field.showIf).map(([one, condition]) => [inEntry(one), condition]));
  const { idPrefix, locale, formAction } = view;
  return {
    definition: { ...field, name: inEntry(field.name), ...(showIf && { showIf }) },
    mode: view.mode,
    value: null,
    entered: null,
    error: null,
    options: options.get(`${name}_${field.name}`) ?? [],
    locale,
    formAction,
    ...(idPrefix !== undefined && { idPrefix }),
  };
}
