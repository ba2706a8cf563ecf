import { memoized } from '../common/collections';
import { AppsError, errorText, isAppsError, missing, notFound } from '../common/errors';
import { type Awaitable, whenAll } from '../common/time/awaitable';
import type { AppsConfig, SiteConfig } from '../config.types';
import { createAddressParser, urls } from './addresses';
import { type ContentTypeInfo, createContent, type ReadContent } from './content';
import { createEditor } from './themes/editor';
import {
  createChoices,
  createThemes,
  revisionOf,
  type SettingStore,
  type Snapshot,
  themeProblems,
} from './themes/themes';
import { createWatchedApps } from './themes/watched-apps';
import type { AppFolder, AppLocation, Site, Sites, ThemeFile, ThemeFolder } from './types';

export interface SitesOptions {
  config: Pick<AppsConfig, 'themesDirectory' | 'appsFolder' | 'sites' | 'content'>;
  /** Strapi's public URL, with or without a slash at its end. */
  baseUrl(): string;
  readContent: ReadContent;
  /** Strapi's default locale; without it sites that name none have none. */
  defaultLocale?(): Awaitable<string | null>;
  settingStore: SettingStore;
  /** The host's content types that have a content API. */
  contentTypes(): ContentTypeInfo[];
  logger: { warn(message: string): void };
  /** In production files are checked once a second, else at each request. */
  production: boolean;
  /** Reads theme.yaml (apps/ parses YAML); without it themes are shown by their ids. */
  readThemeInfo?(file: ThemeFile): { title?: string; description?: string };
}

/** Sites, with all that they need of Strapi as options. */
export function createSitesFrom(options: SitesOptions): Sites {
  const { config, baseUrl, logger, settingStore } = options;
  const themes = createThemes(options);
  const choices = createChoices(settingStore);
  const folders = createFolders();

  function siteOf(site: SiteConfig): Awaitable<Site> {
    const { id, title, timeZone = null } = site;
    const locale = site.locale ?? options.defaultLocale?.() ?? null;
    return whenAll([locale, choices.get(themeKey(id))], ([locale, chosen]) => {
      const url = `${baseUrl().replace(/\/+$/, '')}/${id}`;
      return { id, title, url, theme: chosen ?? site.theme, locale, timeZone };
    });
  }

  const all = () => Promise.all(config.sites.map(siteOf));

  const appIds = async (themeId: string) => (await themes.apps(themeId)).map(([id]) => id);

  const configOf = (id: string) => config.sites.find((site) => site.id === id);

  return {
    parse: createAddressParser(config.sites.map(({ id }) => id)),
    urls,
    editor: createEditor(themes, config.appsFolder),
    content: createContent({ ...options, sites: all }),
    apps: (site) => appIds(site.theme),
    asset: themes.asset,
    assetVersion: themes.assetVersion,
    all,
    watched: createWatchedApps({
      sites: all,
      apps: (site) => themes.apps(site.theme),
      words: themes.watchedWords,
      production: options.production,
    }),

    site(id) {
      const found = configOf(id);
      return found && siteOf(found);
    },

    async activate(siteId, themeId) {
      if (!configOf(siteId)) throw notFound(missing.site(siteId));
      if (!(await themes.rootOf(themeId))) throw notFound(`There is no theme "${themeId}"`);
      await choices.set(themeKey(siteId), themeId);
    },

    async setup() {
      return themeProblems(config.themesDirectory, await themes.ids(), await all());
    },

    async themes() {
      return Promise.all(
        (await themes.ids()).map(async (id) => {
          const file = (await themes.themeFiles(id))?.files.get('theme.yaml');
          const { title = id, description = '' } = describeTheme(options, id, file, logger);
          return { id, title, description, apps: await appIds(id) };
        }),
      );
    },

    app(site, appId) {
      return whenAll([themes.locateApp(site.theme, appId)], ([location]) => {
        if (!location) return null;
        const options = choices.get(optionsKey(site.id, appId));
        return whenAll(
          [themes.appFiles(location), themes.filesOfTheme(location), options],
          ([files, ofTheme, options]) => folders.app(site, appId, location, files, { ofTheme, options }),
        );
      });
    },

    async revision(site, appId) {
      const location = await themes.locateApp(site.theme, appId);
      if (!location) return null;
      const [files, themeFiles] = await Promise.all([themes.appFiles(location), themes.filesOfTheme(location)]);
      return `${location.themeId}.${files.revision}.${sharedRevision(themeFiles)}`;
    },

    async setOptions(siteId, appId, options, read) {
      const key = optionsKey(siteId, appId);
      await choices.change(key, (stored) => {
        if (read !== undefined && optionsRevision(stored) !== read) throw optionsChanged(stored);
        return options && JSON.stringify(options);
      });
    },

    async theme(site) {
      const snapshot = await themes.themeFiles(site.theme);
      return snapshot && folders.theme(site.theme, snapshot);
    },
  };
}

