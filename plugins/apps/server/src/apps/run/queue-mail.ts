import { AppsError } from '../../common/errors';
import type { QueuedMail } from '../../mail/types';
import { isAllowed, recipientEntries } from '../mail/addresses';
import type { MailMessage } from '../mail/message';
import type { Run } from './types';

/** Mails that the logic of one request sends. */
const MAX_MAILS = 20;

const ownKey = ({ visit, app }: Run) => ({ site: visit.site.id, app: app.id });

/**
 * Queues a mail of the run's app for its logic: it is stored with the request's records, and sent after the commit, once
 * (docs/reference/logic.md#contextmail). BadRequestError for an address that the app's settings do not allow,
 * RateLimitError when the app has sent too many, or has as many to send; CsrfError in a request that may not write. Of requests
 * at the same moment, each may be below the rate: what is over it then waits.
 */
export async function queueMail(run: Run, mail: MailMessage): Promise<void> {
  requireSendable(run, mail);
  if (run.mails.filter(({ about }) => about === null).length >= MAX_MAILS)
    throw new AppsError('BadRequestError', `mail.send: a request sends at most ${MAX_MAILS} mails`);
  const key = ownKey(run);
  const { mailer, config } = run.services;
  const others = await run.unit.alongside(() => mailer.count(key));
  const own = run.mails.filter(({ key: { app } }) => app === key.app).length;
  if (others + own >= config.limits.mails) {
    throw new AppsError('RateLimitError', `The app "${key.app}" may send ${config.limits.mails} mails in an hour`, {
      headers: { 'Retry-After': '600' },
    });
  }
  run.mails.push({ key, mail, about: null });
}

/**
 * Queues the mail of a form that has saved a record, whatever the app has sent: over the rate it waits
 * (docs/decisions/mail.md). BadRequestError and CsrfError as `queueMail`.
 */
export function queueNotice(run: Run, mail: MailMessage, about: NonNullable<QueuedMail['about']>): void {
  requireSendable(run, mail);
  run.mails.push({ key: ownKey(run), mail, about });
}

function requireSendable(run: Run, { to }: MailMessage): void {
  if (!run.visit.writes.records)
    throw new AppsError('CsrfError', 'Sending mail during a GET request needs a valid X-CSRF-TOKEN header');
  for (const address of to) requireAllowed(run, address);
}

function requireAllowed({ app, visit }: Run, address: string): void {
  const { settings } = app;
  const own = settings.mail?.toRequester ? requesterAddress(visit) : null;
  if (isAllowed(address, [...recipientEntries(settings), ...(own === null ? [] : [own])])) return;
  const message = `mail.send: the app "${app.id}" may not send to ${address}: "mail" in its settings.yaml does not name it`;
  throw new AppsError('BadRequestError', message);
}

/** The e-mail address of the requester's account; null for others than users and administrators. */
export function requesterAddress({ requester }: Run['visit']): string | null {
  const email = requester.profile?.email;
  return typeof email === 'string' && email !== '' ? email : null;
}

/** Stores the run's mails in its transaction, and has them sent after the commit. */
export async function storeMails({ mails, unit, services }: Run): Promise<void> {
  if (mails.length === 0) return;
  const { mailer } = services;
  const rows = mailer.rowsOf(mails);
  await unit.inTransaction(() => mailer.store(rows));
  await mailer.send(unit, rows);
}
