import type { DigestText, MailLink } from '../../mail/types';
import type { AppKey } from '../../records/types';
import { localeFor } from '../locales';
import { digestText } from '../mail/digest';
import type { AppServices } from './types';

/** The language of an app that is no longer there. */
const english = { locale: 'en', timeZone: null };

/**
 * The text of the mail that several mails of a form become, in the language of its app.
 * @param panelUrl the absolute address of the admin panel
 */
export async function digestOf(
  { sites, loadApp }: Pick<AppServices, 'sites' | 'loadApp'>,
  panelUrl: string,
  key: AppKey,
  { block, ...about }: { block: string; mails: number; links: readonly MailLink[] },
): Promise<DigestText> {
  const site = await sites.site(key.site);
  const app = site && (await loadApp(site, key.app));
  const locale = await localeFor(site ?? english, app?.folder.files ?? new Map(), app?.folder.themeFiles);
  const page = [key.site, key.app].map(encodeURIComponent).join('/');
  return digestText(locale, {
    ...about,
    form: `${key.app}/${block}`,
    listUrl: `${panelUrl}/plugins/apps/${page}/records`,
  });
}
