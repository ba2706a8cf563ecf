import { AppsError } from '../../common/errors';
import { asciiAddress } from '../../common/values/mail-address';
import { isAddress } from './addresses';

/** A mail as logic gives it. */
export interface MailInput {
  to?: string[];
  subject?: string;
  text?: string;
  html?: string;
  reply_to?: string;
}

export interface MailMessage {
  to: string[];
  subject: string;
  text: string | null;
  html: string | null;
  replyTo: string | null;
}

/** Limits of a mail (docs/limits.md#mail). */
export const mailLimits = { recipients: 10, subject: 250, text: 100_000, html: 500_000 };

const refused = (message: string) => new AppsError('BadRequestError', `mail.send: ${message}`);

/**
 * Checks a mail. BadRequestError for the first problem; no header can be added through an address or the subject. Domains of
 * addresses are in ASCII then.
 */
export function checkedMail({
  to = [],
  subject = '',
  text = '',
  html = '',
  reply_to: replyTo = '',
}: MailInput): MailMessage {
  if (to.length === 0) throw refused('"to" must be an address, or a list of addresses');
  if (to.length > mailLimits.recipients) throw refused(`a mail has at most ${mailLimits.recipients} recipients`);
  for (const one of to)
    if (!isAddress(one)) throw refused(`"to" must be a bare address such as me@example.org, not ${shown(one)}`);
  if (subject.trim() === '') throw refused('a mail needs a "subject"');
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(subject))
    throw refused('the "subject" must be one line, without control characters');
  if (subject.length > mailLimits.subject) throw refused(`the "subject" has at most ${mailLimits.subject} characters`);
  if (text === '' && html === '') throw refused('a mail needs a "text" or "html"');
  if (text.length > mailLimits.text) throw refused(`the "text" has at most ${mailLimits.text} characters`);
  if (html.length > mailLimits.html) throw refused(`the "html" has at most ${mailLimits.html} characters`);
  if (replyTo !== '' && !isAddress(replyTo)) throw refused(`"reply_to" must be a bare address, not ${shown(replyTo)}`);
  const [ascii, bodies] = [to.map(asciiAddress), { text: storable(text), html: storable(html) }];
  return { to: ascii, subject, ...bodies, replyTo: asciiAddress(replyTo) || null };
}

/** A body without the character that PostgreSQL does not store. */
const storable = (body: string) => body.replaceAll('\0', '') || null;

const shown = (text: string) => JSON.stringify(text.slice(0, 100));
