import { AppsError } from '../../common/errors';
import { isAllowed, recipientEntries } from '../mail/addresses';
import type { MailMessage } from '../mail/message';
import { keyOf } from './run';
import type { Run } from './types';

/** Milliseconds in which an app may send as many mails as its limit says. */
const RATE_WINDOW = 60 * 60 * 1000;

/** Mails of one request. */
const MAX_MAILS = 20;

/**
 * Queues a mail of the run's app: it is stored with the request's records, and sent after the commit, once
 * (docs/reference/logic.md#contextmail). BadRequestError for an address that the app's settings do not allow,
 * RateLimitError when the app has sent too many; CsrfError in a request that may not write.
 */
export async function queueMail(run: Run, mail: MailMessage): Promise<void> {
  if (!run.visit.writes.records)
    throw new AppsError('CsrfError', 'Sending mail during a GET request needs a valid X-CSRF-TOKEN header');
  for (const address of mail.to) requireAllowed(run, address);
  if (run.mails.length >= MAX_MAILS)
    throw new AppsError('BadRequestError', `mail.send: a request sends at most ${MAX_MAILS} mails`);
  const key = keyOf(run);
  const { mailer, config } = run.services;
  const sent = await run.unit.alongside(() => mailer.count(key, new Date(Date.now() - RATE_WINDOW)));
  const own = run.mails.filter(({ key: { app } }) => app === key.app).length;
  if (sent + own >= config.limits.mails) {
    throw new AppsError('RateLimitError', `The app "${key.app}" may send ${config.limits.mails} mails in an hour`, {
      headers: { 'Retry-After': '600' },
    });
  }
  run.mails.push({ key, mail });
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

/** Stores the run's mails in its transaction, and sends them after the commit. */
export async function storeMails({ mails, unit, services }: Run): Promise<void> {
  if (mails.length === 0) return;
  const { mailer } = services;
  const rows = mailer.rowsOf(mails);
  await unit.inTransaction(() => mailer.store(rows));
  unit.afterCommit(() => mailer.deliver(rows));
}
