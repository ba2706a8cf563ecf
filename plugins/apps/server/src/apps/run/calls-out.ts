import { AppsError } from '../../common/errors';
import type { MailRow, QueuedMail } from '../../mail/types';
import type { OutboundAnswer, OutboundRequest } from '../../outbound/types';
import { isAllowed, type MailMessage, recipientEntries } from '../mail';
import { MailRefusal } from './refusals';
import type { Run } from './types';
import { localeOf } from './visits';

/** Calls out of a request. */
const MAX_CALLS = 20;
/** Milliseconds that they may take together, as a multiple of `fetch.timeout`. */
const MAX_TIMEOUTS = 4;

/** What an attempt has asked so far. */
export interface AttemptCalls {
  /**
   * The outcome of a call; that of the same call of an earlier attempt at the request, where it has made one: the same arguments,
   * as the first, second, … such call of the attempt. Failures are kept too: the call may have had its effect.
   * @param about the call's arguments
   */
  once(about: string, call: () => Promise<OutboundAnswer>): Promise<OutboundAnswer>;
  /** Calls of all attempts that were made, and their milliseconds. */
  readonly use: { calls: number; time: number };
}

/** Keeps what the calls of a request were answered, for all its attempts. @returns begins an attempt */
export function createCallsOut(): () => AttemptCalls {
  const kept = new Map<string, Promise<OutboundAnswer>>();
  const use = { calls: 0, time: 0 };
  return () => {
    const asked = new Map<string, number>();
    return {
      use,
      once(about, call) {
        const count = asked.get(about) ?? 0;
        asked.set(about, count + 1);
        const key = `${count} ${about}`;
        const known = kept.get(key);
        if (known) return known;
        const outcome = call();
        // An attempt that has ended meanwhile waits for it no more.
        outcome.catch(() => undefined);
        kept.set(key, outcome);
        return outcome;
      },
    };
  };
}

/**
 * Makes a call of the run's app for its logic, whose time stands still meanwhile. Errors as `Outbound.call`; BadRequestError and
 * GatewayTimeoutError when the request has made too many, RateLimitError when the app makes too many at once.
 */
export async function callOut(run: Run, request: OutboundRequest): Promise<OutboundAnswer> {
  const { app, budget, services } = run;
  const { outbound, logic, config } = services;
  // Before it waits for its turn.
  outbound.check(app.id, request);
  // All attempts of this run; all blocks of its page.
  const uses = [run.calls.use, budget.shared.outside];
  if (uses.some(({ calls }) => calls >= MAX_CALLS))
    throw new AppsError('BadRequestError', `A request makes at most ${MAX_CALLS} calls out`);
  const most = config.fetch.timeout * MAX_TIMEOUTS;
  const left = most - Math.max(...uses.map(({ time }) => time));
  if (left < 1)
    throw new AppsError('GatewayTimeoutError', `The calls out of a request take at most ${most} ms together`);
  for (const use of uses) use.calls += 1;
  const begun = performance.now();
  const timeout = Math.min(request.timeout ?? config.fetch.timeout, left);
  const call = () => {
    const rest = Math.max(1, Math.floor(timeout - (performance.now() - begun)));
    return outbound.call(app.id, { ...request, timeout: rest });
  };
  try {
    return await logic.outside(budget, app.id, timeout, call);
  } finally {
    for (const use of uses) use.time += performance.now() - begun;
  }
}

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
  if (run.mails.filter(({ about, receipt }) => about === null && receipt === null).length >= MAX_MAILS)
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
  run.mails.push({ key, mail, about: null, receipt: null });
}

/**
 * Queues the mail of a form that has saved a record, whatever the app has sent: over the rate it waits
 * (docs/decisions/mail.md). BadRequestError and CsrfError as `queueMail`.
 */
export function queueNotice(run: Run, mail: MailMessage, about: NonNullable<QueuedMail['about']>): void {
  requireSendable(run, mail);
  run.mails.push({ key: ownKey(run), mail, about, receipt: null });
}

function requireSendable(run: Run, { to }: MailMessage): void {
  if (!run.visit.writes.records)
    throw new AppsError('CsrfError', 'Sending mail during a GET request needs a valid X-CSRF-TOKEN header');
  for (const address of to) requireAllowed(run, address);
}

function requireAllowed(run: Run, address: string): void {
  const { app } = run;
  const { settings } = app;
  const own = settings.mail?.toRequester ? requesterAddress(run) : null;
  if (isAllowed(address, [...recipientEntries(settings), ...(own === null ? [] : [own])])) return;
  const message = `mail.send: the app "${app.id}" may not send to ${address}: "mail" in its settings.yaml does not name it`;
  throw new AppsError('BadRequestError', message);
}

/**
 * The e-mail address of the requester's account; null for others than users and administrators. In mails that have waited for a
 * confirmation, that of who has made the record.
 */
export function requesterAddress({ visit, makerAddress }: Run): string | null {
  if (makerAddress !== undefined) return makerAddress;
  const email = visit.requester.profile?.email;
  return typeof email === 'string' && email !== '' ? email : null;
}

/**
 * Stores the run's mails in its transaction, and has them sent after the commit; of those to addresses that were entered, the ones that
 * may be sent. MailRefusal where there are too many of them and one is needed.
 */
export async function storeMails(run: Run): Promise<void> {
  const { mails, unit, services } = run;
  const { mailer } = services;
  const rows = mailer.rowsOf(mails);
  await unit.inTransaction(async () => {
    const admitted: MailRow[] = [];
    for (const [index, mail] of mails.entries()) {
      const row = rows[index];
      if (row && (await isAdmitted(run, mail))) admitted.push(row);
    }
    await mailer.store(admitted);
  });
  await mailer.send(unit, rows);
}

async function isAdmitted(run: Run, { key, receipt }: QueuedMail): Promise<boolean> {
  if (!receipt) return true;
  const outcome = await run.services.receipts.admit(key, receipt);
  if (outcome === 'full' && receipt.isNeeded) {
    const { say } = await localeOf(run);
    throw new MailRefusal(say('receipt_full'), run.budget);
  }
  if (outcome === 'full') receipt.dropped?.();
  return outcome === 'sent';
}
