import { isItems, itemOf, type Json } from '../../../../../shared/json';
import type { LayoutData } from '../../../layouts/types';
import { type ElementView, elementTypes, MAX_REFERENCES } from '../../elements';
import { type Message, message } from '../../locales';
import type { Run } from '../../run/types';
import type { ElementDefinition } from '../../types';
import { offeredTargets, type Target, targetsOf } from '../references';
import type { Entries } from '../sent/form';

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
export interface ReferenceState {
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
