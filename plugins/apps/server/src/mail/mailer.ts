import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Core } from '@strapi/strapi';
import type { Logger } from '../common/log';
import type { HostDatabase } from '../indexes';
import type { JobHandler, Jobs, NewJob } from '../jobs/types';
import type { AppKey } from '../records/types';
import { createOutbox } from './outbox';
import { type SendFailure, sendBy } from './provider';
import { linksOf, MAX_ATTEMPTS, RATE_WINDOW } from './statements';
import type { DigestText, Mailer, MailLink, MailRow, QueuedMail } from './types';

const MAIL = 'plugin::apps.mail';

/** Milliseconds for which one try sends the mails of an app; what is left then is the next one's. */
const TURN = 60_000;

/** Milliseconds after which another mail is sent beside those that are under way. */
const HELP = 100;

/** Mails of one app that are sent at the same time: a slow recipient holds back the others less. */
const MAX_PARALLEL = 5;

/** Milliseconds for which rows are kept, and between two deletions of older ones. */
const KEEP = 30 * 24 * 60 * 60_000;
const PRUNE = 60 * 60_000;

/** Characters of a mail's text in the log. */
const MAX_LOGGED = 2_000;

interface MailerTools {
  strapi: Core.Strapi;
  database: HostDatabase;
  jobs: Pick<Jobs, 'ensure' | 'bury'>;
  logger: Logger;
  /** Mails of an app in one site in an hour. */
  limit: number;
  /** The text of a mail that stands for several. */
  digest(key: AppKey, about: { block: string; mails: number; links: readonly MailLink[] }): Promise<DigestText>;
}

/** The outbox of a running Strapi (docs/decisions/mail.md). */
export function createMailer({ strapi, database, jobs, logger, limit, digest }: MailerTools): Mailer {
  const rows = () => strapi.db.query(MAIL);
  const onKept = ({ site, app }: AppKey, count: number, reason: string) =>
    logger.warn(`[apps] mail: ${count} mails of ${site}/${app} were not sent, and are kept without text: ${reason}`);
  const outbox = createOutbox({ database, limit, onKept });
  let timer: NodeJS.Timeout | undefined;

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
    if (isLast) await jobs.bury(unsentOf(mail), failure.message);
    if (isLast || row.attempts === 1) logger.warn(description(mail, failure.message, isLast));
  }

  /** Sends the mails of an app, as many as its rate allows now, then waits until there are more to be sent. */
  const handler: JobHandler = async ({ job: { key, data }, signal, end }) => {
    if (typeof data.mailId === 'string') {
      await again(data.mailId);
      await jobs.ensure(sendingOf(key), null);
      return { status: null, answer: null };
    }
    const until = Date.now() + TURN;
    const none = new AbortController();
    const sendEach = async (_: unknown, at: number) => {
      // Others help only where the first ones take long: mails that are sent at once keep their order.
      await pause(at * HELP, undefined, { signal: none.signal, ref: false }).catch(() => undefined);
      while (!signal.aborted && !none.signal.aborted && Date.now() < until) {
        const row = await outbox.claim(key);
        if (row) await attempt(row).catch(report);
        else none.abort();
      }
    };
    await Promise.all(Array.from({ length: MAX_PARALLEL }, sendEach));
    await end(await outbox.next(key));
    // Stored before the end was.
    const next = await outbox.next(key);
    if (next !== null && next <= Date.now()) await jobs.ensure(sendingOf(key), null);
    return { status: null, answer: null };
  };

  /** Has a mail sent that was given up. */
  async function again(mailId: string): Promise<void> {
    const where = { mailId, state: 'kept' };
    await rows().updateMany({ where, data: { state: 'queued', attempts: 0, dueAt: Date.now(), error: null } });
  }

  /** Deletes old rows, and has mails sent for which there is no job: those of an earlier version. */
  async function tidy(): Promise<void> {
    for (const key of await outbox.apps()) await jobs.ensure(sendingOf(key), null);
    const isOld = { createdAt: { $lt: new Date(Date.now() - KEEP) } };
    await rows().deleteMany({ where: { ...isOld, state: { $in: ['sent', 'kept'] } } });
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
    async send(unit, all) {
      const keys = new Map(all.map(({ site, app }) => [JSON.stringify([site, app]), { site, app }]));
      for (const key of keys.values()) await jobs.ensure(sendingOf(key), unit);
    },
    handler,
    state: outbox.state,
    start() {
      const tidyUp = () => void tidy().catch(report);
      timer = setInterval(tidyUp, PRUNE).unref();
      tidyUp();
    },
    destroy: () => clearInterval(timer),
  };
}

/** The job that sends the mails of an app: there is one while any are to be sent. */
const sendingOf = (key: AppKey): NewJob & { jobKey: string } => ({
  ...{ key, kind: 'mail', name: 'mails of the app', data: {}, requester: '', jobKey: 'mail' },
  ...{ sequence: null, dueAt: null },
});

/** The job of a mail that is given up, so that people can have it sent again. */
const unsentOf = ({ site, app, mailId, subject }: MailRow): NewJob => ({
  ...{ key: { site, app }, kind: 'mail', name: subject, data: { mailId }, requester: '', jobKey: null },
  ...{ sequence: null, dueAt: null },
});

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
