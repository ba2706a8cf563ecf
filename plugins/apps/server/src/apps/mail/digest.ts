import { escapeHtml } from '../../layouts';
import type { DigestText, MailLink } from '../../mail/types';
import type { PageLocale } from '../locales';

/** What a digest tells of. */
export interface DigestContent {
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
