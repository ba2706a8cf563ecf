import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomUUID } from 'node:crypto';
import type { Core } from '@strapi/strapi';
import type { Logger } from '../common/log';
import type { HostDatabase } from '../indexes';
import type { AppKey } from '../records/types';
import { createOutbox } from './outbox';
import { type SendFailure, sendBy } from './provider';
import { linksOf, MAX_ATTEMPTS, RATE_WINDOW } from './statements';
import type { DigestText, Mailer, MailLink, MailRow, QueuedMail } from './types';

const MAIL = 'plugin::apps.mail';

/** Milliseconds between two looks for mails that may be sent. */
const POLL = 60_000;

/** Mails of one app that a process sends at the same time: a slow recipient holds back the others less. */
const MAX_PARALLEL = 5;

/** Milliseconds for which rows are kept, and between two deletions of older ones. */
const KEEP = 30 * 24 * 60 * 60_000;
const PRUNE = 60 * 60_000;

/** Characters of a mail's text in the log. */
const MAX_LOGGED = 2_000;

interface MailerTools {
  strapi: Core.Strapi;
  database: HostDatabase;
  logger: Logger;
  /** Mails of an app in one site in an hour. */
  limit: number;
  /** The text of a mail that stands for several. */
  digest(key: AppKey, about: { block: string; mails: number; links: readonly MailLink[] }): Promise<DigestText>;
}

/** The outbox of a running Strapi (docs/decisions/mail.md). */
export function createMailer({ strapi, database, logger, limit, digest }: MailerTools): Mailer {
  const rows = () => strapi.db.query(MAIL);
  const onKept = ({ site, app }: AppKey, count: number, reason: string) =>
    logger.warn(`[apps] mail: ${count} mails of ${site}/${app} were not sent, and are kept without text: ${reason}`);
  const outbox = createOutbox({ database, limit, onKept });
  // A request's transaction must not reach the sending of its mails.
  const outside = AsyncLocalStorage.snapshot();
  let timer: NodeJS.Timeout | undefined;
  let prunedAt = 0;
  let ended = false;

  const report = (error: unknown) => logger.error(`[apps] mail: ${(error as Error).message}`);

  const settle = (mailId: string, data: Partial<MailRow>) => rows().updateMany({ where: { mailId }, data });

  /** The mail with its text, which a digest gets when it is sent: in the language and with the names of then. */
  async function written(row: MailRow): Promise<MailRow> {
    const { block, mails, text, html } = row;
    if (text !== null || html !== null) return row;
    return { ...row, ...(await digest(row, { block, mails, links: linksOf(row) })) };
  }

  async function sendOnce(row: MailRow): Promise<[mail: MailRow, failure: SendFailure | null]> {
    try {
      const mail = await written(row);
      return [mail, await sendBy(strapi, mail)];
    } catch (error) {
      return [row, { message: `its text could not be made: ${(error as Error).message}`, isFinal: false }];
    }
  }

  /** Makes an attempt that is claimed. */
  async function attempt(row: MailRow): Promise<void> {
    const [mail, failure] = await sendOnce(row);
    const { mailId, subject, text, html } = mail;
    // What was sent need not be kept: the row counts for the app's rate.
    if (failure === null)
      return void (await settle(mailId, { state: 'sent', subject, text: null, html: null, error: null }));
    const isLast = failure.isFinal || row.attempts >= MAX_ATTEMPTS;
    await settle(mailId, { state: isLast ? 'kept' : 'queued', subject, text, html, error: failure.message });
    if (isLast || row.attempts === 1) logger.warn(description(mail, failure.message, isLast));
  }

  const claim = async (key: AppKey) => (ended ? null : outbox.claim(key));

  /** Sends the mails of an app, one after the other, until there are none or its rate is used up. */
  async function sendEach(key: AppKey): Promise<void> {
    for (let row = await claim(key); row; row = await claim(key)) await attempt(row).catch(report);
  }

  /** The work that is under way, by app: its outcome is to be stored before the database is closed. */
  const running = new Map<string, Set<Promise<void>>>();

  /** Begins to send the mails of an app, unless enough of them are being sent: what has come too late for these is found by `poll`. */
  function send(key: AppKey): void {
    const name = JSON.stringify([key.site, key.app]);
    const works = running.get(name) ?? new Set();
    if (works.size >= MAX_PARALLEL) return;
    running.set(name, works);
    const work = sendEach(key)
      .catch(report)
      .finally(() => {
        works.delete(work);
        if (works.size === 0) running.delete(name);
      });
    works.add(work);
  }

  async function poll(): Promise<void> {
    // Not awaited: the mails of one app may take long, and those of others become due meanwhile.
    for (const key of await outbox.due()) send(key);
    if (Date.now() - prunedAt < PRUNE) return;
    prunedAt = Date.now();
    const isOld = { createdAt: { $lt: new Date(Date.now() - KEEP) } };
    await rows().deleteMany({ where: { ...isOld, state: { $in: ['sent', 'kept'] } } });
  }

  async function keepPolling(): Promise<void> {
    await poll().catch(report);
    if (!ended) timer = setTimeout(keepPolling, POLL).unref();
  }

  return {
    count({ site, app }) {
      const tried = { $gt: Date.now() - RATE_WINDOW, $lte: Date.now() + RATE_WINDOW };
      const counts = [{ triedAt: tried }, { state: { $in: ['queued', 'waiting'] } }];
      return rows().count({ where: { site, app, $or: counts } });
    },
    rowsOf: (mails) => mails.map(rowOf),
    async store(all) {
      for (const row of all) await rows().create({ data: { ...row } });
    },
    deliver(all) {
      const keys = new Map(all.map(({ site, app }) => [JSON.stringify([site, app]), { site, app }]));
      outside(() => {
        for (const key of keys.values()) send(key);
      });
    },
    state: outbox.state,
    start() {
      timer = outside(() => setTimeout(keepPolling, POLL).unref());
    },
    async destroy() {
      ended = true;
      clearTimeout(timer);
      await Promise.all([...running.values()].flatMap((works) => [...works]));
    },
  };
}

function rowOf({ key, mail: { to, ...mail }, about }: QueuedMail): MailRow {
  const recipients = to.join(', ');
  const kind = (block: string) =>
    createHash('sha256')
      .update(JSON.stringify([block, [...to].sort()]))
      .digest('hex');
  return {
    mailId: randomUUID(),
    ...key,
    ...mail,
    recipients,
    block: about?.block ?? '',
    kind: about && kind(about.block),
    links: about && JSON.stringify([about.link]),
    mails: 1,
    state: 'queued',
    attempts: 0,
    triedAt: null,
    dueAt: Date.now(),
    error: null,
  };
}

/** The line of the log about a mail that could not be sent. */
function description(row: MailRow, reason: string, isLast: boolean): string {
  const { site, app, recipients, subject, text, html } = row;
  const next = isLast ? 'it is kept' : 'it will be tried again';
  const body = (text ?? html ?? '').slice(0, MAX_LOGGED);
  return `[apps] mail of ${site}/${app} was not sent, ${next} (${reason}): to ${recipients}, subject "${subject}": ${body}`;
}
