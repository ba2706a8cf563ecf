import { z } from 'zod';
import type { Json } from '../../../../shared/json';
import { message } from '../locales';
import type { ElementDefinition, ElementOption } from '../types';
import { check, isMapping, number, text } from '../yaml-schema';
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
import { referenceFields } from './entries';
import { attributes, controlId, escapeHtml, field, fieldset } from './inputs/html';
import { inputSettings, isMultiple, multiple, placeholder, unique } from './inputs/settings';
import { idsIn, MAX_REFERENCES, offeredTargets, type ReferenceSettings, targetsOf } from './reference-targets';
import type {
  ElementType,
  ElementView,
  JsonSchema,
  Read,
  ReadRequest,
  ReferenceTarget,
  ShowContext,
  ShownElement,
} from './types';

/** The greatest number of targets of an element. */
const mostTargets = ({ settings: { multiple, max } }: ElementDefinition<ReferenceSettings>): number =>
  multiple ? Number(max ?? MAX_REFERENCES.chosen) : 1;

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

type Reference = ElementDefinition<ReferenceSettings>;

const optionOf = ({ id, label }: ReferenceTarget): ElementOption => ({ value: id, label });

/** Ids that the record has already: a requester who may not see their targets must not lose them by changing another field. */
function keptIds(ids: readonly string[], targets: readonly ReferenceTarget[], stored: Json): ElementOption[] {
  const before = new Set(idsIn(stored));
  const seen = new Set(targets.map(({ id }) => id));
  return [...new Set(ids)].filter((id) => before.has(id) && !seen.has(id)).map((id) => ({ value: id, label: id }));
}

/** Ids that were sent: each must be one of the options. */
function readAmong(submitted: readonly string[], definition: Reference, options: readonly ElementOption[]): Read {
  const { multiple } = definition.settings;
  const sent = new Set(submitted.filter((id) => id !== ''));
  const count = mostTargets(definition);
  if (multiple && sent.size > count) return { error: message('reference_most', { count }) };
  if (sent.size === 0) return definition.required ? { error: CHOOSE } : { value: multiple ? [] : null };
  const result = (multiple ? readMany : readOne)(submitted, definition, options);
  return 'error' in result ? { error: GONE } : result;
}

/** The ids that a form has sent: those of targets that the requester may see, and those that the record has already. */
async function readSent(submitted: readonly string[], definition: Reference, request: ReadRequest): Promise<Read> {
  const ids = [...new Set(submitted)].filter((id) => id !== '');
  const targets = ids.length > MAX_REFERENCES.chosen ? [] : await targetsOf(request.data, definition, ids);
  const options = [...targets.map(optionOf), ...keptIds(ids, targets, request.stored ?? null)];
  return readAmong(submitted, definition, options);
}

/** Links for reading, with the fields of the targets. */
function shownTargets(view: ElementView<ReferenceSettings>, targets: readonly ReferenceTarget[]): ShownElement {
  const { multiple } = view.definition.settings;
  const parts: Json = multiple ? targets.map((target) => target.parts) : (targets[0]?.parts ?? {});
  return { html: links(view, targets), parts };
}

/** A list to choose from: what is chosen, and what the form offers. */
async function control(
  view: ElementView<ReferenceSettings>,
  chosen: readonly ReferenceTarget[],
  { data, sent, ofEntries }: ShowContext,
): Promise<string> {
  const { definition, value, entered } = view;
  const find = sent?.searches?.get(definition.name) ?? '';
  const found = await offeredTargets(data, definition, find);
  const offered = found.slice(0, MAX_REFERENCES.offered);
  const known = new Set(offered.map(({ id }) => id));
  const kept = keptIds(idsIn(entered ?? value), chosen, ofEntries ? ofEntries.stored : (view.stored ?? null));
  const options = [...kept, ...chosen.filter(({ id }) => !known.has(id)).map(optionOf), ...offered.map(optionOf)];
  const searched = sent?.searched === definition.name;
  const offers = { find, more: found.length > MAX_REFERENCES.offered, none: found.length === 0, searched };
  const whole = { ...view, options };
  return definition.settings.multiple
    ? boxes(whole, offers)
    : field(whole, `${selectControl(whole)}${search(whole, offers)}`);
}

