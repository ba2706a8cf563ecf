import type { Core } from '@strapi/strapi';
import type { SiteConfig } from '../../config.types';
import type { Site } from '../types';

/**
 * Why a request may not name these locales: its site's address decides, so that all links of a page stay in one language.
 * Null for the site's own.
 * @param sites those that may have the other locale
 */
export function localeProblem(site: Site, query: URLSearchParams, sites: readonly Site[] = []): string | null {
  if (site.locale === null) return null;
  const names = [...query].flatMap(([name, value]) => (name === 'locale' || name.startsWith('locale[') ? [value] : []));
  const other = names.find((name) => name !== '' && name !== site.locale);
  if (other === undefined) return null;
  const there = sites.find(({ locale }) => locale === other);
  const where = there ? `content in that locale is below ${there.url}` : 'no site has that locale';
  return `The site "${site.id}" is in the locale "${site.locale}", and "locale" names another one: ${where}`;
}

/** Logs a warning about sites whose locale Strapi does not know: one may be added while the server runs. */
export async function warnOfLocales(
  strapi: Core.Strapi,
  sites: readonly SiteConfig[],
  logger: { warn(message: string): void },
): Promise<void> {
  const found: { code: string }[] = (await strapi.plugin('i18n')?.service('locales').find()) ?? [];
  const known = found.map(({ code }) => code);
  for (const { id, locale } of sites) {
    if (locale === undefined || known.includes(locale)) continue;
    logger.warn(
      `[apps] the site "${id}" has the locale "${locale}", which is none of Strapi's (${known.join(', ')}): its localized ` +
        'content is not found until the locale is added in the settings, under Internationalization',
    );
  }
}
