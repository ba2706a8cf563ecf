import { itemOf } from '../../../../shared/json';
import { AppsError } from '../../common/errors';
import { escapeHtml } from '../../layouts';
import type { CountedReceipt as ReceiptMail } from '../../mail/types';
import type { StoredRecord } from '../../records/types';
import { checkedMail, isAddress, mailLimits } from '../mail';
import type { Receipt } from '../types';
import { localeOf } from './site-locale';
import type { Run } from './types';

/** The address in a record to which its receipt goes; null where it is empty or none. */
export function receiptAddress({ to }: Pick<Receipt, 'to'>, { items }: Pick<StoredRecord, 'items'>): string | null {
  const address = itemOf(items, to);
  return typeof address === 'string' && isAddress(address) ? address : null;
}

/** A mail to an address that was entered, without its last lines. */
export interface ReceiptText {
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
