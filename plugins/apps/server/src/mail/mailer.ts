import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Core } from '@strapi/strapi';
import type { AppMails } from '../../../shared/admin-api';
import type { Logger } from '../common/log';
import { withoutTokens } from '../common/text';
import { within } from '../common/time/pace';
import { dialects, type HostDatabase, throughCollisions, throughOutage } from '../database';
import type { JobHandler, Jobs, NewJob } from '../jobs/types';
import type { AppKey } from '../records/types';
import {
  claimNext,
  countStates,
  freeAt,
  giveUp,
  type Held,
  hold,
  keyOf,
  linksOf,
  MAX_ATTEMPTS,
  MAX_HELD,
  nextAt,
  RATE_WINDOW,
  type Transaction,
  triedOf,
  unsentApps,
} from './statements';
import type { DigestText, Mailer, MailLink, MailRow, QueuedMail } from './types';

const RATES = 'apps_mail_rates';

export interface Outbox {
  /**
   * Claims an attempt to send a mail of the app: the oldest one of the block that has sent the least lately. The attempt is
   * committed before it is returned, so that no two processes make it, and so that in any hour at most `limit` attempts of the
   * app begin, of all processes. Null when there is no mail to be sent, and when the rate is used up: what is to be sent waits
   * then, and several of one kind have become one.
   */
  claim(key: AppKey): Promise<MailRow | null>;
  /** The apps that have mails to be sent, now or later. */
  apps(): Promise<AppKey[]>;
  /** When an app's next mail may be sent, in milliseconds since the epoch; null: it has none to be sent. */
  next(key: AppKey): Promise<number | null>;
  state(key: AppKey): Promise<AppMails>;
}

interface OutboxTools {
  database: HostDatabase;
  /** Mails of an app in one site in an hour. */
  limit: number;
  /** Called with a number of mails that are kept without an attempt. */
  onKept(key: AppKey, count: number, reason: string): void;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/** Which mail is sent next, for all processes (docs/decisions/mail.md). */
export function createOutbox({ database, limit, onKept, now = Date.now }: OutboxTools): Outbox {
  let last: Promise<unknown> = Promise.resolve();

  const again = <T>(work: () => Promise<T>) => throughCollisions(dialects[database.client], work);

  /** Runs `work` while no other process claims a mail of the app. */
  async function locked<T>(key: AppKey, work: (trx: Transaction) => Promise<T>): Promise<T> {
    const attempt = () =>
      database.transaction(async (trx) => {
        // The first statement: what is read after it is what the processes before have committed.
        const rows = await trx(RATES).where(keyOf(key)).update({ locked_at: now() });
        return rows > 0 ? { result: await work(trx) } : null;
      });
    const row = { ...keyOf(key), locked_at: 0 };
    for (;;) {
      const done = await again(attempt);
      if (done) return done.result;
      // MySQL ends one of two processes that insert the first row of an app at the same time.
      await again(async () => database.knex()(RATES).insert(row).onConflict(['site', 'app']).ignore());
    }
  }

  /** One claim at a time: each that waits for another would keep a connection of the pool. */
  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  }

  async function claimOnce(trx: Transaction, key: AppKey): Promise<MailRow | Held | null> {
    const at = now();
    if (limit === 0) return giveUp(trx, key, at);
    return (await triedOf(trx, key, at)) < limit ? claimNext(trx, key, at) : hold(trx, key, { limit, at });
  }

  return {
    async claim(key) {
      for (;;) {
        const claimed = await inOrder(() => locked(key, (trx) => claimOnce(trx, key)));
        if (claimed === null || 'mailId' in claimed) return claimed;
        if (claimed.kept > 0) onKept(key, claimed.kept, claimed.reason);
        if (claimed.count < MAX_HELD) return null;
      }
    },
    apps: () => unsentApps(database.knex()),
    next: (key) => nextAt(database.knex(), key, { limit, at: now() }),
    async state(key) {
      const [db, at] = [database.knex(), now()];
      const counts = await countStates(db, key);
      const next = counts.waiting === 0 ? null : await freeAt(db, key, { limit, at });
      return {
        ...counts,
        tried: await triedOf(db, key, at),
        next: next === null ? null : new Date(Math.max(at, next)).toISOString(),
      };
    },
  };
}

