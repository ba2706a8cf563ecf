import { itemOf, type Json } from '../../../../../shared/json';
import { logicError } from '../../../common/errors';
import { type Region, readableMinute } from '../../../common/time/moments';
import { shortWork } from '../../../common/time/pace';
import type { PlacesData } from '../../../logic/types';
import {
  attributes,
  escapeHtml,
  type FormFields,
  fileFields,
  listedOptions,
  pageFields,
  type ReservedField,
  toOptions,
} from '../../elements';
import { type Message, message, otherLanguage, type PageLocale } from '../../locales';
import { blockAddress, queryAttribute, type Shown } from '../../run/context-data';
import { consoleOf } from '../../run/diagnostics/failures';
import { mayChange, ownsByLink } from '../../run/own-link';
import { optionsLeft, placeText } from '../../run/places/rules';
import type { Run } from '../../run/types';
import { localeOf } from '../../run/visits';
import type { Block, ElementDefinition, ElementOption } from '../../types';
import type { BlockSession } from '../block-session';
import { isSaved, shownElements } from '../group';
import { shownInputs, storedDigest, VERSION, versionText } from '../sent/inputs';
import { neighbour, type PageState } from '../sent/pages';
import type { DisplayOptions } from './element-contents';

/** Makes ids of controls unique among the blocks of a page, and among the records that one block shows. */
export function idPrefix(run: Run, block: Block, { record }: Shown): string {
  const prefix = `apps-${run.app.id}-${block.id}`;
  return run.depth > 0 && record ? `${prefix}-${encodeURIComponent(record.id)}` : prefix;
}

/** A block inside another one has no form, because forms do not nest: its buttons have the address instead. */
export function formActionOf(run: Run, block: Block, { record }: Shown): string | undefined {
  if (run.depth === 0) return undefined;
  const { urls } = run.services.sites;
  const { site, contentPath } = run.visit;
  return record
    ? urls.record(site, run.app.id, record.id, contentPath)
    : urls.block(site, run.app.id, block.id, contentPath);
}

/** Where the form of a block posts to: the record that it shows, by its link where the request has it; else the block. */
function formAddress(run: Run, block: Block, record: Shown['record']): string {
  const { visit, services, app } = run;
  if (!record) return blockAddress(run, block.id);
  if (visit.own && ownsByLink(visit, app.id, record)) return visit.own.address;
  return services.sites.urls.record(visit.site, app.id, record.id, visit.contentPath);
}

/** The field with the address to which the link of a draft is sent; `{_draft_email}` shows it. */
export const DRAFT_EMAIL = '_draft_email' satisfies ReservedField;

/** The button that ends a draft, before the question and with the answer. */
export const END_DRAFT = '_revoke' satisfies ReservedField;

/** The field with the id of the block: the form of a draft that has ended is shown by it, when nothing else is left of the draft. */
export const DRAFT_BLOCK = '_draft_block' satisfies ReservedField;

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
export function lostHtml({ say }: PageLocale, { draft }: DisplayOptions): string {
  if (!draft || draft.lost.length === 0) return '';
  return `<div class="apps-errors" role="status"><p>${escapeHtml(say('draft_lost'))}</p>${list(draft.lost)}</div>`;
}

/** What is shown in place of a form that is not shown again: the entries, for reading. '' without any. */
export function entriesHtml({ say }: PageLocale, { entries = [] }: DisplayOptions): string {
  if (entries.length === 0) return '';
  return `<section class="apps-group"><h2>${escapeHtml(say('draft_entries'))}</h2>${list(entries)}</section>`;
}

