import { AppsError } from '../../../common/errors';
import { asciiAddress } from '../../../common/text';
import { readableMinute } from '../../../common/time/moments';
import { fieldOf, type StoredFile, type TemporaryFile } from '../../../files';
import type { NewDraft } from '../../../links/types';
import { type FormFields, fileFields, readFiles, STORED, sentEntries } from '../../elements';
import { type Message, message } from '../../locales';
import { isAddress } from '../../mail';
import { requireStored } from '../../run/files';
import { continuedDraft, draftAddress } from '../../run/own-link';
import { queueReceipt } from '../../run/places/confirmation';
import { type FormError, FormRefusal } from '../../run/refusals';
import { keyOf } from '../../run/run';
import type { Run } from '../../run/types';
import { localeOf, makerOf, nameOf } from '../../run/visits';
import type { Block } from '../../types';
import { DRAFT_EMAIL, guardProblem } from '../display/form';
import { formSources } from '../display/shown-again';
import { isSaved, shownElements } from '../group';
import { draftFields } from '../sent/draft-content';
import type { SentFields } from '../sent/inputs';
import { pagesOf } from '../sent/pages';

const MINUTE = 60_000;

/** A draft that was saved. */
export interface SavedDraft {
  kind: 'draft';
  /** No token. */
  draftId: string;
  /** In milliseconds since 1970. */
  endsAt: number;
  created: boolean;
  /** Whether its link is sent by mail; null: that was not asked for. */
  isMailed: boolean | null;
}

/**
 * Stores what a form has sent as a draft (docs/reference/definitions.md#drafts): no field has to be filled in or right, but files must be such
 * as their fields take. No function of the logic runs, and the block need not be open. A FormRefusal for what cannot be stored.
 * @param mayCreate throws 401 or 403 where the requester may not send the form
 */
export async function saveDraft(run: Run, block: Block, form: SentFields, mayCreate: () => void): Promise<SavedDraft> {
  const { visit, services } = run;
  if (!block.definition.drafts || !isSaved(run, block) || visit.sender === undefined)
    throw new AppsError('BadRequestError', `The block "${block.id}" keeps no drafts`);
  if (!visit.writes.records) throw new AppsError('CsrfError', 'Saving a draft needs a POST request');
  mayCreate();
  const email = await requireSendable(run, block, form);
  const content = await contentOf(run, block, form);
  const open = continuedDraft(run, block);
  const draft: NewDraft = {
    draftId: open?.draft.draftId ?? services.drafts.newId(),
    key: keyOf(run),
    block: block.id,
    owner: open?.draft.owner ?? makerOf(run),
    sender: visit.sender,
    content,
    // At a whole minute, as people read it.
    endsAt: Math.ceil((Date.now() + run.app.settings.keepDrafts) / MINUTE) * MINUTE,
  };
  await requireRoom(run, draft);
  run.unit.atCommit(services.drafts.save(draft, open === null));
  run.files.handOver(draft.key, open?.draft.content.files ?? [], content.files);
  const { draftId, endsAt } = draft;
  const saved: SavedDraft = { kind: 'draft', draftId, endsAt, created: open === null, isMailed: null };
  if (email !== null) await mailLink(run, block, saved, email);
  return saved;
}

/** The address in a form, '' for none, or the message about a value that is none: in JSON it may have any type. */
function emailIn(fields: FormFields): string | Message {
  const value: unknown = Object.hasOwn(fields, DRAFT_EMAIL) ? fields[DRAFT_EMAIL] : '';
  if (typeof value !== 'string') return message('text');
  const email = value.trim();
  return email === '' || isAddress(email) ? email : message('email');
}

