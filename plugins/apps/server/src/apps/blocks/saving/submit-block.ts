import { lazily } from '../../../common/collections';
import { AppsError, notFound } from '../../../common/errors';
import { isUnconfirmed } from '../../../indexes';
import type { StoredRecord } from '../../../records/types';
import {
  builtInActions,
  buttonOf,
  escapeHtml,
  type FormFields,
  fieldsAgain,
  filesAgain,
  filesNamed,
  pageFields,
  placeOfFile,
  publicFiles,
  roleOf,
  textsOf,
  withSentFiles,
} from '../../elements';
import { requireStored } from '../../run/files';
import { continuedDraft, knownLink } from '../../run/own-link';
import { requirePlace } from '../../run/places/settle';
import { FormRefusal, refuseInvalid } from '../../run/refusals';
import { redirectOf } from '../../run/response';
import { keyOf } from '../../run/run';
import type { Run } from '../../run/types';
import { localeOf, makerOf, nameOf, permittedBlock } from '../../run/visits';
import type { Block } from '../../types';
import { type BlockSession, withSession } from '../block-session';
import type { DisplayOptions } from '../display/element-contents';
import { DRAFT_BLOCK, entriesHtml, formHtml } from '../display/form';
import { questionHtml, unanswered } from '../display/form-pages';
import { formSources, hasUnseenPage, onlyShows, shownAgain, shownDraft } from '../display/shown-again';
import { isSaved, shownElements } from '../group';
import { beforeElements, type Displayed, displayBlock, renderBlock } from '../run-block';
import type { SentFields } from '../sent/inputs';
import { currentPage, isPageMove, namesOn, pagesOf } from '../sent/pages';
import { withoutNames } from './checked-items';
import { notifyOfSave, sendReceipt } from './notify';
import { moveRecord } from './record-operations';
import { type SavedDraft, saveDraft } from './save-draft';
import { changedRecord, deleteInSession, saveInSession } from './save-record';
import { checkSubmission, fixedItems, readSubmission, type SubmittedFields, unreadFor } from './submission';

/** The outcome of a posted form. */
export type Submitted =
  | (Displayed & { kind: 'shown' })
  | {
      kind: 'saved';
      record: StoredRecord;
      created: boolean;
      redirect: string | null;
      /** The id of the link that its maker gets, which is no token; null without one. */
      link: string | null;
      /** Whether the record waits until the address in it is confirmed. */
      isUnconfirmed: boolean;
    }
  | SavedDraft
  | { kind: 'deleted'; redirect: string | null }
  | { kind: 'edit' };

/**
 * Rights that saving and deleting by the form need (docs/reference/rights.md#blocks-view_permission): throw 401 or 403
 * where the requester lacks them.
 */
interface SubmitRights {
  save(): void;
  delete(): void;
  /** Whether an action with a question waits for its answer; a JSON client is not asked. */
  asks?: boolean;
}

const ACTION = 'action.';

/** The names of the actions that a form asks for. */
const actionsIn = (fields: FormFields): string[] =>
  Object.keys(fields).flatMap((name) => (name.startsWith(ACTION) ? [name.slice(ACTION.length)] : []));

/**
 * Processes a block's posted form: `on_display`, `action.<element>` functions, then `_delete`, `_edit` or `_save`; a button of `_state` does
 * nothing else
 * (docs/reference/layouts.md#posting-a-form). Without any of them the block is shown again, with what was entered. A
 * FormRefusal for wrong fields, and for what the block's own logic refuses.
 */
