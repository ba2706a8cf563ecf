import { itemOf, type Json } from '../../../shared/json';
import { AppsError } from '../common/errors';
import { asciiAddress } from '../common/text';
import { escapeHtml } from '../layouts';
import type { DigestText, MailLink } from '../mail/types';
import type { PageLocale } from './locales';
import type { Settings } from './types';

/** Characters of an address, and of the part before its `@` (RFC 5321). */
const MAX_ADDRESS = 254;
const MAX_LOCAL = 64;

/** What no bare address has: white space, control characters, and what would make it a name, a list or a comment. */
const ADDRESS = /^[^\s\p{Cc}\p{Zl}\p{Zp}@"(),:;<>[\\\]]+@[^\s\p{Cc}\p{Zl}\p{Zp}@"(),:;<>[\\\]*]+$/u;

/** The name of an option in place of an address: `{recipient}`. */
const OPTION = /^\{([\w-]+)\}$/;

/** Whether a text is one bare address, without a name: it cannot end its header's line, nor name a second recipient. */
export function isAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS && text.indexOf('@') <= MAX_LOCAL && ADDRESS.test(text);
}

/** Whether a text may stand in `mail.to`: an address, `*@<domain>`, or the name of an option in braces. */
export function isRecipientEntry(text: string): boolean {
  return isAddress(text) || OPTION.test(text);
}

/** Addresses and `*@<domain>` to which an app may send; options are looked up, and ignored where they are neither. */
export function recipientEntries({ mail, options }: Settings): string[] {
  return (mail?.to ?? []).flatMap((entry) => {
    const [, option] = OPTION.exec(entry) ?? [];
    return option === undefined ? [entry] : textsOf(itemOf(options, option)).filter(isAddress);
  });
}

const textsOf = (value: Json): string[] => [value].flat().filter((one): one is string => typeof one === 'string');

/** Whether `address` is one of the entries, or in the domain of one. Letter case and the spelling of a domain do not count. */
export function isAllowed(address: string, entries: readonly string[]): boolean {
  const given = asciiAddress(address).toLowerCase();
  const domain = given.slice(given.lastIndexOf('@'));
  return entries.some((entry) => {
    const wanted = asciiAddress(entry).toLowerCase();
    return wanted === given || wanted === `*${domain}`;
  });
}

/** What a digest tells of. */
interface DigestContent {
  /** The form whose mails had to wait. */
  form: string;
  /** How many they were, and the first of them. */
  mails: number;
  links: readonly MailLink[];
  /** Where the other records are. */
  listUrl: string;
}

/**
 * The mail that a form's mails become when they had to wait (docs/reference/definitions.md#notify): a line with the subject of
 * each, and the address of its record. Nothing else of the mails is in it. Subjects are text of visitors.
 */
export function digestText(
  { say }: Pick<PageLocale, 'say'>,
  { form, mails, links, listUrl }: DigestContent,
): DigestText {
  const intro = say('digest_intro', { form });
  const more = mails > links.length ? say('digest_more', { count: mails - links.length }) : null;
  const lines = links.map(({ title, url }) => `- ${title}\n  ${url}`);
  const items = links.map(({ title, url }) => `<li>${linked(url, title)}</li>`);
  return {
    subject: say('digest_subject', { count: mails, form }),
    text: [intro, '', ...lines, ...(more ? ['', more, listUrl] : [])].join('\n'),
    html: `<p>${escapeHtml(intro)}</p><ul>${items.join('')}</ul>${more ? `<p>${escapeHtml(more)} ${linked(listUrl, listUrl)}</p>` : ''}`,
  };
}

const linked = (url: string, text: string) => `<a href="${escapeHtml(url)}">${escapeHtml(text)}</a>`;

/** Characters that one value may add. */
const MAX_VALUE = 1_000;

/**
 * Replaces each `{name}` of a text by a value: of a list its entries, '' for what does not exist. The result is one line
 * without control characters, because it becomes a header of a mail.
 */
export function filledLine(text: string, lookUp: (name: string) => Json | undefined): string {
  const filled = text.replace(/\{([^{}]{1,200})\}/g, (_, name: string) =>
    shown(lookUp(name.trim())).slice(0, MAX_VALUE),
  );
  return filled.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** A value as people read it. */
export function shown(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(shown).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A mail as logic gives it. */
interface MailInput {
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
    if (!isAddress(one)) throw refused(`"to" must be a bare address such as me@example.org, not ${quoted(one)}`);
  if (subject.trim() === '') throw refused('a mail needs a "subject"');
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(subject))
    throw refused('the "subject" must be one line, without control characters');
  if (subject.length > mailLimits.subject) throw refused(`the "subject" has at most ${mailLimits.subject} characters`);
  if (text === '' && html === '') throw refused('a mail needs a "text" or "html"');
  if (text.length > mailLimits.text) throw refused(`the "text" has at most ${mailLimits.text} characters`);
  if (html.length > mailLimits.html) throw refused(`the "html" has at most ${mailLimits.html} characters`);
  if (replyTo !== '' && !isAddress(replyTo)) throw refused(`"reply_to" must be a bare address, not ${quoted(replyTo)}`);
  const [ascii, bodies] = [to.map(asciiAddress), { text: storable(text), html: storable(html) }];
  return { to: ascii, subject, ...bodies, replyTo: asciiAddress(replyTo) || null };
}

/** A body without the character that PostgreSQL does not store. */
const storable = (body: string) => body.replaceAll('\0', '') || null;

const quoted = (text: string) => JSON.stringify(text.slice(0, 100));
