import type { SetupProblem } from '../../../shared/admin-api';
import type { Items } from '../../../shared/json';
import type { Requester } from '../auth/types';
import type { Awaitable } from '../common/time/awaitable';
import type { ContentTypeInfo } from './content';
import type { Editor } from './themes/editor';
import type { OpenFile } from './themes/theme-files';
import type { WatchedApp, WatchedWord } from './themes/watched-apps';

export type { OpenFile };

export interface Site {
  id: string;
  title: string;
  /** Absolute URL without trailing slash: `{base_url}/<site_id>`. */
  url: string;
  /** Id of the active theme. */
  theme: string;
  /** Locale of its localized content: the configured one, else Strapi's default; null in a Strapi without locales. */
  locale: string | null;
  /** IANA time zone of the dates on its pages; null: the server's. */
  timeZone: string | null;
}

/**
 * What a request's path asks for, parsed from the raw path (docs/reference/addresses.md#addresses-of-an-app). Segments
 * are decoded once.
 */
export type Address =
  | {
      kind: 'app';
      site: string /** Raw content path without slashes at its ends, '' at the site's root. */;
      content: string;
      app: string;
      target: AppTarget;
    }
  | { kind: 'view'; site: string; content: string; view: string }
  | { kind: 'page'; site: string; content: string }
  | ({ kind: 'theme-asset'; site: string } & PublicFile)
  | {
      kind: 'login' | 'logout' | 'script' | 'live-script' | 'style' | 'openapi' | 'reload' | 'reload-script';
      site: string;
    };

/** A file of an `assets/` folder. */
export interface PublicFile {
  theme: string;
  /** Undefined: one of the theme's own. */
  app?: string;
  path: string;
}

/** What follows `/@@apps/<app_id>`. */
export type AppTarget =
  | { kind: 'root' }
  | { kind: 'records' }
  | { kind: 'search' }
  /** The same as a table, by a plain link. */
  | { kind: 'records.csv' }
  | { kind: 'search.csv' }
  | { kind: 'records.xlsx' }
  | { kind: 'search.xlsx' }
  | { kind: 'refresh' }
  | { kind: 'openapi' }
  /**
   * `edit` is true when the path ends with `/edit`; `id` then still contains it: the page decides
   * (docs/reference/addresses.md#record-ids).
   */
  | { kind: 'record'; id: string; edit: boolean }
  | { kind: 'history'; id: string }
  /** A private file of a record. */
  | { kind: 'file'; id: string; name: string }
  /** A signed link to an own record. */
  | { kind: 'mine'; token: string }
  /** A signed link to a draft. */
  | { kind: 'draft'; token: string }
  /** A signed link to the button that confirms a record. */
  | { kind: 'confirm'; token: string }
  /** A signed link to the button that refuses further receipts. */
  | { kind: 'unsubscribe'; token: string }
  | { kind: 'block'; block: string }
  | { kind: 'element'; block: string; element: string };

/** Targets of an app that end with the token of a signed link. */
export type LinkTargetKind = Extract<AppTarget, { token: string }>['kind'];

/** A content item that the requester may read, as logic and layouts see it. */
export interface ContentItem {
  /** Content type uid, or `'portal'` for the site's root. */
  type: string;
  id: string;
  documentId: string | null;
  title: string;
  /** Absolute URL, on the first site in its locale if this site has another one; null if no site has that locale. */
  url: string | null;
  /** Path below that site, with a leading slash: `/articles/news`; `/` for the portal. */
  path: string;
  /** The item's fields that the requester may read. */
  fields: Items;
  /** Of an item of a localized type, else null. */
  locale: string | null;
  /** Only events have drafts: `url` and `path` are those that the draft has when it is published. */
  draft: boolean;
}

/**
 * Resolves content paths with the requester's own permissions; null when there is none they may read. A site has the
 * localized content of its own locale.
 */
export interface ContentResolver {
  resolve(site: Site, contentPath: string, requester: Requester): Promise<ContentItem | null>;
  /** The item of a type and documentId, with its address, or null. @param locale the site's without it */
  find(
    site: Site,
    item: { uid: string; documentId: string; locale?: string | null },
    requester: Requester,
  ): Promise<ContentItem | null>;
  /** The item with these fields, with its address; null when there is no such content type. */
  describe(site: Site, uid: string, fields: Items, state: { draft: boolean }): Promise<ContentItem | null>;
  /** The content type of this uid, singular or plural name, in any case. */
  typeNamed(name: string): ContentTypeInfo | undefined;
}

