import type { AppMails } from '../../../shared/admin-api';
import type { JobHandler } from '../jobs/types';
import type { AppKey, UnitOfWork } from '../records/types';

/** A record of which a mail tells: a line of the mail that several such mails become. */
export interface MailLink {
  /** The subject of its own mail. */
  title: string;
  /** The record's absolute address. */
  url: string;
}

/** What the mail to an address that a visitor has entered counts for (docs/reference/definitions.md#receipts). */
export interface CountedReceipt {
  address: string;
  /** A keyed digest of the network that has asked for it; null: an editor has, or no request. */
  network: string | null;
  /**
   * Whether the request fails where the mail may not be sent now, because its record could never be confirmed. Such mails are counted
   * apart from the others to the same address.
   */
  isNeeded: boolean;
  /** Called, before the request is answered, where one that is not needed may not be sent now. */
  dropped?: (() => void) | undefined;
  /** The address at which no more of them are wanted. */
  optOut: string;
  /** An iCalendar file; null without one. */
  calendar: string | null;
}

/** Which receipts are sent: limits and refusals that all server processes share. Addresses are stored as keyed digests only. */
export interface Receipts {
  /**
   * Counts a mail, in the caller's transaction.
   * @returns `full`: too many were sent to its address or from its network; `refused`: its address wants none, which no answer may say
   */
  admit(key: AppKey, receipt: CountedReceipt): Promise<'sent' | 'full' | 'refused'>;
  /** The token by which the reader of a mail refuses further ones of a site. */
  token(site: string, address: string): string;
  /** What the token stands for, for the two methods below; null for one that is forged or of another site. */
  read(site: string, token: string): string | null;
  isRefused(site: string, digest: string): Promise<boolean>;
  /** @param isOn false: mails are sent again */
  refuse(site: string, digest: string, isOn: boolean): Promise<void>;
}

/** A mail of an app, before it is stored. */
export interface QueuedMail {
  key: AppKey;
  mail: { to: string[]; subject: string; text: string | null; html: string | null; replyTo: string | null };
  /** The form that has saved a record, and the record: several mails of one form that wait become one. Null for mails of logic. */
  about: { block: string; link: MailLink } | null;
  /** Null: its recipients are those of the app's settings. */
  receipt: CountedReceipt | null;
}

/** A row of `plugin::apps.mail`. Times are milliseconds since the epoch. */
export interface MailRow {
  /** Chosen before the row is stored, so that a repeated insertion makes the same row. */
  mailId: string;
  site: string;
  app: string;
  /** The block of the form; '' for a mail of logic. */
  block: string;
  /** The same for mails that may become one: those of one form to the same recipients. Null for a mail of logic. */
  kind: string | null;
  /** JSON of at most `MAX_LINES` MailLinks. Null for a mail of logic. */
  links: string | null;
  /** The mails that it stands for; of several about one record, one counts. */
  mails: number;
  recipients: string;
  subject: string;
  /** A digest has neither text nor HTML before it is sent. */
  text: string | null;
  html: string | null;
  replyTo: string | null;
  /** Of a receipt: where its reader refuses further ones; the header `List-Unsubscribe`. */
  optOut: string | null;
  /** An iCalendar file that is sent with it. */
  calendar: string | null;
  /**
   * `queued`: to be sent, or being sent until `dueAt`; `waiting`: over the app's rate; `sent`; `kept`: not sent, and not
   * tried again.
   */
  state: 'queued' | 'waiting' | 'sent' | 'kept';
  attempts: number;
  /** When the last attempt began: the rate counts attempts. */
  triedAt: number | null;
  /** When it may be tried next. */
  dueAt: number;
  /** Why the last attempt failed, or why there was none. */
  error: string | null;
}

/** The text of a mail that stands for several. */
export type DigestText = Pick<MailRow, 'subject' | 'text' | 'html'>;

/** The outbox of all apps, in the host's database: jobs of the kind `mail` send from it (docs/decisions/mail.md). */
export interface Mailer {
  /** Mails of an app that count for its rate: tried in the last hour, or still to be sent. Reads in the caller's transaction. */
  count(key: AppKey): Promise<number>;
  rowsOf(mails: readonly QueuedMail[]): MailRow[];
  /** Inserts rows, in the caller's transaction. */
  store(rows: readonly MailRow[]): Promise<void>;
  /** Has the mails of the rows' apps sent after the unit's commit, as many as their rates allow. */
  send(unit: UnitOfWork, rows: readonly MailRow[]): Promise<void>;
  /** Does jobs of the kind `mail`. */
  handler: JobHandler;
  /** What the panel shows of an app's mails. */
  state(key: AppKey): Promise<AppMails>;
  /** Begins to delete old rows. */
  start(): void;
  destroy(): void;
}
