import { z } from 'zod';
import { type Message, message } from '../locales';
import type { ElementDefinition, ElementOption } from '../types';
import { check } from '../yaml/check';
import { flag, isMapping, number, text } from '../yaml/schema';
import {
  CHOOSE,
  checkUnique,
  choicesCompared,
  choicesOf,
  readMany,
  readOne,
  selectControl,
  textsChosen,
} from './choice-types';
import { attributes, controlId, escapeHtml, field, fieldset } from './inputs/html';
import { inputSettings, placeholder, unique } from './inputs/settings';
import type { ElementType, ElementView, JsonSchema } from './types';

/** Targets that a form offers at once, targets of one element with `multiple`, and ids of a stored value that are looked up. */
export const MAX_REFERENCES = { offered: 100, chosen: 50, shown: 500 };

/** The greatest number of targets of an element. */
export const mostTargets = ({ multiple, max }: ElementDefinition): number =>
  multiple ? Number(max ?? MAX_REFERENCES.chosen) : 1;

/** Buttons and fields of the search for targets have the element's name before these. */
export const referenceFields = { find: ':find', search: ':search' } as const;

const uid = check(
  z.string('This must be the uid of a content type, such as api::article.article').max(200),
  (value, at) =>
    /^(?:api|plugin)::[a-z0-9-]+\.[a-z0-9-]+$/.test(value)
      ? value
      : at.fail('This must be the uid of a content type, such as api::article.article'),
);

const NOT_MOST = `This must be a whole number from 1 to ${MAX_REFERENCES.chosen}`;

const most = check(number.schema, (value, at): number =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_REFERENCES.chosen
    ? (value as number)
    : at.fail(NOT_MOST),
);

const { default: _default, ...settings } = inputSettings;

const GONE = message('reference_gone');

/** What a visitor may refer to: an id that is sent must be one of the options, which are the targets found by these ids. */
function read(submitted: readonly string[], definition: ElementDefinition, options: readonly ElementOption[]) {
  const sent = new Set(submitted.filter((id) => id !== ''));
  const count = mostTargets(definition);
  if (definition.multiple && sent.size > count) return { error: message('reference_most', { count }) };
  if (sent.size === 0)
    return definition.required ? { error: CHOOSE as Message } : { value: definition.multiple ? [] : null };
  const result = (definition.multiple ? readMany : readOne)(submitted, definition, options);
  return 'error' in result ? { error: GONE } : result;
}

/** A reference to content or to a record (docs/reference/definitions.md#references), stored as its id. */
export const reference: ElementType = {
  role: 'input',
  settings: {
    ...settings,
    ...placeholder,
    content: { as: 'content', check: uid },
    app: { as: 'app', check: text },
    block: { as: 'block', check: text },
    query: { as: 'query', check: text },
    text: { as: 'text', check: text },
    multiple: { as: 'multiple', check: flag },
    max: { as: 'max', check: most },
    ...unique,
  },
  isList: ({ multiple }) => multiple === true,
  otherType: GONE,
  check(definition, at) {
    const { content, app, block, query, multiple, max } = definition;
    checkUnique(definition, at);
    if ((content === undefined) === (app === undefined))
      at.fail('A reference names what it refers to: "content", a content type, or "app", an app of the site');
    if (content !== undefined && (block !== undefined || query !== undefined))
      at.fail('"block" and "query" are for references to records of an app');
    if (max !== undefined && !multiple && isMapping(at.value))
      at.key('max').fail('"max" is for a reference with "multiple: true"');
  },
  schema(definition): JsonSchema {
    const { multiple, required } = definition;
    const id = { type: 'string', minLength: 1 };
    if (multiple)
      return {
        type: 'array',
        items: id,
        uniqueItems: true,
        maxItems: mostTargets(definition),
        ...(required && { minItems: 1 }),
      };
    return required ? id : { anyOf: [id, { type: 'null' }] };
  },
  shows: textsChosen,
  compares: choicesCompared,
  read,
  render(view) {
    if (view.mode === 'text') return shown(view);
    return view.definition.multiple ? boxes(view) : field(view, `${selectControl(view)}${search(view)}`);
  },
};

/**
 * A box for each target, those that are chosen first: unchecking removes one. Unlike a list of HTML with `multiple`, a click
 * beside them loses none, and they need no script.
 */
function boxes(view: ElementView): string {
  const part = (name: string, chosen: boolean) => {
    const own = choicesOf(view, 'checkbox').filter(({ isChosen }) => isChosen === chosen);
    return own.length > 0 ? `<span class="${name}">${own.map(({ html }) => html).join(' ')}</span>` : '';
  };
  return fieldset(view, `${part('apps-chosen', true)}${part('apps-offered', false)}${search(view)}`, false);
}

/** Links to the targets; one that is gone, or that the requester may not see, is its id. */
function shown({ value, options, links }: ElementView): string {
  const labels = new Map(options.map((option) => [String(option.value), option.label]));
  const ids = Array.isArray(value) ? value : value === null || value === '' ? [] : [value];
  const all = ids.map((one) => {
    const id = typeof one === 'string' ? one : JSON.stringify(one);
    const label = escapeHtml(labels.get(id) ?? id);
    const url = links?.get(id);
    return url ? `<a${attributes({ class: 'apps-reference', href: url })}>${label}</a>` : label;
  });
  return all.join(', ');
}

/** A search for targets where there are more than the form offers. */
function search(view: ElementView): string {
  const { offers, definition, locale, formAction } = view;
  if (!offers || !(offers.more || offers.find) || definition.readonly) return '';
  const { name } = definition;
  const label = `${locale.say('find')}: ${definition.label ?? name}`;
  const entry = attributes({
    id: controlId(view, 'find'),
    name: `${name}${referenceFields.find}`,
    type: 'search',
    value: offers.find,
    maxlength: 200,
    'aria-label': label,
    autofocus: offers.searched,
  });
  const button = attributes({
    type: 'submit',
    class: 'apps-action apps-entry-action',
    name: `${name}${referenceFields.search}`,
    value: '1',
    formaction: formAction,
    formnovalidate: true,
    'aria-label': label,
    'data-apps-stay': true,
  });
  const note = offers.more ? 'reference_more' : offers.none ? 'found_none' : null;
  const noteHtml = note
    ? ` <small class="apps-help" role="status">${escapeHtml(locale.say(note, { count: MAX_REFERENCES.offered }))}</small>`
    : '';
  return ` <span class="apps-reference-search"><input${entry}> <button${button}>${escapeHtml(locale.say('find'))}</button></span>${noteHtml}`;
}