/** Milliseconds that the provider gets for one mail: less than those after which the mail may be claimed again. */
const TIMEOUT = 30_000;

/** Characters of a provider's message that are kept. */
const MAX_MESSAGE = 500;

/** Why a mail was not sent. */
interface SendFailure {
  message: string;
  /** Trying again would not help, or might send it twice. */
  isFinal: boolean;
}

interface EmailService {
  send(mail: Record<string, unknown>): Promise<unknown>;
}

const CALENDAR = 'text/calendar; charset=utf-8; method=PUBLISH';

/** Mail programs show a button that refuses further mails (RFC 2369, RFC 8058). */
const optOutHeaders = (url: string) => ({
  'List-Unsubscribe': `<${url}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
});

/** Sends a mail by Strapi's email plugin and its provider; null when it took it. Never rejects. */
async function sendBy(strapi: Core.Strapi, row: MailRow): Promise<SendFailure | null> {
  const service = strapi.plugin('email')?.service('email') as EmailService | undefined;
  if (!service) return { message: "Strapi's email plugin is not enabled", isFinal: true };
  const { recipients: to, subject, text, html, replyTo, optOut, calendar } = row;
  const mail = {
    to,
    subject,
    ...(text && { text }),
    ...(html && { html }),
    ...(replyTo && { replyTo }),
    ...(optOut && { headers: optOutHeaders(optOut) }),
    ...(calendar && { attachments: [{ filename: 'event.ics', content: calendar, contentType: CALENDAR }] }),
  };
  try {
    const sent = await within(service.send(mail), TIMEOUT, false);
    return sent === 'late' ? { message: `the provider did not answer in ${TIMEOUT / 1000} s`, isFinal: true } : null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { message: message.slice(0, MAX_MESSAGE), isFinal: false };
  }
}

const MAIL = 'plugin::apps.mail';

/** Milliseconds for which one try sends the mails of an app; what is left then is the next one's. */
const TURN = 60_000;

/** Milliseconds after which another mail is sent beside those that are under way. */
const HELP = 100;

/** Mails of one app that are sent at the same time: a slow recipient holds back the others less. */
const MAX_PARALLEL = 5;

/** What a row no longer needs when its mail is sent. */
const withoutBody = { text: null, html: null, optOut: null, calendar: null };

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

  /** Stores what has become of an attempt, as soon as the database can be reached: until then no process can claim the next one. */
  const settle = ({ mailId, dueAt }: MailRow, data: Partial<MailRow>) =>
    throughOutage(() => rows().updateMany({ where: { mailId }, data }), dueAt - Date.now());

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
    const { subject } = mail;
    // What was sent need not be kept: the row counts for the app's rate.
    if (failure === null) return void (await settle(row, { state: 'sent', subject, ...withoutBody, error: null }));
    const isLast = failure.isFinal || row.attempts >= MAX_ATTEMPTS;
    // A digest is written again at the next try: what its text has of a person may have been erased meanwhile.
    await settle(row, { state: isLast ? 'kept' : 'queued', error: failure.message });
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
  key,
  kind: 'mail',
  name: 'mails of the app',
  data: {},
  requester: '',
  jobKey: 'mail',
  sequence: null,
  dueAt: null,
});

/** The job of a mail that is given up, so that people can have it sent again. */
const unsentOf = ({ site, app, mailId, subject }: MailRow): NewJob => ({
  key: { site, app },
  kind: 'mail',
  name: subject,
  data: { mailId },
  requester: '',
  jobKey: null,
  sequence: null,
  dueAt: null,
});

function rowOf({ key, mail: { to, ...mail }, about, receipt }: QueuedMail): MailRow {
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
    optOut: receipt?.optOut ?? null,
    calendar: receipt?.calendar ?? null,
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
  const body = withoutTokens(text ?? html ?? '').slice(0, MAX_LOGGED);
  return `[apps] mail of ${site}/${app} was not sent, ${next} (${reason}): to ${recipients}, subject "${withoutTokens(subject)}": ${body}`;
}
