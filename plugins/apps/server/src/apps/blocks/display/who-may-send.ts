import { escapeHtml } from '../../elements';
import type { Shown } from '../../run/context-data';
import { localeOf } from '../../run/locale';
import type { Run } from '../../run/types';
import type { Block } from '../../types';
import { shownElements } from '../group';
import type { DisplayOptions } from './element-contents';

/** Whether the requester may send the form of a block: make a record, or change the one that it shows. */
const maySend = ({ rights }: Run, { record }: Shown): boolean => (record ? rights.edit(record.creator) : rights.create);

/**
 * Whether the button to save is disabled: for a known requester without the right. The one of a visitor without a login
 * works, because the login keeps what was entered (docs/reference/rights.md#forms-sent-after-the-session-has-ended).
 */
export const isSaveDisabled = (run: Run, options: DisplayOptions): boolean =>
  run.visit.requester.kind !== 'anonymous' && options.mode === 'input' && !maySend(run, options);

/**
 * The sentence above a form that its requester may not send: where to log in, or that they may not. '' for other forms, and
 * for a block inside another one, which would repeat it.
 */
export async function whoMaySend(run: Run, block: Block, options: DisplayOptions): Promise<string> {
  const { visit, depth } = run;
  const isForm = depth === 0 && options.mode === 'input' && shownElements(run, block)('_save');
  if (!isForm || maySend(run, options)) return '';
  const { say } = await localeOf(run);
  if (visit.requester.kind !== 'anonymous') return note(escapeHtml(say('send_forbidden')));
  const login = `${visit.site.url}/@@login?next=${encodeURIComponent(pageOf(run))}`;
  return note(`${escapeHtml(say('send_login'))} <a href="${escapeHtml(login)}">${escapeHtml(say('login'))}</a>`);
}

const note = (html: string): string => `<p class="apps-note">${html}</p>`;

/** Path and query of the page that the form is on. */
function pageOf({ visit }: Run): string {
  const { pathname, search } = new URL((visit.parentRequest ?? visit.request).url, visit.site.url);
  return pathname + search;
}
