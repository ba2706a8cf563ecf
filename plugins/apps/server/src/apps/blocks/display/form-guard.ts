import { escapeHtml } from '../../elements';
import { type Message, message, type PageLocale } from '../../locales';
import type { Run } from '../../run/types';
import type { Block } from '../../types';
import { isSaved } from '../group';
import type { FormFields } from '../sent/form';

/** The field that people do not see, and the mark of when the form was shown. */
const TRAP = '_website';
const SHOWN = '_shown';

/** The proof of work, where the app asks for one. */
const PROOF = '_proof';

/**
 * Hidden fields against automatic messages, in a form with which anonymous may save (docs/reference/rights.md#public-forms);
 * '' in others.
 */
export function guardFields(run: Run, block: Block, { say }: PageLocale): string {
  const { visit, app } = run;
  if (visit.requester.kind !== 'anonymous' || !visit.forms || !hasTrap(run, block)) return '';
  const mark = escapeHtml(visit.forms.shown(app.id, block.id));
  return (
    `<input type="hidden" name="${SHOWN}" value="${mark}"><div hidden><label>${escapeHtml(say('leave_empty'))} ` +
    `<input type="text" name="${TRAP}" tabindex="-1" autocomplete="off"></label></div>${proofField(run, say)}`
  );
}

function proofField({ app, visit }: Run, say: PageLocale['say']): string {
  if (!app.settings.proofOfWork || !visit.forms) return '';
  const task = escapeHtml(visit.forms.challenge(app.id));
  const needsScript = `<noscript><p class="apps-error">${escapeHtml(say('needs_script'))}</p></noscript>`;
  return `<input type="hidden" name="${PROOF}" data-apps-challenge="${task}">${needsScript}`;
}

/** Whether the form saves; a block whose own element has the name of the trap has none. */
function hasTrap(run: Run, block: Block): boolean {
  return !block.definition.elements.has(TRAP) && block.layout !== null && isSaved(run, block);
}

/**
 * Why a saved form of anonymous is taken for automatic; null where it is not. A form without the fields passes, because a
 * client that is not a browser need not send them; so does JSON, and one of which the browser says that a person has sent it.
 */
export function guardProblem(run: Run, block: Block, fields: FormFields): Message | null {
  const { visit, app, services } = run;
  const { requester, forms, request } = visit;
  if (requester.kind !== 'anonymous' || !forms || !hasTrap(run, block)) return null;
  if (forms.problem !== undefined) return message(forms.problem);
  // The hidden fields are of a page: a client that sends JSON has not filled in one.
  if (request.body !== null) return null;
  if (Object.hasOwn(fields, TRAP) && [fields[TRAP]].flat().some((one) => String(one ?? '') !== ''))
    return message('automatic');
  const mark = Object.hasOwn(fields, SHOWN) ? fields[SHOWN] : undefined;
  const isByPerson = request.headers['sec-fetch-user'] === '?1';
  // Only a browser says where the form came from: other clients may send the hidden fields of the form back at once.
  if (typeof mark !== 'string' || isByPerson || request.headers['sec-fetch-site'] === undefined) return null;
  const age = forms.age(app.id, block.id, mark);
  return age !== null && age < services.config.limits.formTime ? message('early') : null;
}