/** The key of the theme that an administrator has chosen for a site. */
const themeKey = (siteId: string) => `theme:${siteId}`;

/** The key of the options that an administrator has set for an app of a site. */
const optionsKey = (siteId: string, appId: string) => `options:${siteId}/${appId}`;

/** A text that changes with the options that an administrator has set, as JSON; null where there are none. */
export const optionsRevision = (options: string | null): string | null =>
  options === null ? null : revisionOf([{ path: 'options', text: options }]);

/** The options are not as they were when they were read; `current` is what they are now. */
function optionsChanged(stored: string | null): AppsError {
  const current = { override: stored === null ? null : JSON.parse(stored), revision: optionsRevision(stored) };
  return new AppsError('ConflictError', 'The options have changed since they were read', { details: { current } });
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
    logger.warn(`[apps] theme "${id}": ${isAppsError(error) ? errorText(error) : (error as Error).message}`);
    return {};
  }
}

/** Caches folder objects: an unchanged folder stays the same object, so that callers can cache results by it. */
function createFolders() {
  const apps = new Map<string, { snapshot: Snapshot; themeRevision: string; folder: AppFolder }>();
  const themes = new Map<string, { snapshot: Snapshot; folder: ThemeFolder }>();

  return {
    app(
      site: Site,
      appId: string,
      { themeId }: AppLocation,
      snapshot: Snapshot,
      { ofTheme, options }: { ofTheme: Snapshot; options: string | null },
    ): AppFolder {
      // A preview of another theme must not take the place of the active one's.
      const key = `${site.id}/${site.theme}/${appId}`;
      const known = apps.get(key);
      const themeRevision = sharedRevision(ofTheme);
      const isSame =
        known?.snapshot === snapshot && known.folder.themeId === themeId && known.folder.options === options;
      if (isSame && sameSite(known.folder.site, site) && known.themeRevision === themeRevision) {
        return known.folder;
      }
      const theme = ofTheme.files.get('theme.yaml') ?? null;
      const themeFiles = new Map([...ofTheme.files].filter(([path]) => isShared(path)));
      const files = new Map(snapshot.files);
      const settings = files.get('settings.yaml') ?? null;
      files.delete('settings.yaml');
      const revision = [snapshot.revision, themeRevision, optionsRevision(options)].filter(Boolean).join('.');
      const folder = { site, appId, themeId, revision, settings, options, theme, themeFiles, files };
      apps.set(key, { snapshot, themeRevision, folder });
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

/** Folders of a theme that its apps use too, besides `theme.yaml`. */
export const sharedFolders = ['partials', 'locales'] as const;

const isShared = (path: string) => sharedFolders.some((folder) => path.startsWith(`${folder}/`));

/** Revision of the files of a theme that its apps use; '' without such files. */
const sharedRevision = memoized((theme: Snapshot): string => {
  const used = [...theme.files.values()].filter(({ path }) => path === 'theme.yaml' || isShared(path));
  return used.length > 0 ? revisionOf(used) : '';
});

const compared = ['title', 'url', 'theme', 'locale', 'timeZone'] as const;

function sameSite(a: Site, b: Site): boolean {
  return compared.every((key) => a[key] === b[key]);
}