/** The address for the link, null for none. Refuses automatic forms, values of another type in JSON, and what is no address. */
async function requireSendable(run: Run, block: Block, { fields, wrong }: SentFields): Promise<string | null> {
  const { say } = await localeOf(run);
  const automatic = guardProblem(run, block, fields);
  const errors: FormError[] = automatic === null ? [] : [{ path: [], message: say(automatic.key) }];
  for (const { path, message: text } of [...wrong.values()].flat())
    errors.push({ path, message: say(text.key, text.values) });
  const email = emailIn(fields);
  if (typeof email !== 'string') errors.push({ path: [DRAFT_EMAIL], message: say(email.key) });
  if (errors.length > 0) throw new FormRefusal(errors, run.budget);
  return typeof email === 'string' && email !== '' ? asciiAddress(email) : null;
}

/** What is kept of a form, with its files stored. A FormRefusal for files that their fields do not take. */
async function contentOf(run: Run, block: Block, { fields, named }: SentFields): Promise<NewDraft['content']> {
  const shows = shownElements(run, block);
  const kept = draftFields(block, fields, shows, pagesOf(block, shows));
  const { files: request } = run.visit;
  const sources = formSources(run, block, null, named);
  const known = fileFields(block.definition);
  const { say } = await localeOf(run);
  const found = new Map<string, readonly (StoredFile | TemporaryFile)[]>();
  const errors: FormError[] = [];
  for (const [name, texts] of Object.entries(kept.fields)) {
    const field = fieldOf(name);
    const element = field === null ? undefined : known.get(field);
    if (field === null || !element) continue;
    const read = await readFiles(field, { ...element, required: false }, texts, sources);
    if ('files' in read) found.set(name, read.files);
    else errors.push({ path: pathOf(block, fields, name), message: say(read.error.key, read.error.values) });
  }
  if (errors.length > 0) throw new FormRefusal(errors, run.budget);
  requireStored(block, [...found.values()].flat(), request, true);
  const stored = new Map<string, StoredFile>();
  const textOf = (file: StoredFile | TemporaryFile): string[] => {
    const one = 'token' in file ? request?.stored(file) : file;
    if (one) stored.set(one.documentId, one);
    return one ? [`${STORED}${one.documentId}`] : [];
  };
  const texts = [...found].map(([name, files]) => [name, files.flatMap(textOf)] as const);
  return { ...kept, fields: { ...kept.fields, ...Object.fromEntries(texts) }, files: [...stored.values()] };
}

/** The path of a field, in which an entry of a repeated group is named by its position. */
function pathOf({ definition }: Block, fields: FormFields, name: string): string[] {
  const [head = '', number, field] = name.split(':');
  if (number === undefined || field === undefined) return [name];
  const position = sentEntries(definition, fields).get(head)?.numbers.indexOf(Number(number)) ?? 0;
  return [head, String(position), field];
}

/** Refuses a draft beyond the bounds of its sender, or of the app: what was entered is shown again. */
async function requireRoom(run: Run, draft: NewDraft): Promise<void> {
  const full = await run.unit.alongside(() => run.services.drafts.full(draft));
  if (full === null) return;
  const { say } = await localeOf(run);
  throw new FormRefusal([{ path: [], message: say(full === 'sender' ? 'draft_many' : 'draft_full') }], run.budget);
}

/**
 * Queues the mail with the link of a draft: a fixed text in which nothing is what the visitor has entered, within the limits of receipts,
 * because anybody can enter any address.
 */
async function mailLink(run: Run, block: Block, saved: SavedDraft, address: string): Promise<void> {
  const { visit, services, app } = run;
  const locale = await localeOf(run);
  const name = nameOf(block);
  const link = draftAddress({ services, site: visit.site, app }, saved.draftId);
  const moment = readableMinute(saved.endsAt, locale);
  const subject = locale.say('draft_mail_subject', { name });
  const text = `${locale.say('draft_mail', { name, moment })}\n\n${link}`;
  saved.isMailed = true;
  const dropped = () => {
    saved.isMailed = false;
  };
  await queueReceipt(run, { address, subject, text, html: '', calendar: null, isNeeded: false, dropped });
}
