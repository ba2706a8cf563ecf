import { itemOf, type Json } from '../../../../../shared/json';
import { logicError } from '../../../common/errors';
import { shortWork } from '../../../common/time/pace';
import type { Region } from '../../../common/values/moments';
import {
  attributes,
  escapeHtml,
  type FormFields,
  fileFields,
  listedOptions,
  pageFields,
  toOptions,
} from '../../elements';
import { type Message, message, otherLanguage, type PageLocale } from '../../locales';
import type { Shown } from '../../run/context-data';
import { consoleOf } from '../../run/diagnostics/failures';
import { mayChange } from '../../run/own-link';
import { optionsLeft } from '../../run/places/state';
import { localeOf } from '../../run/site-locale';
import type { Run } from '../../run/types';
import type { Block, ElementDefinition, ElementOption } from '../../types';
import type { BlockSession } from '../block-session';
import { isSaved, shownElements } from '../group';
import { storedDigest, VERSION, versionText } from '../sent/form-version';
import { shownInputs } from '../sent/inputs';
import { firstPage, neighbour, pagesOf } from '../sent/pages';
import { DRAFT_BLOCK } from './draft-html';
import type { DisplayOptions } from './element-contents';
import { formAddress } from './form-address';

/** The field that people do not see, and the mark of when the form was shown. */
const TRAP = '_website';
const SHOWN = '_shown';

/** The proof of work, where the app asks for one. */
const PROOF = '_proof';

/**
 * Hidden fields against automatic messages, in a form with which anonymous may save (docs/reference/rights.md#public-forms);
 * '' in others.
 */
function guardFields(run: Run, block: Block, { say }: PageLocale): string {
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

/** Whether the requester may send the form of a block: make a record, or change the one that it shows. */
const maySend = (run: Run, { record }: Shown): boolean => (record ? mayChange(run, 'edit', record) : run.rights.create);

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
  // The login leads to no address whose token is hidden.
  const next = options.draft ? '' : `?next=${encodeURIComponent(pageOf(run))}`;
  const login = `${visit.site.url}/@@login${next}`;
  return note(`${escapeHtml(say('send_login'))} <a href="${escapeHtml(login)}">${escapeHtml(say('login'))}</a>`);
}

const note = (html: string): string => `<p class="apps-note">${html}</p>`;

/** Path and query of the page that the form is on. */
function pageOf({ visit }: Run): string {
  const { pathname, search } = new URL((visit.parentRequest ?? visit.request).url, visit.site.url);
  return pathname + search;
}

/**
 * The form around a block (docs/reference/layouts.md#the-form-around-a-block). It posts to the address of the record
 * that it shows, or of its link, or of the view of the request, or of the block. A block inside another one has no form, because forms do
 * not nest.
 */
export async function formHtml(run: Run, block: Block, options: DisplayOptions, main: string): Promise<string> {
  const { visit } = run;
  const { record } = options;
  const locale = await localeOf(run);
  const lang = otherLanguage(locale, visit.site);
  const version = versionField(run, block, options, locale);
  if (run.depth > 0)
    return `<div class="apps-record" data-apps-block="${escapeHtml(block.id)}"${lang}>${version}${main}</div>`;
  const action = options.draft?.address ?? formAddress(run, block, record);
  const ofDraft = options.draft ? `<input${attributes({ type: 'hidden', name: DRAFT_BLOCK, value: block.id })}>` : '';
  const classes = block.definition.target === 'ajax' ? 'apps-block apps-target-ajax' : 'apps-block';
  return (
    `<form name="${escapeHtml(block.id)}" class="${classes}" action="${escapeHtml(action)}" method="post"${hasFiles(block, options) ? ' enctype="multipart/form-data"' : ''}` +
    ` data-apps-settings='${settingsAttribute(run, block, options)}'${lang}>` +
    `<input type="hidden" name="_csrf" value="${escapeHtml(visit.csrfToken())}">${guardFields(run, block, locale)}${ofDraft}${version}${defaultButton(run, block, options)}${main}</form>`
  );
}

/**
 * The button that the Enter key presses: browsers take the first one of a form, which would be one that changes a repeated
 * group.
 */
function defaultButton(run: Run, block: Block, options: DisplayOptions): string {
  const { elements } = block.definition;
  const pages = pagesOf(block, shownElements(run, block));
  const hasButtons = pages.length > 0 || [...elements.values()].some(({ kind }) => kind.fields);
  if (options.mode !== 'input' || !hasButtons || !isSaved(run, block)) return '';
  const { page, hidden } = options.paged ?? firstPage(block.definition, pages, options.record);
  const isLast = neighbour(page, 1, pages.length, hidden) === page;
  const name = isLast ? '_save' : pageFields.next;
  const more = isLast ? (isSaveDisabled(run, options) ? ' disabled' : '') : ' data-apps-stay';
  return `<button type="submit" name="${name}" value="1" tabindex="-1" hidden${more}></button>`;
}

