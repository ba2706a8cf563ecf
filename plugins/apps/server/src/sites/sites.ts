import type { AppsConfig, SiteConfig } from '../config.types';
import { AppsError } from '../errors';
import { createActiveThemes, type SettingStore } from './active-theme';
import { createAddressParser } from './address';
import { type ContentTypeInfo, createContent, type ReadContent } from './content';
import { revisionOf, type Snapshot } from './snapshots';
import { type AppPlace, createThemes } from './themes';
import type { AppFolder, Site, Sites, ThemeFile, ThemeFolder } from './types';
import { urls } from './urls';

export interface SitesOptions {
  config: Pick<AppsConfig, 'themesDirectory' | 'appsFolder' | 'sites' | 'content'>;
  /** Strapi's public URL, with or without a slash at its end. */
  baseUrl(): string;
  readContent: ReadContent;
  /** Strapi's default locale; without it sites that name none have none. */
  defaultLocale?(): Promise<string | null>;
  settingStore: SettingStore;
  /** The host's content types that have a content API. */
  contentTypes(): ContentTypeInfo[];
  logger: { warn(message: string): void };
  /** In production files are looked at once a second, else with every request. */
  production: boolean;
  /** Reads theme.yaml (js-yaml is another room's); without it themes are shown by their ids. */
  readThemeInfo?(file: ThemeFile): { title?: string; description?: string };
}

/** The room, with everything that it asks of Strapi given to it. */
export function createSitesFrom(options: SitesOptions): Sites {
  const { config, baseUrl, logger, settingStore } = options;
  const themes = createThemes(options);
  const active = createActiveThemes(settingStore);
  const folders = createFolders();

  async function siteOf(site: SiteConfig): Promise<Site> {
    const { id, title } = site;
    const locale = site.locale ?? (await options.defaultLocale?.()) ?? null;
    return { id, title, url: `${baseUrl().replace(/\/+$/, '')}/${id}`, theme: await active.get(site), locale };
  }

  const all = () => Promise.all(config.sites.map(siteOf));

  const configOf = (id: string) => config.sites.find((site) => site.id === id);

  return {
    parse: createAddressParser(config.sites.map(({ id }) => id)),
    urls,
    content: createContent({ ...options, sites: all }),
    apps: (site) => themes.appIds(site.theme),
    asset: ({ theme, app, path }) => themes.asset(theme, app, path),
    all,

    async site(id) {
      const found = configOf(id);
      return found && siteOf(found);
    },

    async activate(siteId, themeId) {
      if (!configOf(siteId)) throw new AppsError('NotFoundError', `There is no site "${siteId}"`);
      if (!(await themes.rootOf(themeId))) throw new AppsError('NotFoundError', `There is no theme "${themeId}"`);
      await active.set(siteId, themeId);
    },

    async themes() {
      return Promise.all(
        (await themes.ids()).map(async (id) => {
          const file = (await themes.themeFiles(id))?.files.get('theme.yaml');
          const { title = id, description = '' } = describeTheme(options, id, file, logger);
          return { id, title, description, apps: await themes.appIds(id) };
        }),
      );
    },

    async app(site, appId) {
      const place = await themes.appPlace(site.theme, appId);
      if (!place) return null;
      const [files, around] = await Promise.all([themes.appFiles(place), themes.filesAround(place)]);
      return folders.app(site, appId, place, files, around.files.get('theme.yaml') ?? null);
    },

    async theme(site) {
      const snapshot = await themes.themeFiles(site.theme);
      return snapshot && folders.theme(site.theme, snapshot);
    },
  };
}

/** What a theme says about itself; a broken theme.yaml must not hide the theme. */
function describeTheme(
  { readThemeInfo }: SitesOptions,
  id: string,
  file: ThemeFile | undefined,
  logger: SitesOptions['logger'],
) {
  try {
    return file && readThemeInfo ? readThemeInfo(file) : {};
  } catch (error) {
    logger.warn(`[apps] theme "${id}": ${(error as Error).message}`);
    return {};
  }
}

/** Folder objects that stay the same as long as nothing about them changes, so that what is made of them can be kept. */
function createFolders() {
  const apps = new Map<string, { snapshot: Snapshot; folder: AppFolder }>();
  const themes = new Map<string, { snapshot: Snapshot; folder: ThemeFolder }>();

  return {
    app(site: Site, appId: string, { themeId }: AppPlace, snapshot: Snapshot, theme: ThemeFile | null): AppFolder {
      const key = `${site.id}/${appId}`;
      const known = apps.get(key);
      if (known?.snapshot === snapshot && known.folder.themeId === themeId && sameSite(known.folder.site, site)) {
        if (known.folder.theme === theme || known.folder.theme?.text === theme?.text) return known.folder;
      }
      const files = new Map(snapshot.files);
      const settings = files.get('settings.yaml') ?? null;
      files.delete('settings.yaml');
      const revision = theme ? `${snapshot.revision}.${revisionOf([theme])}` : snapshot.revision;
      const folder = { site, appId, themeId, revision, settings, theme, files };
      apps.set(key, { snapshot, folder });
      return folder;
    },

    theme(id: string, snapshot: Snapshot): ThemeFolder {
      const known = themes.get(id);
      if (known?.snapshot === snapshot) return known.folder;
      const folder = { id, revision: snapshot.revision, files: snapshot.files };
      themes.set(id, { snapshot, folder });
      return folder;
    },
  };
}

function sameSite(a: Site, b: Site): boolean {
  return a.title === b.title && a.url === b.url && a.theme === b.theme && a.locale === b.locale;
}
