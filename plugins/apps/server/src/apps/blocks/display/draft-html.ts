import { readableMinute } from '../../../common/values/moments';
import { attributes, escapeHtml } from '../../elements';
import { localeOf } from '../../run/site-locale';
import type { Run } from '../../run/types';
import type { Block } from '../../types';
import type { DisplayOptions } from './element-contents';
import { idPrefix } from './form-address';

/** The field with the address to which the link of a draft is sent; `{_draft_email}` shows it. */
export const DRAFT_EMAIL = '_draft_email';

/** The button that ends a draft, before the question and with the answer. */
export const END_DRAFT = '_revoke';

/** The field with the id of the block: the form of a draft that has ended is shown by it, when nothing else is left of the draft. */
export const DRAFT_BLOCK = '_draft_block';

/** An entry of a draft. */
export interface DraftEntry {
  label: string;
  text: string;
}

/** A draft that a form continues. */
export interface ShownDraft {
  address: string;
  /** In milliseconds since 1970. */
  endsAt: number;
  /** What the form has no field for any more, or no such value. */
  lost: readonly DraftEntry[];
}

/** The field for an e-mail address, below which a draft can be saved. It may stay empty. */
export async function draftEmailHtml(run: Run, block: Block, options: DisplayOptions): Promise<string> {
  if (!block.definition.drafts || options.mode !== 'input' || options.record !== null || !run.visit.forms) return '';
  const { say } = await localeOf(run);
  const id = `${idPrefix(run, block, options)}-${DRAFT_EMAIL}`;
  const value = options.draftEmail || undefined;
  const control = { id, type: 'email', name: DRAFT_EMAIL, value, autocomplete: 'email', maxlength: 254 };
  return `<div class="apps-field"><label for="${escapeHtml(id)}">${escapeHtml(say('draft_email'))}</label><input${attributes(control)}></div>`;
}

const list = (entries: readonly DraftEntry[]): string => {
  const rows = entries.map(({ label, text }) => `<div><dt>${escapeHtml(label)}</dt><dd>${escapeHtml(text)}</dd></div>`);
  return `<dl>${rows.join('')}</dl>`;
};

/** What stands above the form of a draft: the entries that no longer fit. '' without any. */
export async function lostHtml(run: Run, { draft }: DisplayOptions): Promise<string> {
  if (!draft || draft.lost.length === 0) return '';
  const { say } = await localeOf(run);
  return `<div class="apps-errors" role="status"><p>${escapeHtml(say('draft_lost'))}</p>${list(draft.lost)}</div>`;
}

/** What is shown in place of a form that is not shown again: the entries, for reading. '' without any. */
export async function entriesHtml(run: Run, { entries = [] }: DisplayOptions): Promise<string> {
  if (entries.length === 0) return '';
  const { say } = await localeOf(run);
  return `<section class="apps-group"><h2>${escapeHtml(say('draft_entries'))}</h2>${list(entries)}</section>`;
}

/** What stands below the form of a draft: its link, until when it works, and a button that ends it. '' for another form. */
export async function draftHtml(run: Run, { draft }: DisplayOptions): Promise<string> {
  if (!draft) return '';
  const locale = await localeOf(run);
  const moment = readableMinute(draft.endsAt, locale);
  // Without a name it is no field of the form.
  const link = attributes({ type: 'url', class: 'apps-draft-link', value: draft.address, readonly: true });
  const button = { type: 'submit', class: 'apps-action', name: END_DRAFT, value: 'ask', formnovalidate: true };
  return (
    `<div class="apps-draft"><p class="apps-note">${escapeHtml(locale.say('draft_until', { moment }))}</p>` +
    `<p><label>${escapeHtml(locale.say('draft_link'))} <input${link}></label></p>` +
    `<p><button${attributes(button)}>${escapeHtml(locale.say('draft_revoke'))}</button></p></div>`
  );
}
