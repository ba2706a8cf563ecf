import { escapeHtml, type FormFields, textsOf, withSentFiles } from '../../elements';
import { localeOf } from '../../run/site-locale';
import type { Run } from '../../run/types';
import { nameOf, permittedBlock } from '../../run/visits';
import type { Block } from '../../types';
import { DRAFT_BLOCK, entriesHtml } from '../display/draft-html';
import { formHtml } from '../display/form';
import { shownAgain } from '../display/shown-again';
import type { Displayed } from '../run-block';
import { showRefused } from './submit-block';

/**
 * What a form shows that goes on with a draft which has ended (docs/reference/definitions.md#drafts), so that what was entered is not lost: for
 * reading, if the draft was sent, because sent again it would be a second record; else as the block's form for a new record.
 * @param run without the draft
 * @param block of the draft, where that is known; else the form names it
 * @returns null where there is no such block. 401 or 403 where the requester may not see it
 */
export async function showEndedDraft(
  run: Run,
  { block: id, isSent }: { block: string | undefined; isSent: boolean },
  fields: FormFields,
): Promise<{ block: Block; shown: Displayed } | null> {
  const named = id ?? textsOf(Object.hasOwn(fields, DRAFT_BLOCK) ? fields[DRAFT_BLOCK] : undefined).at(-1);
  if (named === undefined || !run.app.blocks.has(named)) return null;
  const block = permittedBlock(run, named);
  if (isSent) return { block, shown: await sentPage(run, block, fields) };
  const { say } = await localeOf(run);
  const errors = [{ path: [], message: say('draft_ended') }];
  return { block, shown: await showRefused(run, block, null, fields, { errors }) };
}

/** A form without fields, as the browser's script expects it in place of the one that was sent. */
async function sentPage(run: Run, block: Block, fields: FormFields): Promise<Displayed> {
  const { say } = await localeOf(run);
  const title = say('draft_sent');
  const errors = [{ path: [], message: title }];
  const sent = withSentFiles(block, fields, run.visit.files);
  const { entries = [] } = await shownAgain(run, block, null, sent, { errors });
  // With its message the form is not reloaded by itself.
  const submission = { entered: new Map(), repeats: new Map(), errors };
  const options = { record: null, mode: 'text', entries, submission } as const;
  const text = entries.length > 0 ? `<p>${escapeHtml(say('draft_not_sent'))}</p>` : '';
  const message = `<div class="apps-errors" role="alert"><h1>${escapeHtml(title)}</h1>${text}</div>`;
  const html = await formHtml(run, block, options, `${message}${await entriesHtml(run, options)}`);
  return { html, failed: false, isForm: true, title: nameOf(block) };
}
