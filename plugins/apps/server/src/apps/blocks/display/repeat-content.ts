import { type Items, isItems, type Json } from '../../../../../shared/json';
import type { LayoutData } from '../../../layouts/types';
import { type ElementView, entryElements, referencesIn } from '../../elements';
import type { Run } from '../../run/types';
import type { BlockSession } from '../block-session';
import type { FormMessages } from '../html/form-messages';
import { repeatHtml } from '../html/repeat';
import { targetsOf } from '../references';
import type { ShownEntry } from '../sent/form';
import { formFiles } from '../sent/submitted-files';
import type { DisplayOptions } from './element-contents';
import { optionsOf } from './element-options';
import { idsOfEntries, referenceContent } from './reference-content';

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
