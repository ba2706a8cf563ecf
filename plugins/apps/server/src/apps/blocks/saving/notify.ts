import { createHash } from 'node:crypto';
import { type Items, itemOf, type Json } from '../../../../../shared/json';
import { errorText, isAppsError } from '../../../common/errors';
import { serverTimeZone } from '../../../common/time/cron';
import { isoMoment, momentInZone } from '../../../common/time/moments';
import { isUnconfirmed, MAKER, NOTIFY } from '../../../indexes';
import { escapeHtml } from '../../../layouts';
import { calendarFile } from '../../../mail';
import type { AppKey, StoredRecord } from '../../../records/types';
import type { Site } from '../../../sites/types';
import { valueInTitle } from '../../elements';
import type { PageLocale } from '../../locales';
import { checkedMail, filledLine, isAddress, mailLimits } from '../../mail';
import { queueNotice, requesterAddress } from '../../run/calls-out';
import { addNote, folderOf } from '../../run/diagnostics/failures';
import { linkOfRecord, withLink } from '../../run/own-link';
import { confirm, notifyLater, queueReceipt, receiptAddress } from '../../run/places/confirmation';
import { announceState } from '../../run/places/record-states';
import { settlePlaces } from '../../run/places/settle';
import { keyOf, nestedRun } from '../../run/run';
import type { Run } from '../../run/types';
import { localeOf, nameOf } from '../../run/visits';
import type { Block, Notify, Receipt } from '../../types';
import { displayBlock } from '../run-block';
import { ownItems } from './checked-items';
import { mailLines } from './readable-values';

/**
 * Queues the mail of the block's `notify` for a record that its form has saved (docs/reference/definitions.md#notify). A mail
 * that cannot be made or sent does not fail the request, so that what the visitor has entered is not lost: the log, and
 * the console of those who see details, say why. That of a new record which must be confirmed waits for it.
 */
export async function notifyOfSave(run: Run, block: Block, record: StoredRecord, created: boolean): Promise<void> {
  const { notify } = block.definition;
  if (!notify || !(created || notify.onUpdate)) return;
  if (!isUnconfirmed(record.items)) return notifyOf(run, block, record, notify);
  if (created) await notifyLater(run, keyOf(run), record);
}

/** Queues the mail that a `notify` says, of a block or of a state; in the same way it never fails the request. */
export const notifyOf = (run: Run, block: Block, record: StoredRecord, notify: Notify): Promise<void> =>
  guarded(run, block, 'notify', async () => send(await withLink(run, block, record), block, notify, record));

/** Makes a mail; one that cannot be made is reported under the key of the definition that asks for it. */
async function guarded(run: Run, block: Block, key: 'notify' | 'receipt', make: () => Promise<void>): Promise<void> {
  try {
    await make();
  } catch (error) {
    // A lost database or a collision ends the whole attempt.
    if (!isAppsError(error) || run.fatal.error !== undefined) throw error;
    report(run, block, `${key}: no mail was sent: ${errorText(error, folderOf(run.services, run.app.id))}`);
  }
}

async function send(run: Run, block: Block, notify: Notify, record: StoredRecord): Promise<void> {
  const fill = (text: string) => filledLine(text, (name) => valueFor(run, record, name));
  // A recipient that depends on a value may be none, such as {requester} of anonymous.
  const to = notify.to.map(fill).filter((address) => address !== '');
  if (to.length === 0) return;
  const replyTo = fill(notify.replyTo);
  const html = notify.block === null ? '' : await bodyOf(run, block, 'notify', notify.block, record);
  const { elements } = block.definition;
  const locale = await localeOf(run);
  const { say } = locale;
  const lines = mailLines(elements, record.items, say, locale);
  const subject =
    filledLine(notify.subject, lineFor(run, block, record, locale)).slice(0, mailLimits.subject) || run.app.id;
  const mail = checkedMail({
    to,
    subject,
    text: (lines.join('\n') || say('record_saved')).slice(0, mailLimits.text),
    html,
    reply_to: isAddress(replyTo) ? replyTo : '',
  });
  const url = run.services.sites.urls.record(run.visit.site, run.app.id, record.id);
  queueNotice(run, mail, { block: block.id, link: { title: subject, url } });
}

