import { type Items, itemOf } from '../../../../../shared/json';
import { AppsError } from '../../../common/errors';
import { CONFIRMATION_ITEMS, HELD, isUnconfirmed, MAKER, NOTIFY, SERVER_ITEMS, SINCE, STATE } from '../../../indexes';
import { escapeHtml } from '../../../layouts';
import type { CountedReceipt as ReceiptMail } from '../../../mail/types';
import type { Through } from '../../../records';
import type { AppKey, StoredRecord } from '../../../records/types';
import { checkedMail, isAddress, mailLimits } from '../../mail';
import type { App, Block, Receipt } from '../../types';
import { requesterAddress } from '../calls-out';
import { FormRefusal } from '../refusals';
import type { Run } from '../types';
import { localeOf, nameOf } from '../visits';
import type { PlaceChange } from './changes';

/** The address in a record to which its receipt goes; null where it is empty or none. */
export function receiptAddress({ to }: Pick<Receipt, 'to'>, { items }: Pick<StoredRecord, 'items'>): string | null {
  const address = itemOf(items, to);
  return typeof address === 'string' && isAddress(address) ? address : null;
}

/** A mail to an address that was entered, without its last lines. */
interface ReceiptText {
  address: string;
  subject: string;
  text: string;
  /** '' for text alone. */
  html: string;
  /** An iCalendar file; null without one. */
  calendar: string | null;
  /** Whether the request fails where the mail may not be sent now. */
  isNeeded: boolean;
  /** Called, before the request is answered, where one that is not needed may not be sent now. */
  dropped?(): void;
}

/**
 * Queues a mail to an address that was entered (docs/reference/definitions.md#receipts): its last line says how to refuse further
 * ones. `mail` in settings.yaml need not allow the address: limits of the configuration hold instead. BadRequestError for a text that
 * no mail can have; CsrfError in a request that may not write.
 */
export async function queueReceipt(run: Run, { address, ...mail }: ReceiptText): Promise<void> {
  const { visit, app, services } = run;
  if (!visit.writes.records)
    throw new AppsError('CsrfError', 'Sending mail during a GET request needs a valid X-CSRF-TOKEN header');
  const optOut = services.sites.urls.link(
    visit.site,
    app.id,
    'unsubscribe',
    services.receipts.token(visit.site.id, address),
  );
  const { say } = await localeOf(run);
  const why = say('receipt_why', { site: visit.site.title });
  const below = `\n\n-- \n${why}\n${optOut}`;
  const html =
    mail.html &&
    `${mail.html}<hr><p>${escapeHtml(why)}<br><a href="${escapeHtml(optOut)}">${escapeHtml(optOut)}</a></p>`;
  const message = checkedMail({
    to: [address],
    subject: mail.subject.slice(0, mailLimits.subject),
    text: mail.text.slice(0, mailLimits.text - below.length) + below,
    html,
  });
  const { isNeeded, dropped, calendar } = mail;
  const receipt: ReceiptMail = { address, network: networkOf(run), isNeeded, dropped, optOut, calendar };
  run.mails.push({ key: { site: visit.site.id, app: app.id }, mail: message, about: null, receipt });
}

/** Those who may change all records are trusted with the addresses that they enter: an organiser cancels many at once. */
const networkOf = ({ visit, rights }: Run): string | null => (rights.edit(null) ? null : (visit.network() ?? null));

type Confirmed = Block & { receipt: Receipt };

/** Milliseconds for which an unconfirmed record has its places, and for which it is kept. */
export const confirmationTimes = { held: 30 * 60_000, kept: 2 * 86_400_000 };

/** Ways in by which an address may be entered that is another's. Imports, logic and jobs are the author's or an editor's own. */
const ofVisitors: ReadonlySet<Through | undefined> = new Set<Through>(['form', 'json', 'self_service']);

/** The block of a record, if its records wait until they are confirmed. */
function confirmedBlock(app: App, items: Items | null): Confirmed | null {
  const id = items?.block;
  const block = typeof id === 'string' ? app.blocks.get(id) : undefined;
  const receipt = block?.definition.receipt;
  return block && receipt?.confirm ? { ...block, receipt } : null;
}

/** Whether a record comes into its block by a way in which it must be confirmed. */
export function mustConfirm(run: Run, app: App, { id, before, after, enteredBy }: PlaceChange): boolean {
  if (!confirmedBlock(app, after)) return false;
  if (before && (before.block === after?.block || run.rights.edit(null))) return false;
  return ofVisitors.has(enteredBy) && !run.places.restored.has(id);
}

