import { otherLanguage, type PageLocale, plainLocale, type ServiceMessage } from '../../apps';
import type { AppsError } from '../../common/errors';
import type { Site } from '../../sites/types';
import type { HttpServices } from '../request/exchange';

/** Statuses that have a title and a sentence of their own. */
const known = new Set([400, 401, 403, 404, 409, 422, 500, 503, 504]);

/** The language of an error that is answered before an address is handled: that of the site that the path names. */
export async function localeOfPath({ sites }: Pick<HttpServices, 'sites'>, path: string): Promise<PageLocale> {
  const site = await sites.site(siteIdIn(sites, path)).catch(() => null);
  return plainLocale(site ?? { locale: 'en', timeZone: null });
}

/** The id of the site in a path; of one that cannot be read its first part. */
function siteIdIn(sites: HttpServices['sites'], path: string): string {
  const first = path.split('/', 2)[1] ?? '';
  try {
    return sites.parse(path)?.site ?? first;
  } catch {
    return first;
  }
}

export const errorTitle = ({ say }: PageLocale, status: number): string =>
  say(known.has(status) ? (`title_${status}` as ServiceMessage) : 'title_other');

/**
 * What a visitor reads of an error: its own message in English, in other languages a sentence about its status, because messages
 * of errors are in English only.
 */
export function visitorText(locale: PageLocale, status: number, message: string): string {
  if (locale.language === 'en') return message;
  const hasSentence = known.has(status) || status === 413 || status === 429;
  return locale.say(hasSentence ? (`error_${status}` as ServiceMessage) : 'error_other');
}

/** The same for an error that a form shows beside its fields. */
export const problemText = (locale: PageLocale, { status, message }: AppsError): string =>
  visitorText(locale, status, message);

/** Marks content whose language is not the site's, which the theme's layout names. */
export function inLanguage(locale: PageLocale, site: Site, content: string): string {
  const lang = otherLanguage(locale, site);
  return lang === '' ? content : `<div${lang}>\n${content}\n</div>`;
}
