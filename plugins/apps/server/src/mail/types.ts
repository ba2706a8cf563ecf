import type { AppKey } from '../records/types';

/** A mail of an app, before it is stored. */
export interface QueuedMail {
  key: AppKey;
  mail: { to: string[]; subject: string; text: string | null; html: string | null; replyTo: string | null };
}

/** A row of `plugin::apps.mail`. */
export interface MailRow {
  /** Chosen before the row is stored, so that a repeated insertion makes the same row. */
  mailId: string;
  site: string;
  app: string;
  recipients: string;
  subject: string;
  text: string | null;
  html: string | null;
  replyTo: string | null;
  /** `queued`: to be sent; `sent`; `kept`: could not be sent, and is not tried again. */
  state: 'queued' | 'sent' | 'kept';
  attempts: number;
  /** ISO 8601: when it may be tried next. */
  nextAt: string;
  /** Why the last attempt failed. */
  error: string | null;
}

/** The outbox of all apps, in the host's database: every process sends from it, and each mail is claimed by one. */
export interface Mailer {
  /** Mails of an app since a time, whatever became of them. */
  count(key: AppKey, since: Date): Promise<number>;
  rowsOf(mails: readonly QueuedMail[]): MailRow[];
  /** Inserts rows, in the caller's transaction. */
  store(rows: readonly MailRow[]): Promise<void>;
  /** Sends stored mails in the background. */
  deliver(rows: readonly MailRow[]): void;
  /** Begins to try again what could not be sent, and to delete old rows. */
  start(): void;
  destroy(): Promise<void>;
}