/** A reference to content or to a record (docs/reference/definitions.md#references), stored as its id. */
export const reference: ElementType<ReferenceSettings> = {
  role: 'input',
  settings: {
    ...settings,
    ...placeholder,
    content: { own: 'content', check: uid },
    app: { own: 'app', check: text },
    block: { own: 'block', check: text },
    query: { own: 'query', check: text },
    text: { own: 'text', check: text },
    ...multiple,
    max: { own: 'max', check: most },
    ...unique,
  },
  isList: isMultiple,
  load: (definition) => ({ fields: 2, options: MAX_REFERENCES.offered, targets: mostTargets(definition) }),
  otherType: GONE,
  check(definition, at) {
    const { content, app, block, query, multiple, max } = definition.settings;
    checkUnique(definition, at);
    if ((content === undefined) === (app === undefined))
      at.fail('A reference names what it refers to: "content", a content type, or "app", an app of the site');
    if (content !== undefined && (block !== undefined || query !== undefined))
      at.fail('"block" and "query" are for references to records of an app');
    if (max !== undefined && !multiple && isMapping(at.value))
      at.key('max').fail('"max" is for a reference with "multiple: true"');
  },
  schema(definition): JsonSchema {
    const { required, settings } = definition;
    const id = { type: 'string', minLength: 1 };
    if (settings.multiple)
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
  targets: (ids, definition, data) => targetsOf(data, definition, ids),
  read: (submitted, definition, { options, request }) =>
    request ? readSent(submitted, definition, request) : readAmong(submitted, definition, options),
  async show(view, context) {
    const { definition, mode, value, entered } = view;
    const isChosen = (id: string) => context.ofEntries?.chosen.has(id) ?? true;
    const ids = idsIn(mode === 'text' ? value : (entered ?? value)).filter(isChosen);
    const chosen = await targetsOf(context.data, definition, ids);
    return mode === 'text' ? shownTargets(view, chosen) : control(view, chosen, context);
  },
};

/**
 * A box for each target, those that are chosen first: unchecking removes one. Unlike a list of HTML with `multiple`, a click
 * beside them loses none, and they need no script.
 */
function boxes(view: ElementView, offers: Offers): string {
  const part = (name: string, chosen: boolean) => {
    const own = choicesOf(view, 'checkbox').filter(({ isChosen }) => isChosen === chosen);
    return own.length > 0 ? `<span class="${name}">${own.map(({ html }) => html).join(' ')}</span>` : '';
  };
  return fieldset(view, `${part('apps-chosen', true)}${part('apps-offered', false)}${search(view, offers)}`, false);
}

/** Links to the targets; one that is gone, or that the requester may not see, is its id. */
function links({ value }: ElementView, targets: readonly ReferenceTarget[]): string {
  const known = new Map(targets.map((target) => [target.id, target]));
  const ids = Array.isArray(value) ? value : value === null || value === '' ? [] : [value];
  const all = ids.map((one) => {
    const id = typeof one === 'string' ? one : JSON.stringify(one);
    const { label = id, url = null } = known.get(id) ?? {};
    const text = escapeHtml(label);
    return !url ? text : `<a${attributes({ class: 'apps-reference', href: url })}>${text}</a>`;
  });
  return all.join(', ');
}

/** What a form offers: the text that was looked for, whether there is more, or nothing, and whether its button was pressed. */
interface Offers {
  find: string;
  more: boolean;
  none: boolean;
  searched: boolean;
}

/** A search for targets where there are more than the form offers. */
function search(view: ElementView, offers: Offers): string {
  const { definition, locale, formAction } = view;
  if (!(offers.more || offers.find) || definition.readonly) return '';
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