export async function submitBlock(
  run: Run,
  block: Block,
  record: StoredRecord | null,
  { fields: sent, ...more }: SentFields,
  rights: SubmitRights,
): Promise<Submitted> {
  const fields = withSentFiles(block, sent, run.visit.files);
  const form = { fields, ...more };
  const state = record && block.definition.states && Object.hasOwn(fields, '_state') ? fields._state : undefined;
  if (record && typeof state === 'string')
    return {
      kind: 'saved',
      record: await moveRecord(run, record, state),
      created: false,
      redirect: null,
      link: null,
      isUnconfirmed: false,
    };
  const question = rights.asks ? unanswered(block, fields) : null;
  if (question) {
    refuseLost(run, await shownAgain(run, block, record, fields));
    const files = await filesAgain(block, fields, formSources(run, block, record));
    const draft = record ? undefined : shownDraft(run, block)?.draft;
    const options = { record, mode: record ? 'text' : 'input', ...(draft && { draft }) } as const;
    const html = await questionHtml(run, block, options, question, fieldsAgain(block, fields, files));
    return { kind: 'shown', html, title: block.id, failed: false, isForm: true };
  }
  if (!record && Object.hasOwn(fields, '_draft')) return saveDraft(run, block, form, rights.save);
  return withSession(run, block, record, async (session) => {
    const shows = onlyShows(block, fields);
    const redirect =
      (await beforeElements(run, session)) ?? (shows ? null : await runActions(run, block, session, record, form));
    if (redirect !== null) return { kind: 'shown', redirect };
    const submitted = submittedFields(run, block, session, record, form);
    if (isPageMove(fields)) await checkPage(run, block, session, submitted);
    if (!shows && record && Object.hasOwn(fields, '_delete')) {
      rights.delete();
      return { kind: 'deleted', redirect: await deleteInSession(run, session, record) };
    }
    if (!shows && record && Object.hasOwn(fields, '_edit')) return { kind: 'edit' };
    const itemsFor = async () => ({ ...record?.items, ...(await unreadFor(block, submitted.unread)) });
    if (!shows && Object.hasOwn(fields, '_save') && !(await hasUnseenPage(run, block, fields, itemsFor)))
      return save(run, block, session, record, submitted, rights);
    const again = await shownAgain(run, block, record, fields, { errors: [] }, rights.asks);
    // What an action has done stays, whatever the form has lost.
    if (actionsIn(fields).length === 0) refuseLost(run, again);
    const current = record && (await run.unit.get(keyOf(run), record.id));
    const options = { ...again, record: current };
    return { kind: 'shown', ...(await renderBlock(run, block, session, options)) };
  });
}

/**
 * The form again after a FormRefusal, with what was entered and the messages; in an attempt of its own, whose changes are
 * dropped, because the refused one has changed what its functions read.
 */
export async function showRefused(
  run: Run,
  block: Block,
  record: StoredRecord | null,
  fields: FormFields,
  refused: Pick<FormRefusal, 'errors'> & Partial<Pick<FormRefusal, 'conflicts'>>,
): Promise<Displayed> {
  const sent = withSentFiles(block, fields, run.visit.files);
  return displayBlock(run, block, await shownAgain(run, block, record, sent, refused));
}

/**
 * Throws a FormRefusal for wrong fields of the page that a visitor leaves with its button to the next one. The fields before
 * them are read too, because of conditions.
 */
async function checkPage(run: Run, block: Block, session: BlockSession, submitted: SubmittedFields): Promise<void> {
  const { fields } = submitted;
  const shows = shownElements(run, block);
  const pages = pagesOf(block, shows);
  if (pages.length === 0 || Object.hasOwn(fields, pageFields.back)) return;
  const here = new Set(namesOn(block.definition, pages[currentPage(fields, pages.length)]));
  const submission = await readSubmission(run, block, session, submitted);
  const errors = submission.errors.filter(({ path }) => here.has(path[0] ?? ''));
  if (errors.length > 0) throw new FormRefusal(errors, run.budget);
}

/** Throws a FormRefusal where a form that is shown again has lost files. */
function refuseLost(run: Run, { submission }: DisplayOptions): void {
  if (submission && submission.errors.length > 0) throw new FormRefusal(submission.errors, run.budget);
}

/** The fields of a form for their checks: of the inputs that the layout shows and the form does not keep as they are stored. */
function submittedFields(
  run: Run,
  block: Block,
  session: BlockSession,
  record: StoredRecord | null,
  { kept, ...form }: SentFields,
): SubmittedFields {
  const isShown = shownElements(run, block);
  const shows = (name: string) => isShown(name) && !kept?.has(name);
  return {
    ...form,
    shows,
    unread: lazily(async () => (record ? {} : fixedItems(block, session, shows))),
    sources: formSources(run, block, record, form.named),
    ...(record && { before: changedRecord(record, form.fields) }),
  };
}

