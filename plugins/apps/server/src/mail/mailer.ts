import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Core } from '@strapi/strapi';
import type { Logger } from '../common/log';
import { sendBy } from './provider';
import type { Mailer, MailRow } from './types';

const MAIL = 'plugin::apps.mail';

/** Milliseconds between attempts: one more attempt than there are numbers. */
const RETRIES = [60_000, 10 * 60_000, 60 * 60_000, 6 * 60 * 60_000];

/** Milliseconds between two looks for mails that may be tried again, and how many are taken at once. */
const POLL = 60_000;
const MAX_DUE = 20;

/** Milliseconds for which rows are kept, and between two deletions of older ones. */
const KEEP = 30 * 24 * 60 * 60_000;
const PRUNE = 60 * 60_000;

/** Characters of a mail's text in the log. */
const MAX_LOGGED = 2_000;

const later = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();

/** The outbox of a running Strapi (docs/decisions/mail.md). */
export function createMailer({ strapi, logger }: { strapi: Core.Strapi; logger: Logger }): Mailer {
  const rows = () => strapi.db.query(MAIL);
  // A request's transaction must not reach the sending of its mails.
  const outside = AsyncLocalStorage.snapshot();
  let timer: NodeJS.Timeout | undefined;
  let prunedAt = 0;
  let ended = false;

  const report = (error: unknown) => logger.error(`[apps] mail: ${(error as Error).message}`);

  /** Claims one attempt, so that of all processes only one makes it. */
  async function claim({ mailId, attempts }: MailRow): Promise<boolean> {
    const data = { attempts: attempts + 1, nextAt: later(RETRIES[attempts] ?? RETRIES.at(-1) ?? POLL) };
    const { count } = await rows().updateMany({ where: { mailId, attempts, state: 'queued' }, data });
    return count === 1;
  }

  const settle = (mailId: string, data: Partial<MailRow>) => rows().updateMany({ where: { mailId }, data });

  async function attempt(row: MailRow): Promise<void> {
    if (ended || !(await claim(row))) return;
    const failure = await sendBy(strapi, row);
    // What was sent need not be kept: the row counts for the app's rate.
    if (failure === null)
      return void (await settle(row.mailId, { state: 'sent', text: null, html: null, error: null }));
    const isLast = failure.isFinal || row.attempts >= RETRIES.length;
    await settle(row.mailId, { state: isLast ? 'kept' : 'queued', error: failure.message });
    if (isLast || row.attempts === 0) logger.warn(description(row, failure.message, isLast));
  }

  async function attemptEach(due: readonly MailRow[]): Promise<void> {
    for (const row of due) await attempt(row).catch(report);
  }

  /** The attempts that are under way: their outcome is to be stored before the database is closed. */
  const running = new Set<Promise<void>>();

  function attemptAll(due: readonly MailRow[]): Promise<void> {
    const work = attemptEach(due).finally(() => running.delete(work));
    running.add(work);
    return work;
  }

  async function poll(): Promise<void> {
    const where = { state: 'queued', nextAt: { $lte: later(0) } };
    await attemptAll(await rows().findMany({ where, orderBy: { id: 'asc' }, limit: MAX_DUE }));
    if (Date.now() - prunedAt < PRUNE) return;
    prunedAt = Date.now();
    await rows().deleteMany({ where: { createdAt: { $lt: new Date(Date.now() - KEEP) } } });
  }

  async function keepPolling(): Promise<void> {
    await poll().catch(report);
    if (!ended) timer = setTimeout(keepPolling, POLL).unref();
  }

  return {
    count: ({ site, app }, since) => rows().count({ where: { site, app, createdAt: { $gte: since } } }),
    rowsOf: (mails) =>
      mails.map(({ key, mail: { to, ...mail } }) => ({
        mailId: randomUUID(),
        ...key,
        ...mail,
        recipients: to.join(', '),
        state: 'queued',
        attempts: 0,
        // Another process tries it when this one has ended before it could.
        nextAt: later(POLL),
        error: null,
      })),
    async store(all) {
      for (const row of all) await rows().create({ data: { ...row } });
    },
    deliver(all) {
      outside(() => void attemptAll(all));
    },
    start() {
      timer = outside(() => setTimeout(keepPolling, POLL).unref());
    },
    async destroy() {
      ended = true;
      clearTimeout(timer);
      await Promise.all(running);
    },
  };
}

/** The line of the log about a mail that could not be sent. */
function description(row: MailRow, reason: string, isLast: boolean): string {
  const { site, app, recipients, subject, text, html } = row;
  const next = isLast ? 'it is kept' : 'it will be tried again';
  const body = (text ?? html ?? '').slice(0, MAX_LOGGED);
  return `[apps] mail of ${site}/${app} was not sent, ${next} (${reason}): to ${recipients}, subject "${subject}": ${body}`;
}
