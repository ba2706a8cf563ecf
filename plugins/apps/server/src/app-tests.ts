import { join } from 'node:path';
import { clearRenderings } from './apps';
import type { HttpServices } from './http';
import type { Answerer } from './outbound';
import type { Site } from './sites/types';

/** An app of a site, for its tests. */
export interface TestableApp {
  id: string;
  /** Absolute path of its folder. */
  folder: string;
  /** URL of the app at the site's root. */
  url: string;
}

/**
 * `strapi.plugin('apps').service('tests')`: what the tests of apps need of the running plugin besides its addresses
 * (docs/reference/app-tests.md). Only `npx strapi-plugin-apps test` uses it.
 */
export function createTestTools(services: () => HttpServices) {
  let stoppedAt: number | null = null;
  let answerer: Answerer | null = null;
  const find = async (id?: string): Promise<Site | null> => {
    const { sites, config } = services();
    return (await sites.site(id ?? config.sites[0]?.id ?? '')) ?? null;
  };
  return {
    /** The time at which the clock of logic stands still, in milliseconds since 1970; null: it runs. */
    now: () => stoppedAt,

    /** Stops the clock of logic at a time, or lets it run. */
    setClock(time: number | null): void {
      stoppedAt = time;
    },

    /** What answers calls out in place of other hosts; null: they are made. */
    answerer: () => answerer,

    setAnswerer(next: Answerer | null): void {
      answerer = next;
    },

    /** Forgets renderings that visitors share: they would be shown in later tests. */
    clearRenderings: () => clearRenderings(services()),

    /** A site and the apps of its active theme; null if there is no such site. Without an id, the default site. */
    async site(siteId?: string): Promise<{ id: string; url: string; theme: string; apps: TestableApp[] } | null> {
      const { sites, config } = services();
      const site = await find(siteId);
      if (!site) return null;
      const ids = await sites.apps(site);
      const apps = ids.map(async (id): Promise<TestableApp[]> => {
        const found = await sites.app(site, id);
        if (!found) return [];
        const folder = join(config.themesDirectory, found.themeId, config.appsFolder, id);
        return [{ id, folder, url: sites.urls.app(site, id) }];
      });
      return { id: site.id, url: site.url, theme: site.theme, apps: (await Promise.all(apps)).flat() };
    },

    /** Where the site shows an entry, as a path below the site; null where it shows none, or where anonymous may not read it. */
    async pathOf(siteId: string, uid: string, documentId: string, locale?: string): Promise<string | null> {
      const { sites, requesters } = services();
      const site = await find(siteId);
      const item = site && (await sites.content.find(site, { uid, documentId, locale }, await requesters.anonymous()));
      return item?.path ?? null;
    },
  };
}
