import { readThemeInfo } from '../apps';
import { createSitesFrom } from '../sites';
import type { Sites } from '../sites/types';

/**
 * Themes on disk, read as the server reads them, without a database and without Strapi. Each theme is the site of its id.
 * @param warn called with what the server would log about links
 */
export function sitesOfThemes(
  { themesDirectory, appsFolder }: { themesDirectory: string; appsFolder: string },
  themes: readonly string[],
  warn: (message: string) => void,
): Sites {
  return createSitesFrom({
    config: {
      themesDirectory,
      appsFolder,
      content: {},
      sites: themes.map((theme) => ({ id: theme, title: theme, theme })),
    },
    baseUrl: () => 'http://localhost',
    readContent: async () => null,
    settingStore: { get: async () => null, set: async () => undefined, inTransaction: () => false },
    contentTypes: () => [],
    logger: { warn },
    production: false,
    readThemeInfo,
  });
}
