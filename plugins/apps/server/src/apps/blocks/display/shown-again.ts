import { shortWork } from '../../../common/time/pace';
import type { StoredRecord } from '../../../records/types';
import type { FormError } from '../../run/refusals';
import type { Run } from '../../run/types';
import type { Block } from '../../types';
import { shownElements } from '../group';
import { enteredIn } from '../sent/entered';
import type { Entries, FormFields } from '../sent/form';
import { isPageMove, pageState, pagesOf } from '../sent/pages';
import { pressedSearch, searchesIn } from '../sent/searches';
import { changedEntries, pressedButton, sentEntries } from '../sent/sent-entries';
import { fieldsAgain, filesAgain } from '../sent/submitted-files';
import type { DisplayOptions } from './element-contents';

/** Whether a button was pressed that only shows the form again: of its pages, or of a repeated group. */
export const onlyShows = (block: Block, fields: FormFields): boolean =>
  isPageMove(fields) ||
  pressedButton(block.definition, fields) !== null ||
  pressedSearch(block.definition, fields) !== undefined;

/**
 * A posted form that is shown again, with what was entered. A record is shown for reading again where its form was not
 * sent, but a button beside its text, and to those who may not change it.
 * @param keepsFiles false for a JSON client, which gets no form that could name kept files
 */
export async function shownAgain(
  run: Run,
  block: Block,
  record: StoredRecord | null,
  fields: FormFields,
  errors: readonly FormError[] = [],
  keepsFiles = true,
): Promise<DisplayOptions> {
  const { files } = run.visit;
  const shows = shownElements(run, block);
  const pages = pagesOf(block, shows);
  const entered = await shortWork(() => enteredIn(block, fields, shows, pages));
  const moves = onlyShows(block, fields);
  const searches = searchesIn(block.definition, fields);
  const isSent = entered !== null || moves || Object.hasOwn(fields, '_save');
  const isForm = record === null || (isSent && run.rights.edit(record.creator));
  const entries: Entries | undefined =
    entered || moves || errors.length > 0
      ? withChange(block, fields, { ...(entered ?? { entered: new Map(), repeats: new Map() }), ...searches, errors })
      : undefined;
  const submission = entries && { submission: entries };
  if (!isForm || !isSent) return { record, mode: isForm ? 'input' : 'text', ...submission };
  const shown = entries ?? { entered: new Map<string, readonly string[]>(), errors };
  const shownFiles = await filesAgain(block, fields, { files: keepsFiles ? files : undefined, items: record?.items });
  const kept = fieldsAgain(block, fields, shownFiles);
  const state = () => pageState(block.definition, pages, kept, shown, record?.items);
  const paged = pages.length > 0 && (await shortWork(state));
  return { record, mode: 'input', shownFiles, ...submission, ...(paged && { paged }) };
}

/** Whether a form is not saved yet, because a page shows that the visitor has not seen. */
export function hasUnseenPage(run: Run, block: Block, record: StoredRecord | null, fields: FormFields): boolean {
  const shows = shownElements(run, block);
  const pages = pagesOf(block, shows);
  if (pages.length === 0) return false;
  const entered = enteredIn(block, fields, shows, pages)?.entered ?? new Map<string, string[]>();
  return pageState(block.definition, pages, fields, { entered, errors: [] }, record?.items).moved;
}

/** What is shown again, after the pressed button of a repeated group. */
function withChange({ definition }: Block, fields: FormFields, entries: Entries): Entries {
  const change = pressedButton(definition, fields);
  const sent = change && sentEntries(definition, fields).get(change.element.name);
  if (!change || !sent) return entries;
  const { name } = change.element;
  const changed = changedEntries(sent, change);
  const entered = new Map([...entries.entered, [name, entries.entered.get(name) ?? []]]);
  const repeats = new Map([...entries.repeats, [name, changed.entries]]);
  return { ...entries, entered, repeats, focus: { element: name, position: changed.focus } };
}