/** What stands below the form of a draft: its link, until when it works, and a button that ends it. '' for another form. */
export function draftHtml(locale: PageLocale, { draft }: DisplayOptions): string {
  if (!draft) return '';
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

/** The field that people do not see, and the mark of when the form was shown. */
const TRAP = '_website' satisfies ReservedField;
const SHOWN = '_shown' satisfies ReservedField;

/** The proof of work, where the app asks for one. */
const PROOF = '_proof' satisfies ReservedField;

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
export function whoMaySend(run: Run, block: Block, options: DisplayOptions, { say }: PageLocale): string {
  const { visit, depth } = run;
  const isForm = depth === 0 && options.mode === 'input' && shownElements(run, block)('_save');
  if (!isForm || maySend(run, options)) return '';
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

/** What the form around a block holds. */
interface FormContent {
  locale: PageLocale;
  main: string;
  /** Where the visitor is, in a form with pages. */
  paged?: PageState | undefined;
  /** Whether it holds entries, which would be lost if the block were fetched again. */
  isEntered?: boolean;
}

/**
 * The form around a block (docs/reference/layouts.md#the-form-around-a-block). It posts to the address of the record
 * that it shows, or of its link, or of the view of the request, or of the block. A block inside another one has no form, because forms do
 * not nest.
 */
export function formHtml(
  run: Run,
  block: Block,
  options: DisplayOptions,
  { locale, main, paged, isEntered = false }: FormContent,
): string {
  const { visit } = run;
  const { record } = options;
  const lang = otherLanguage(locale, visit.site);
  const version = versionField(run, block, options, locale);
  if (run.depth > 0)
    return `<div class="apps-record" data-apps-block="${escapeHtml(block.id)}"${lang}>${version}${main}</div>`;
  const action = options.draft?.address ?? formAddress(run, block, record);
  const ofDraft = options.draft ? `<input${attributes({ type: 'hidden', name: DRAFT_BLOCK, value: block.id })}>` : '';
  const classes = block.definition.target === 'ajax' ? 'apps-block apps-target-ajax' : 'apps-block';
  return (
    `<form name="${escapeHtml(block.id)}" class="${classes}" action="${escapeHtml(action)}" method="post"${hasFiles(block, options) ? ' enctype="multipart/form-data"' : ''}` +
    ` data-apps-settings='${settingsAttribute(run, block, options, isEntered)}'${visit.shownQuery ?? queryAttribute(visit)}${lang}>` +
    `<input type="hidden" name="_csrf" value="${escapeHtml(visit.csrfToken())}">${guardFields(run, block, locale)}${ofDraft}${version}${defaultButton(run, block, options, paged)}${main}</form>`
  );
}

/**
 * The button that the Enter key presses: browsers take the first one of a form, which would be one that changes a repeated
 * group.
 */
function defaultButton(run: Run, block: Block, options: DisplayOptions, paged: PageState | undefined): string {
  const { elements, pages } = block.definition;
  const hasButtons = paged || [...elements.values()].some(({ kind }) => kind.fields);
  if (options.mode !== 'input' || !hasButtons || !isSaved(run, block)) return '';
  const isLast = !paged || neighbour(paged.page, 1, pages?.length ?? 0, paged.hidden) === paged.page;
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
function settingsAttribute(run: Run, block: Block, options: DisplayOptions, isEntered: boolean): string {
  const { debug } = run.app.settings;
  const { target } = block.definition;
  const settings = { app: run.app.id, block: block.id, target, debug, ...freshness(run, block, options, isEntered) };
  const log = consoleOf(run);
  const json = JSON.stringify(debug || log.length > 0 ? { ...settings, log } : settings);
  return json.replace(/&/g, '&amp;').replace(/'/g, '&#39;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

/** When the block reloads; a form that shows entries, messages or a record's inputs does not. */
function freshness(
  { reads, since, services }: Run,
  block: Block,
  { record, mode, submission }: DisplayOptions,
  isEntered: boolean,
): object {
  const { refresh } = block.definition;
  const isKept = isEntered || (submission?.errors.length ?? 0) > 0 || (record && mode === 'input');
  if (refresh === null || isKept) return {};
  if (refresh !== 'on-change') return { refresh };
  const { live, any } = reads.list();
  const [tokens, wider] = [live.map(services.live.token), any.map(services.live.token)];
  return { refresh, since, live: tokens, ...(wider.join().length < tokens.join().length && { any: wider }) };
}

/** Whether an element has options, listed or computed. */
export const hasOptions = (session: BlockSession, element: ElementDefinition): boolean =>
  listedOptions(element) !== undefined || session.has(functionOf(element));

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

/** Whether a form makes a record: it has a save button, and shows no record. */
const makesRecord = (run: Run, block: Block, { record, mode }: DisplayOptions): boolean =>
  record === null && mode === 'input' && isSaved(run, block);

/**
 * What stands in place of a form whose block takes no records now: a text in a form without fields, which the browser's script
 * reloads like any other. Null where the block takes records.
 */
export async function shutForm(
  run: Run,
  block: Block,
  options: DisplayOptions,
  places: PlacesData | null,
): Promise<string | null> {
  const rules = block.definition.places;
  if (!rules || !places || places.state === 'open' || !makesRecord(run, block, options)) return null;
  if (places.state === 'full' && rules.waitingList) return null;
  const locale = await localeOf(run);
  const text = placeText(rules, places.state, locale);
  const { submission: _refused, ...shown } = options;
  const draft = `${entriesHtml(locale, options)}${draftHtml(locale, options)}`;
  return formHtml(run, block, shown, { locale, main: `<p class="apps-note">${escapeHtml(text)}</p>${draft}` });
}

/** The sentence above a form that adds to a waiting list; else ''. */
export function waitingNote(
  run: Run,
  block: Block,
  options: DisplayOptions,
  { places, say }: { places: PlacesData | null; say: PageLocale['say'] },
): string {
  const waits = places?.state === 'full' && block.definition.places?.waitingList;
  if (!waits || !makesRecord(run, block, options)) return '';
  return `<p class="apps-note">${escapeHtml(say('place_waits'))}</p>`;
}