/** What a name in braces stands for in a subject, in the language of the mail. */
const lineFor =
  (run: Run, { definition }: Block, record: StoredRecord, locale: PageLocale) =>
  (name: string): Json =>
    valueInTitle(definition.elements.get(name), valueFor(run, record, name) ?? null, locale);

/** The value of a name in braces: `requester`, `id`, `options.<name>`, or an item of the record. */
function valueFor(run: Run, record: StoredRecord, name: string): Json | undefined {
  if (name === 'requester') return requesterAddress(run);
  if (name === 'id') return record.id;
  if (name === 'link' && !Object.hasOwn(record.items, name)) return linkOfRecord(run, record) ?? undefined;
  if (!name.startsWith('options.')) return itemOf(record.items, name);
  return itemOf(run.app.settings.options, name.slice('options.'.length));
}

/**
 * HTML of the block that the mail shows, with the record; '' when it cannot be rendered. Its `view_permission` does not
 * count: the definition names it, and the visitor does not see it.
 */
async function bodyOf(
  run: Run,
  block: Block,
  key: 'notify' | 'receipt',
  id: string,
  record: StoredRecord,
): Promise<string> {
  const shownBlock = run.app.blocks.get(id);
  try {
    if (!shownBlock) return '';
    if (shownBlock.error) throw shownBlock.error;
    const displayed = await displayBlock(nestedRun(run, run.app), shownBlock, { record, mode: 'text' });
    return 'html' in displayed ? displayed.html : '';
  } catch (error) {
    if (!isAppsError(error) || run.fatal.error !== undefined) throw error;
    report(
      run,
      block,
      `${key}: the mail is sent without "${id}": ${errorText(error, folderOf(run.services, run.app.id))}`,
    );
    return '';
  }
}

function report(run: Run, block: Block, message: string): void {
  run.failures.push(`${run.app.id}/${block.id}: ${message}`);
  addNote(run, { app: run.app.id, block: block.id, line: null, message });
}

/**
 * Queues the mail of the block's `receipt` for a new record (docs/reference/definitions.md#receipts); of one that waits until it is
 * confirmed, when it is; of one that an administrator makes in the panel none. A mail that cannot be made does not fail the request: the log says why.
 */
export async function sendReceipt(run: Run, block: Block, record: StoredRecord): Promise<void> {
  if (!isUnconfirmed(record.items) && run.visit.through !== 'panel') await sendReceived(run, block, record);
}

/** Queues the mail of `receipt` which says that a record was received; none without an address. */
async function sendReceived(run: Run, block: Block, record: StoredRecord): Promise<void> {
  const { receipt } = block.definition;
  const address = receipt && receiptAddress(receipt, record);
  if (!receipt || !address) return;
  await guarded(run, block, 'receipt', () =>
    makeReceipt(run, block, receipt, { address, record, because: 'received' }),
  );
}

/**
 * Queues the mail of `receipt` for a record that has moved up from the waiting list: it begins with that. A mail that cannot be
 * made keeps no record from moving up.
 */
export async function sendPlace(run: Run, block: Block, record: StoredRecord): Promise<void> {
  const { receipt } = block.definition;
  const address = receipt && receiptAddress(receipt, record);
  if (!receipt || !address) return;
  await guarded(run, block, 'receipt', async () =>
    makeReceipt(await withLink(run, block, record), block, receipt, { address, record, because: 'place' }),
  );
}

/** Why a receipt is sent: its first sentence, where that is shown above a block too, and its subject where the definition has none. */
const reasons = {
  received: { intro: 'receipt_intro', subject: 'receipt_subject', isShown: false },
  place: { intro: 'place_free', subject: 'place_free_subject', isShown: true },
} as const;