/** A file of a theme as read: consistent with the other files of its revision. */
export interface ThemeFile {
  /** Relative to the app's folder (or the theme's, for a theme's own files), with `/`. */
  path: string;
  text: string;
  /** Why the file could not be read (too large, not UTF-8 …); `text` is then empty. Breaks the block that needs it. */
  problem?: string;
}

/** A theme's own files at one revision (docs/reference/theme.md#files), without its apps. */
export interface ThemeFolder {
  id: string;
  /** Changes whenever one of the files changes. */
  revision: string;
  /** `layout.html`, `rules.yaml`, `theme.yaml`, and the files of `templates/`, `partials/` and `locales/`, by relative path. */
  files: ReadonlyMap<string, ThemeFile>;
}

/** An app's folder at one revision. A request holds one from its start to its end. */
export interface AppFolder {
  site: Site;
  appId: string;
  /** The theme that holds the folder (another than the active one for a `.lnk`). */
  themeId: string;
  /** Changes whenever a file of the folder, or one of the theme's files below, changes; equal content may have equal revisions. */
  revision: string;
  settings: ThemeFile | null;
  /** JSON text of the options that an administrator has set for this site; null or absent: none. */
  options?: string | null;
  /** `theme.yaml` of the theme that holds the app. */
  theme: ThemeFile | null;
  /** Files of `partials/` and `locales/` of that theme, by path relative to it. */
  themeFiles: ReadonlyMap<string, ThemeFile>;
  /** Files of `blocks/`, `lib/`, `partials/` and `locales/`, by relative path. Symbolic links that leave the theme are absent. */
  files: ReadonlyMap<string, ThemeFile>;
}

/** The location of an app's folder. */
export interface AppLocation {
  /** The theme that holds it. */
  themeId: string;
  /** Real paths of the theme and of the app's folder. */
  root: string;
  folder: string;
}

/** The public interface of sites/. */
export interface Sites {
  /**
   * Null when the path is none of the plugin's addresses (the request then goes on to Strapi). NotFoundError for bad ids,
   * BadRequestError for bad record ids.
   */
  parse(rawPath: string): Address | null;
  /** Undefined when there is no such site. */
  site(id: string): Awaitable<Site | undefined>;
  all(): Promise<Site[]>;
  /** Sets the active theme of a site (kept in the database, wins over the file). NotFoundError for an unknown theme. */
  activate(siteId: string, themeId: string): Promise<void>;
  themes(): Promise<{ id: string; title: string; description: string; apps: string[] }[]>;
  /**
   * The app's folder (docs/reference/theme.md#where-an-app-is-looked-for), or null. Re-read when a file has changed.
   */
  app(site: Site, appId: string): Awaitable<AppFolder | null>;
  /**
   * A text that changes with the files that the app's folder has, or null; options do not change it. Asks the disk only, not the database.
   */
  revision(site: Site, appId: string): Promise<string | null>;
  /**
   * The apps of all sites whose definitions may have one of these keys, for work that no request begins. In production a change is seen
   * after some seconds.
   */
  watched(words: readonly WatchedWord[]): Promise<readonly WatchedApp[]>;
  /**
   * Sets the options of an app in a site (kept in the database, merged over the file's); null: none. ConflictError where they are
   * not those of the revision that was read; null: there were none; undefined: it is not asked.
   */
  setOptions(siteId: string, appId: string, options: Items | null, read?: string | null): Promise<void>;
  /** The files of the site's active theme, or null if there is no such folder. Re-read when a file has changed. */
  theme(site: Site): Promise<ThemeFolder | null>;
  /** Ids of all apps that the site's active theme offers. */
  apps(site: Site): Promise<string[]>;
  /** Changes files of apps. */
  editor: Editor;
  /** Themes that are missing on the disk. */
  setup(): Promise<SetupProblem[]>;
  /** A public file, opened, or null; never outside the theme. Its reader closes it. */
  asset(file: PublicFile): Promise<OpenFile | null>;
  /** The version of a public file's content; null if there is no such file, or if it is too large to have one. */
  assetVersion(file: PublicFile): Promise<string | null>;
  content: ContentResolver;
  /** Absolute URLs; reserved characters percent-encoded, `/` in record ids not. `content` as in Address. */
  urls: {
    app(site: Site, app: string, content?: string): string;
    record(site: Site, app: string, id: string, content?: string): string;
    block(site: Site, app: string, block: string, content?: string): string;
    /** @param name what the link is for, as its address says */
    link(site: Site, app: string, name: LinkTargetKind, token: string): string;
    view(site: Site, view: string, content?: string): string;
    asset(site: Site, file: PublicFile): string;
    /** @param site its address, which may be a path */
    file(site: Pick<Site, 'url'>, app: string, id: string, name: string): string;
  };
}