/** The version of the record whose form is shown (docs/reference/layouts.md#two-people-who-edit-one-record). */
function versionField(run: Run, block: Block, options: DisplayOptions, region: Region): string {
  const { record, mode, submission, version } = options;
  if (!record || mode !== 'input' || !isSaved(run, block)) return '';
  const digests = shownInputs(block, shownElements(run, block)).map((element): [string, string] => {
    const { name } = element;
    const sent = submission?.entered.has(name) ? version?.digests.get(name) : undefined;
    return [name, sent ?? storedDigest(element, itemOf(record.items, name), region)];
  });
  return `<input type="hidden" name="${VERSION}" value="${escapeHtml(versionText(record, digests))}">`;
}

/** Whether a form may send files. */
const hasFiles = ({ definition }: Block, { mode }: DisplayOptions): boolean =>
  mode === 'input' && fileFields(definition).size > 0;

/** Settings of the browser script, with the run's console entries so far. */
function settingsAttribute(run: Run, block: Block, options: DisplayOptions): string {
  const { debug } = run.app.settings;
  const { target } = block.definition;
  const settings = { app: run.app.id, block: block.id, target, debug, ...freshness(run, block, options) };
  const log = consoleOf(run);
  const json = JSON.stringify(debug || log.length > 0 ? { ...settings, log } : settings);
  return json.replace(/&/g, '&amp;').replace(/'/g, '&#39;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

/** When the block reloads; a form that shows entries, messages or a record's inputs does not. */
function freshness(
  { reads, since, services }: Run,
  block: Block,
  { record, mode, submission }: DisplayOptions,
): object {
  const { refresh } = block.definition;
  const holdsEntries = [...(submission?.entered.values() ?? [])].some((texts) => texts.some((text) => text !== ''));
  const isKept = holdsEntries || (submission?.errors.length ?? 0) > 0 || (record && mode === 'input');
  if (refresh === null || isKept) return {};
  if (refresh !== 'on-change') return { refresh };
  const { live, any } = reads.list();
  const [tokens, wider] = [live.map(services.live.token), any.map(services.live.token)];
  return { refresh, since, live: tokens, ...(wider.join().length < tokens.join().length && { any: wider }) };
}

/**
 * Options of every element that has any: from its definition, or computed by its function `<element>_options`, which
 * returns a list of values or of `{value, label}` (docs/reference/definitions.md#keys-of-an-element). LogicError for
 * another result.
 */
export async function optionsOf(
  session: BlockSession,
  elements: readonly ElementDefinition[],
): Promise<Map<string, readonly ElementOption[]>> {
  const computed = elements.filter((element) => !listedOptions(element) && session.has(functionOf(element)));
  const values = await session.run(computed.map(functionOf));
  const options = new Map<string, readonly ElementOption[]>();
  for (const element of elements) {
    const listed = listedOptions(element);
    if (listed) options.set(element.name, listed);
  }
  for (const element of computed) {
    const given = values.get(functionOf(element)) ?? [];
    options.set(element.name, (await shortWork(() => toOptions(given))) ?? fail(element));
  }
  return options;
}

/**
 * The options of a form's element with what is left of those that have a limit, as text: `Monday (3 left)`, `Monday (full)`. What the
 * record has chosen already stays.
 * @param stored the value of the record whose form is shown
 */
export async function withPlaces(
  run: Run,
  block: Block,
  element: ElementDefinition,
  options: readonly ElementOption[],
  { stored, say }: { stored: Json | undefined; say: PageLocale['say'] },
): Promise<readonly ElementOption[]> {
  if (!block.definition.places?.limited.includes(element.name)) return options;
  const left = await optionsLeft(run, run.app, block, element);
  const own = new Set([stored ?? null].flat().map(String));
  return options.map((option) => {
    const { value, label } = option;
    const count = left.get(String(value));
    if (count === undefined || own.has(String(value))) return option;
    if (count > 0) return { ...option, label: say('option_left', { label, count }) };
    return { ...option, label: say('option_full', { label }), isFull: true };
  });
}

function functionOf(element: ElementDefinition): string {
  return `${element.name}_options`;
}

function fail(element: ElementDefinition): never {
  throw logicError(`${functionOf(element)} must return a list of values or of {value, label}`);
}
