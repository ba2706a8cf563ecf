import { escapeHtml, localeFor, type PageLocale, type ServiceMessage } from '../../apps';
import type { AppsError } from '../../errors';
import type { Site } from '../../sites/types';
import type { HttpServices } from '../request/exchange';

/** Statuses that have a title and a sentence of their own. */
const known = new Set([400, 401, 403, 404, 409, 422, 500, 503, 504]);

/**
 * The language of the site's own pages: logins, errors, thanks (docs/reference/languages.md#the-language-of-a-page). A theme that
 * cannot be read counts as one without messages.
 */
export async function siteLocale({ sites }: Pick<HttpServices, 'sites'>, site: Site): Promise<PageLocale> {
  const theme = await sites.theme(site).catch(() => null);
  return theme ? localeFor(site, theme.files) : plainLocale(site);
}

/** The same without the theme's words, where the theme or the database must not be asked. */
export const plainLocale = (site: Site): Promise<PageLocale> => localeFor(site, noFiles);

const noFiles = new Map<string, never>();

export const errorTitle = ({ say }: PageLocale, status: number): string =>
  say(known.has(status) ? (`title_${status}` as ServiceMessage) : 'title_other');

/**
 * What a visitor reads of an error: its own message in English, in other languages a sentence about its status, because messages
 * of errors are in English only.
 */
export function visitorText(locale: PageLocale, status: number, message: string): string {
  if (locale.language === 'en') return message;
  const hasSentence = known.has(status) || status === 429;
  return locale.say(hasSentence ? (`error_${status}` as ServiceMessage) : 'error_other');
}

/** The same for an error that a form shows beside its fields. */
export const problemText = (locale: PageLocale, { status, message }: AppsError): string =>
  visitorText(locale, status, message);

/** Marks content whose language is not the site's, which the theme's layout names. */
export function inLanguage({ language }: PageLocale, site: Site, content: string): string {
  if ((site.locale ?? 'en').split('-', 1)[0] === language.split('-', 1)[0]) return content;
  return `<div lang="${escapeHtml(language)}">\n${content}\n</div>`;
}