async function runActions(
  run: Run,
  block: Block,
  session: BlockSession,
  record: StoredRecord | null,
  form: SentFields,
): Promise<string | null> {
  const submitted = submittedFields(run, block, session, record, form);
  for (const name of actionsIn(form.fields)) {
    const element = block.definition.elements.get(name);
    if (roleOf(element) !== 'action' || element?.verify || builtInActions.has(name)) {
      throw notFound(`The block "${block.id}" has no action "${name}"`);
    }
    if (buttonOf(element).validates) await checkSubmission(run, block, session, submitted);
    const redirect = redirectOf(run, (await session.run([name], true)).get(name));
    refuseInvalid(run);
    if (redirect !== null) return redirect;
  }
  return null;
}

/** Ends the draft that has become a record, in its transaction. Files that the record names are the record's then. */
function endDraft(run: Run, block: Block, { items }: StoredRecord): void {
  const open = continuedDraft(run, block);
  if (!open) return;
  const { draft } = open;
  const { files, drafts } = run.services;
  run.unit.atCommit(drafts.sent(draft));
  run.files.handOver(draft.key, draft.content.files, filesNamed(block, items));
  // A draft has its files privately, whatever their elements say.
  run.unit.afterCommit(async () => {
    for (const file of await files.privateFiles(publicFiles(block, items))) {
      const { id, site, app, documentId } = file;
      const listed = { id, site, app, documentId, isPrivate: true, stored: file };
      await files.moves.toPublic(listed, placeOfFile(run.app, items, documentId)?.folder);
    }
  });
}

async function save(
  run: Run,
  block: Block,
  session: BlockSession,
  record: StoredRecord | null,
  submitted: SubmittedFields,
  rights: SubmitRights,
): Promise<Submitted> {
  if (!isSaved(run, block)) throw new AppsError('BadRequestError', `The block "${block.id}" has no save button`);
  if (!run.visit.writes.records) throw new AppsError('CsrfError', 'Saving needs a POST request');
  rights.save();
  if (!record) await requirePlace(run, block);
  const { files } = run.visit;
  const submission = await checkSubmission(run, block, session, submitted);
  requireStored(block, submission.files, files);
  const { items } = submission;
  const key = keyOf(run);
  const creator = makerOf(run);
  const saved = record
    ? await run.unit.update(key, record.id, { set: items })
    : await run.unit.create(key, {
        items: { ...withoutNames(await submitted.unread(), submission.hidden), ...items, block: block.id },
        creator,
      });
  const done = await saveInSession(run, block, session, saved, {
    creation: !record,
    choosesId: !record,
    issuesLink: !record,
  });
  if (!record) {
    endDraft(run, block, done.record);
    await sendReceipt(run, block, done.record);
  }
  await notifyOfSave(run, block, done.record, !record);
  const link = knownLink(run, done.record.id);
  const unconfirmed = !record && isUnconfirmed(done.record.items);
  return {
    kind: 'saved',
    record: done.record,
    created: !record,
    redirect: done.redirect,
    link,
    isUnconfirmed: unconfirmed,
  };
}

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
  const locale = await localeOf(run);
  const { say } = locale;
  const title = say('draft_sent');
  const errors = [{ path: [], message: title }];
  const sent = withSentFiles(block, fields, run.visit.files);
  const { entries = [] } = await shownAgain(run, block, null, sent, { errors });
  // With its message the form is not reloaded by itself.
  const submission = { entered: new Map(), repeats: new Map(), errors };
  const options = { record: null, mode: 'text', entries, submission } as const;
  const text = entries.length > 0 ? `<p>${escapeHtml(say('draft_not_sent'))}</p>` : '';
  const message = `<div class="apps-errors" role="alert"><h1>${escapeHtml(title)}</h1>${text}</div>`;
  const html = formHtml(run, block, options, { locale, main: `${message}${entriesHtml(locale, options)}` });
  return { html, failed: false, isForm: true, title: nameOf(block) };
}
