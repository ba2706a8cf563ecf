import { type Items, isItems, itemOf, type Json } from '../../../../shared/json';
import { logicError } from '../../common/errors';
import { shortWork } from '../../common/time/pace';
import type { ElementDefinition, ElementOption } from '../types';
import { boundsOf, markOf, positionOf, type ShownEntry, storedEntries, valuesOfEntries } from './entries';
import { attributes, escapeHtml, fieldset, readableText } from './inputs/html';
import { isShown } from './inputs/settings';
import { entryElements, fieldsOf } from './parts';
import { idsIn } from './reference-targets';
import type { RepeatSettings } from './repeat';
import type { ElementView, ShowContext, ShownElement } from './types';

type View = ElementView<RepeatSettings>;

/** What the HTML of a repeated group needs besides its view. */
interface Group {
  /** Entries of the form that is shown again; undefined where the group shows its value. */
  sent: readonly ShownEntry[] | undefined;
  /** The position of the entry with the focus; -1: the button that adds one. */
  focus: number | undefined;
  context: ShowContext;
  /** The context of each field, which has the targets of all entries. */
  contexts: ReadonlyMap<string, ShowContext>;
  /** By the names of `entryElements`. */
  options: ReadonlyMap<string, readonly ElementOption[]>;
  /** The entries for layouts, which get the fields of targets; null where there are none. */
  parts: Json[] | null;
}

/** Options of all entries that one group shows. */
const MAX_OPTIONS = 20_000;

/**
 * A repeated group: in a form its entries with buttons, for reading a list of their labels and values; for layouts with the fields of the
 * targets of references.
 */
export async function showRepeat(view: View, context: ShowContext): Promise<string | ShownElement> {
  const { definition, value, mode } = view;
  const again = context.sent;
  const sent = again?.repeats.get(definition.name);
  const options = await context.options(entryElements(definition));
  const contexts = await fieldContexts(view, context, sent);
  const parts = mode === 'text' && contexts.size > 0 && Array.isArray(value) ? structuredClone(value) : null;
  const focus = again?.focus?.element === definition.name ? again.focus.position : undefined;
  const group: Group = { sent, focus, context, contexts, options, parts };
  const html = mode === 'input' ? await formOf(view, group) : await textOf(view, group);
  return parts ? { html, parts } : html;
}

/** The contexts of fields with targets, for which those of all entries are asked for together. */
async function fieldContexts(
  { definition, value, stored }: View,
  context: ShowContext,
  sent: readonly ShownEntry[] | undefined,
): Promise<Map<string, ShowContext>> {
  const contexts = new Map<string, ShowContext>();
  for (const field of fieldsOf(definition)?.values() ?? []) {
    const { name, kind } = field;
    if (!kind.targets) continue;
    const held = sent ? sent.flatMap((entry) => entry?.get(name) ?? []) : valuesOfEntries(value, name);
    const ids = idsIn(held as string[]);
    await kind.targets(ids, field, context.data);
    contexts.set(name, { ...context, ofEntries: { stored: valuesOfEntries(stored, name), chosen: new Set(ids) } });
  }
  return contexts;
}

async function textOf(view: View, group: Group): Promise<string> {
  const { value, definition } = view;
  // What a client has stored by the JSON interface may be anything.
  if (!Array.isArray(value) || !value.every(isItems)) return value === null ? '' : readableText(value);
  if (value.length === 0) return '';
  const entries: string[] = [];
  for (const [position, items] of value.entries()) {
    const rows: string[] = [];
    for (const field of fieldsOf(definition)?.values() ?? []) {
      if (!isShown(field, (name) => itemOf(items, name))) continue;
      const shown: ElementView = {
        ...fieldView(view, field, position, group),
        mode: 'text',
        value: itemOf(items, field.name),
      };
      const html = await fieldHtml(shown, { name: field.name, position }, group);
      if (html !== '') rows.push(`<div><dt>${escapeHtml(field.label ?? field.name)}</dt><dd>${html}</dd></div>`);
    }
    entries.push(`<li><dl>${rows.join('')}</dl></li>`);
  }
  const names = definition.class ? `apps-entries ${definition.class}` : 'apps-entries';
  return `<ol${attributes({ class: names })}>${entries.join('')}</ol>`;
}

