import type { Site } from '../../sites/types';
import { localeFor, type PageLocale } from '../locales';
import type { AppServices, Run } from './types';

/** The locale of a block of a run. */
export function localeOf({ visit, app }: Pick<Run, 'visit' | 'app'>): Promise<PageLocale> {
  return localeFor(visit.site, app.folder.files, app.folder.themeFiles);
}

const noFiles = new Map<string, never>();

/**
 * The language of the site's own pages: logins, errors, thanks (docs/reference/languages.md#the-language-of-a-page). A theme that
 * cannot be read counts as one without messages.
 */
export async function siteLocale({ sites }: Pick<AppServices, 'sites'>, site: Site): Promise<PageLocale> {
  const theme = await sites.theme(site).catch(() => null);
  return theme ? localeFor(site, theme.files) : plainLocale(site);
}

/** The same without the theme's words, where the theme or the database must not be asked. */
export const plainLocale = (site: Pick<Site, 'locale' | 'timeZone'>): Promise<PageLocale> => localeFor(site, noFiles);
