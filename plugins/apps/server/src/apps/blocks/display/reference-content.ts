import { type Items, isItems, itemOf, type Json } from '../../../../../shared/json';
import type { LayoutData } from '../../../layouts/types';
import { type ElementView, elementTypes, entryElements, MAX_REFERENCES, referencesIn } from '../../elements';
import { type Message, message } from '../../locales';
import type { Run } from '../../run/types';
import type { ElementDefinition } from '../../types';
import type { BlockSession } from '../block-session';
import type { FormMessages } from '../html/pages';
import { repeatHtml } from '../html/repeat';
import { offeredTargets, type Target, targetsOf } from '../references';
import type { Entries, ShownEntry } from '../sent/form';
import { formFiles } from '../sent/submitted-files';
import type { DisplayOptions } from './element-contents';
import { optionsOf } from './form';

/** Ids in a value; those of a long list that a client has stored are looked up to a limit. */
export const idsIn = (value: Json | readonly string[]): string[] =>
  [value]
    .flat()
    .filter((one): one is string => typeof one === 'string' && one !== '')
    .slice(0, MAX_REFERENCES.shown);

/** The ids that all entries of a repeated group have in a field. */
export function idsOfEntries(value: Json | undefined, field: string): string[] {
  const entries = Array.isArray(value) ? value.slice(0, MAX_REFERENCES.shown).filter(isItems) : [];
  return idsIn(entries.flatMap((items) => itemOf(items, field)) as string[]);
}

const optionOf = ({ id, label }: Target) => ({ value: id, label });

/** Ids that the record has already: a requester who may not see their targets must not lose them by changing another field. */
function keptIds(ids: readonly string[], targets: readonly Target[], stored: Json): ReturnType<typeof optionOf>[] {
  const before = new Set(idsIn(stored));
  const seen = new Set(targets.map(({ id }) => id));
  return [...new Set(ids)].filter((id) => before.has(id) && !seen.has(id)).map((id) => ({ value: id, label: id }));
}

/** What the content of a reference depends on, besides its view. */
interface ReferenceState {
  /** Texts by which the form looks for targets. */
  submission?: Pick<Entries, 'searches' | 'searched'> | undefined;
  /** Ids that the record has already. */
  stored: Json;
  /** The ids that are looked up, where not all are. */
  only?: ReadonlySet<string>;
}

/** The content of a reference: links for reading, with the fields of its targets; in a form a list to choose from. */
export async function referenceContent(
  run: Run,
  view: ElementView,
  { submission, stored, only }: ReferenceState,
): Promise<Extract<NonNullable<Awaited<ReturnType<LayoutData['element']>>>, { html: string }>> {
  const { definition, mode, value, entered } = view;
  const render = elementTypes.get(definition.type)?.render;
  const ids = idsIn(mode === 'text' ? value : (entered ?? value)).filter((id) => only?.has(id) ?? true);
  const chosen = await targetsOf(run, definition, ids);
  if (mode === 'text') {
    const links = new Map(chosen.flatMap(({ id, url }) => (url === null ? [] : [[id, url] as const])));
    const html = render?.({ ...view, options: chosen.map(optionOf), links }) ?? '';
    const parts: Json = definition.multiple ? chosen.map((target) => target.parts) : (chosen[0]?.parts ?? {});
    return { html, parts };
  }
  const find = submission?.searches?.get(definition.name) ?? '';
  const found = await offeredTargets(run, definition, find);
  const offered = found.slice(0, MAX_REFERENCES.offered);
  const known = new Set(offered.map(({ id }) => id));
  const kept = keptIds(idsIn(entered ?? value), chosen, stored);
  const options = [...kept, ...chosen.filter(({ id }) => !known.has(id)).map(optionOf), ...offered.map(optionOf)];
  const searched = submission?.searched === definition.name;
  const offers = { find, more: found.length > MAX_REFERENCES.offered, none: found.length === 0, searched };
  return { html: render?.({ ...view, options, offers }) ?? '' };
}

/**
 * Reads the ids that a form has sent for a reference: those of targets that the requester may see, and those that the record
 * has already.
 */
export async function readReference(
  run: Run,
  element: ElementDefinition,
  submitted: readonly string[],
  stored: Json,
): Promise<{ value: Json } | { error: Message }> {
  const ids = [...new Set(submitted)].filter((id) => id !== '');
  const targets = ids.length > MAX_REFERENCES.chosen ? [] : await targetsOf(run, element, ids);
  const read = elementTypes.get(element.type)?.read;
  const options = [...targets.map(optionOf), ...keptIds(ids, targets, stored)];
  return read?.(submitted, element, options) ?? { error: message('reference_gone') };
}

/**
 * The HTML of a repeated group, with the options that the block's logic gives its fields. For layouts the entries, with the
 * fields of the targets of references.
 */
export async function repeatContent(
  run: Run,
  session: BlockSession,
  view: ElementView,
  display: DisplayOptions,
  messages: FormMessages | undefined,
): Promise<Awaited<ReturnType<LayoutData['element']>>> {
  const { definition, value } = view;
  const { name } = definition;
  const options = await optionsOf(session, entryElements(definition));
  const { submission, record } = display;
  const { focus } = submission ?? {};
  const sent = submission?.repeats.get(name);
  const targets = await targetsIn(run, view, sent);
  /** The entries for layouts; those of a form are not there. */
  const parts: Json = view.mode === 'text' && Array.isArray(value) ? structuredClone(value) : null;
  const html = await repeatHtml(view, {
    options,
    messages,
    sent,
    focus: focus?.element === name ? focus.position : undefined,
    files: (submitted, stored) => formFiles(display, submitted, stored),
    async reference(own) {
      const [, position = '', field = ''] = own.definition.name.split(':');
      const stored = idsOfEntries(record?.items[name], field);
      const content = await referenceContent(run, own, { submission, stored, only: targets.get(field) ?? new Set() });
      const entry = Array.isArray(parts) ? parts[Number(position)] : undefined;
      if (isItems(entry) && content.parts !== undefined) entry[field] = content.parts;
      return content.html;
    },
    tools: run.services,
  });
  return referencesIn(definition).length > 0 && parts !== null ? { html, parts } : { html };
}

/** Asks for the targets of all entries together; their ids by field. */
async function targetsIn(
  run: Run,
  { definition, value }: ElementView,
  sent: readonly ShownEntry[] | undefined,
): Promise<Map<string, Set<string>>> {
  const all = new Map<string, Set<string>>();
  for (const field of referencesIn(definition)) {
    const entered: Json[] | undefined = sent?.map(
      (entry): Items => ({ [field.name]: [...(entry?.get(field.name) ?? [])] }),
    );
    const ids = new Set(idsOfEntries(entered ?? value, field.name));
    await targetsOf(run, field, [...ids]);
    all.set(field.name, ids);
  }
  return all;
}