/**
 * Makes a new record wait until the address in it is confirmed: gives it its link, and queues the mail with it, whose text is the
 * service's own and has nothing of what was entered. 422 without an address.
 * @param held whether it has its places until then
 * @returns its items
 */
export async function beginConfirmation(
  run: Run,
  { key, id }: PlaceChange,
  items: Items,
  held: boolean,
): Promise<Items> {
  const block = confirmedBlock(run.app, items);
  if (!block) return items;
  const locale = await localeOf(run);
  // A client has sent it.
  if ((items[STATE] ?? null) !== null)
    throw new FormRefusal([{ path: [STATE], message: locale.say('server_item') }], run.budget);
  const address = receiptAddress(block.receipt, { items });
  if (address === null)
    throw new FormRefusal([{ path: [block.receipt.to], message: locale.say('required') }], run.budget);
  const maker = requesterAddress(run);
  const set = {
    [STATE]: 'unconfirmed',
    [SINCE]: new Date().toISOString(),
    ...(held && { [HELD]: true }),
    ...(maker !== null && { [MAKER]: maker }),
  };
  const record = await run.places.own({ key, id }, () => run.unit.update(key, id, { set }));
  const { linkId, write } = run.services.links.issue({ key, purpose: 'confirm', id });
  run.unit.atCommit(write);
  const token = run.services.links.token({ linkId, purpose: 'confirm', key });
  const url = run.services.sites.urls.link(run.visit.site, run.app.id, 'confirm', token);
  const of = { name: nameOf(block), site: run.visit.site.title };
  await queueReceipt(run, {
    address,
    subject: locale.say('confirm_subject', of),
    text: `${locale.say('confirm_intro', of)}\n\n${locale.say('confirm_how')}\n${url}\n\n${locale.say('confirm_else')}`,
    html: '',
    calendar: null,
    isNeeded: true,
  });
  return record.items;
}

/**
 * 422 where a request sets what the server alone says of a confirmation, or changes an address that is confirmed or about to be: its
 * holder could have confirmed one, and then name another's. Editors may.
 */
export async function refuseUnconfirmed(run: Run, app: App, change: PlaceChange): Promise<void> {
  const { id, before, after, ways } = change;
  if (!after || run.places.byServer.has(id)) return;
  const { say } = await localeOf(run);
  const wrong = (name: string, message: string) => new FormRefusal([{ path: [name], message }], run.budget);
  // Of one that comes into another block nothing of before is left.
  const had = before?.block === after.block ? before : null;
  if (isUnconfirmed(after) !== isUnconfirmed(had)) throw wrong(STATE, say('server_item'));
  for (const name of CONFIRMATION_ITEMS)
    if ((after[name] ?? null) !== (had?.[name] ?? null)) throw wrong(name, say('server_item'));
  const block = confirmedBlock(app, after);
  if (!block || !had || ![...ways].some((way) => ofVisitors.has(way)) || run.rights.edit(null)) return;
  const { to } = block.receipt;
  if ((after[to] ?? null) !== (had[to] ?? null)) throw wrong(to, say('address_fixed'));
}

/**
 * Confirms a record: it takes the places that it has no longer, or one on the waiting list. 409 or 422 where there is none. Settle
 * the places after it.
 */
export async function confirm(run: Run, key: AppKey, { id }: Pick<StoredRecord, 'id'>): Promise<void> {
  run.places.byServer.add(id);
  await run.unit.update(key, id, { unset: [...SERVER_ITEMS] });
}

/** Notes that the form which has made an unconfirmed record has a mail of `notify` to send, at the confirmation. */
export async function notifyLater(run: Run, key: AppKey, { id }: Pick<StoredRecord, 'id'>): Promise<void> {
  await run.places.own({ key, id }, () => run.unit.update(key, id, { set: { [NOTIFY]: true } }));
}

/** For how long an unconfirmed record waits, in milliseconds; one that does not say so, for ever. */
export function waitsFor({ items }: Pick<StoredRecord, 'items'>): number {
  const since = Date.parse(String(items[SINCE]));
  return Number.isNaN(since) ? Number.POSITIVE_INFINITY : Date.now() - since;
}

/** Takes its places from an unconfirmed record. */
export async function release(run: Run, key: AppKey, { id }: Pick<StoredRecord, 'id'>): Promise<void> {
  run.places.byServer.add(id);
  await run.unit.update(key, id, { unset: [HELD] });
}