/** @param at the field and the entry of the view */
async function fieldHtml(
  view: ElementView,
  { name, position }: { name: string; position: number },
  { context, contexts, parts }: Group,
): Promise<string> {
  const shown = await shortWork(() => view.definition.kind.show?.(view, contexts.get(name) ?? context) ?? '');
  if (typeof shown === 'string') return shown;
  const entry = parts?.[position];
  if (isItems(entry)) entry[name] = shown.parts;
  return shown.html;
}

/** An entry of the form: what was entered, else what is stored, else the defaults. */
interface FormEntry {
  sent: ShownEntry;
  stored: Items | null;
  /** Its position among the stored entries; null for a new one. */
  origin: number | null;
}

function entriesOf({ value, stored, definition }: View, { sent }: Group): FormEntry[] {
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

async function formOf(view: View, group: Group): Promise<string> {
  const { definition, locale } = view;
  const { name } = definition;
  const { addLabel } = definition.settings;
  const entries = entriesOf(view, group);
  const { min, max } = boundsOf(definition);
  checkOptions(definition, entries.length, group);
  const html: string[] = [];
  for (const [position, entry] of entries.entries())
    html.push(await entryHtml(view, group, entry, { position, count: entries.length, min }));
  const focus = view.autofocus || (group.focus === -1 && entries.length < max);
  const add = button(view, `${name}:add`, addLabel ?? locale.say('entry_add'), undefined, focus);
  const classes = definition.class ? `apps-repeat ${definition.class}` : 'apps-repeat';
  const whole = { ...view, definition: { ...definition, class: classes } };
  return fieldset(whole, `${html.join('')}${entries.length < max ? add : ''}`);
}

function checkOptions(element: ElementDefinition, count: number, { options }: Group): void {
  const { name } = element;
  for (const field of fieldsOf(element)?.keys() ?? []) {
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

async function entryHtml(view: View, group: Group, entry: FormEntry, at: EntryPosition): Promise<string> {
  const { name, label } = view.definition;
  const { entryLabel } = view.definition.settings;
  const { position } = at;
  const title = `${entryLabel ?? label ?? name} ${position + 1}`;
  const all = [...(fieldsOf(view.definition)?.values() ?? [])];
  const fields: string[] = [];
  for (const [index, field] of all.entries()) {
    const shown = fieldView(view, field, position, group);
    const isNew = entry.stored === null || entry.sent !== null;
    const stored = entry.stored ? itemOf(entry.stored, field.name) : undefined;
    const value = isNew ? (field.default ?? null) : (stored ?? null);
    const { error, autofocus } = group.context.beside(shown.definition.name);
    const isFirst = group.focus === position && index === 0;
    const entered = entry.sent ? (entry.sent.get(field.name) ?? []) : null;
    const whole: ElementView = {
      ...shown,
      value,
      stored,
      entered,
      files: group.context.files(entered, value),
      error,
      autofocus: autofocus || isFirst,
      hasDefault: field.default !== undefined,
    };
    fields.push(await fieldHtml(whole, { name: field.name, position }, group));
  }
  // An entry of unchecked boxes sends no field besides this one.
  const mark = `<input${attributes({ type: 'hidden', name: `${name}:${position}`, value: markOf(entry.origin) })}>`;
  return (
    `<fieldset class="apps-entry"><legend>${escapeHtml(title)}</legend>${mark}${fields.join(' ')}` +
    `${buttons(view, title, at)}</fieldset>`
  );
}

function buttons(view: View, title: string, { position, count, min }: EntryPosition): string {
  const { name } = view.definition;
  const { upLabel, downLabel, removeLabel } = view.definition.settings;
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
function fieldView(view: View, field: ElementDefinition, position: number, { options }: Group): ElementView {
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