async function makeReceipt(
  run: Run,
  block: Block,
  { subject, block: shown }: Receipt,
  { address, record, because }: { address: string; record: StoredRecord; because: keyof typeof reasons },
): Promise<void> {
  const locale = await localeOf(run);
  const { say } = locale;
  const reason = reasons[because];
  const title =
    (subject === null ? '' : filledLine(subject, lineFor(run, block, record, locale)).slice(0, mailLimits.subject)) ||
    say(reason.subject, { name: nameOf(block) });
  const link = linkOfRecord(run, record);
  const { id: _id, ...own } = await ownItems(run, block, record);
  const lines = mailLines(block.definition.elements, own, say, locale);
  const state = record.items._state === 'waiting' ? [say('place_on_list'), ''] : [];
  const intro = say(reason.intro, { name: nameOf(block), site: run.visit.site.title });
  const body = shown === null ? '' : await bodyOf(run, block, 'receipt', shown, record);
  const html = reason.isShown && body !== '' ? `<p>${escapeHtml(intro)}</p>\n${body}` : body;
  const below = link === null ? [] : ['', say('own_link'), link];
  await queueReceipt(run, {
    address,
    subject: title,
    text: [intro, '', ...state, ...lines, ...below].join('\n'),
    html,
    calendar: calendarOf(run, block, record, title),
    isNeeded: false,
  });
}

/** The calendar file of a record with a date that is not over: the first of its block's. Null without one. */
function calendarOf(
  { visit, app }: Run,
  { definition }: Block,
  { id, items }: StoredRecord,
  title: string,
): string | null {
  const [now, key] = [Date.now(), { site: visit.site.id, app: app.id }];
  const dates = [...definition.elements.values()].filter(({ kind }) => kind.isDate);
  for (const { name } of dates) {
    const at = startOf(items, name, visit.site);
    if (at && at.end > now) {
      const uid = `${digestOf(key, id, name)}@${new URL(visit.site.url).hostname}`;
      return calendarFile({ uid, title, url: null, start: at.start, isDay: at.isDay, made: now });
    }
  }
  return null;
}

const digestOf = ({ site, app }: AppKey, id: string, name: string): string =>
  createHash('sha256')
    .update(JSON.stringify([site, app, id, name]))
    .digest('hex')
    .slice(0, 32);

/** When a date of a record begins, by the site's clock unless it names a zone, and when it is over. Null for what is no date. */
function startOf(
  items: Items,
  name: string,
  { timeZone }: Pick<Site, 'timeZone'>,
): { start: number; end: number; isDay: boolean } | null {
  const value = itemOf(items, name);
  const found = typeof value === 'string' ? isoMoment(value) : null;
  if (!found) return null;
  const { time, kind } = found;
  const zone = timeZone ?? serverTimeZone();
  if (kind === 'day') return { start: time, end: momentInZone(time, zone, 'last') + 86_400_000, isDay: true };
  const start = kind === 'instant' ? time : momentInZone(time - (time % 1000), zone, 'first');
  return { start, end: start, isDay: false };
}

/** The run in which `{requester}` is who has made a record. @param unconfirmed its items before the confirmation */
const asMaker = (run: Run, { [MAKER]: maker }: Items): Run => ({
  ...run,
  makerAddress: typeof maker === 'string' ? maker : null,
});

/**
 * Queues what the making of a record would have sent without `confirm`, to whom it would have gone: the mail of `receipt`, and of a record
 * that a form has made that of `notify`.
 * @param block whose form it was
 * @param unconfirmed its items before the confirmation
 */
export async function sendWaited(run: Run, block: Block, record: StoredRecord, unconfirmed: Items): Promise<void> {
  const { notify } = block.definition;
  const own = asMaker(await withLink(run, block, record), unconfirmed);
  await sendReceived(own, block, record);
  if (notify && unconfirmed[NOTIFY] === true) await notifyOf(own, block, record, notify);
}

/**
 * Confirms a record, and sends what has waited for that: the mail of `receipt`, those of `notify` and of its state. Webhooks follow from
 * the change. ConflictError and FormRefusal where it has lost its places and there are none; nothing is changed then.
 * @returns the confirmed record
 */
export async function confirmRecord(run: Run, block: Block | null, record: StoredRecord): Promise<StoredRecord> {
  const key = keyOf(run);
  await confirm(run, key, record);
  await settlePlaces(run);
  const confirmed = (await run.unit.get(key, record.id)) ?? record;
  if (!block) return confirmed;
  await sendWaited(run, block, confirmed, record.items);
  await announceState(asMaker(run, record.items), confirmed);
  return confirmed;
}
