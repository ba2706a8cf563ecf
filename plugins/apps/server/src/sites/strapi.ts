import type { Core, Struct } from '@strapi/strapi';
import { contentVersion } from '../common/assets';
import { type Awaitable, keptFor } from '../common/time/awaitable';
import { coalesceReads } from '../common/time/coalesce';
import type { ContentTypeInfo } from './content';
import type { SettingStore } from './themes/themes';

/** How the keys of the plugin begin in the table of Strapi's store. */
const PREFIX = 'plugin_apps_';
/** How those of choices begin; the store also has one for each administrator and app. */
const CHOICES = ['theme:', 'options:'];

/** The plugin's own settings in Strapi's store. */
export function settingStoreOf(strapi: Core.Strapi): SettingStore {
  const store = strapi.store({ type: 'plugin', name: 'apps' });
  const where = { $or: CHOICES.map((start) => ({ key: { $startsWith: PREFIX + start } })) };
  return {
    async keys() {
      const rows: { key: string }[] = await strapi.db.query('strapi::core-store').findMany({ select: ['key'], where });
      return new Set(rows.map(({ key }) => key.slice(PREFIX.length)));
    },
    get: (key) => store.get({ key }),
    set: (key, value) => store.set({ key, value }),
    inTransaction: () => strapi.db.inTransaction(),
  };
}

/** The host's own content types: those that Strapi gives a content API. */
export function contentTypesOf(strapi: Core.Strapi): ContentTypeInfo[] {
  return Object.values(strapi.contentTypes)
    .filter(({ uid }) => uid.startsWith('api::'))
    .map((type) => {
      const { uid, kind, info, attributes } = type as Struct.ContentTypeSchema;
      const { singularName, pluralName } = info;
      return { uid, kind, singularName, pluralName, attributes: attributes as ContentTypeInfo['attributes'] };
    });
}

/** Milliseconds for which the default locale is cached. */
const CHECK_INTERVAL = 1000;

/** Strapi's default locale, which an administrator may change while the server runs; null without internationalization. */
export function defaultLocaleOf(strapi: Core.Strapi): () => Awaitable<string | null> {
  const inTransaction = () => strapi.db.inTransaction();
  // Code inside a transaction must not wait for a read outside of it, which may wait for the transaction's connection.
  const read = coalesceReads<string | null>(
    async () => (await strapi.plugin('i18n')?.service('locales').getDefaultLocale()) ?? null,
    inTransaction,
  );
  const { get } = keptFor(
    CHECK_INTERVAL,
    () => read(''),
    () => !inTransaction(),
  );
  return get;
}

/** The columns that administrators have chosen for the records of apps, in the host's database. */
export interface PanelColumns {
  /** Names of items; null where the administrator has chosen none. */
  get(administrator: string, app: { site: string; app: string }): Promise<string[] | null>;
  /** @param names null: the usual columns again */
  set(administrator: string, app: { site: string; app: string }, names: readonly string[] | null): Promise<void>;
}

/** Kept in Strapi's store: one entry for each administrator and app, so that two choices at once do not lose one. */
export function createPanelColumns(strapi: Core.Strapi): PanelColumns {
  const store = strapi.store({ type: 'plugin', name: 'apps' });
  return {
    async get(administrator, app) {
      const names: unknown = await store.get({ key: keyOf(administrator, app) });
      return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : null;
    },
    async set(administrator, app, names) {
      const key = keyOf(administrator, app);
      if (names === null) await store.delete({ key });
      else await store.set({ key, value: names });
    },
  };
}

/** Ids may together be longer than a key of the store. */
function keyOf(administrator: string, { site, app }: { site: string; app: string }): string {
  return `columns:${administrator}:${contentVersion(JSON.stringify([site, app]))}`;
}

const VERSION = 'plugin::apps.version';

/** Versions that are kept of one file, and of all files of an app. */
const MAX = { file: 20, app: 400 };

interface AppFile {
  theme: string;
  app: string;
  path: string;
}

interface Row extends AppFile {
  id: number;
  text: string | null;
  author: string | null;
  createdAt: string;
}

/** Texts of app files before they were changed, in the host's database. */
export interface Versions {
  /** Keeps what a change has replaced; the oldest beyond the bounds are removed. */
  keep(file: AppFile, text: string, author: string | null): Promise<void>;
  /** The latest first. */
  list(file: AppFile): Promise<{ id: number; at: string; author: string | null; size: number }[]>;
  /** The text of a version of the app; null for an unknown one. */
  text(app: Omit<AppFile, 'path'>, id: number): Promise<string | null>;
}

export function createVersions(strapi: Core.Strapi): Versions {
  const rows = () => strapi.db.query(VERSION);
  const prune = async (where: object, size: number): Promise<void> => {
    const [last]: Row[] = await rows().findMany({
      where,
      orderBy: { id: 'desc' },
      offset: size,
      limit: 1,
      select: ['id'],
    });
    if (last) await rows().deleteMany({ where: { $and: [where, { id: { $lte: last.id } }] } });
  };
  return {
    async keep({ theme, app, path }, text, author) {
      await rows().create({ data: { theme, app, path, text, author } });
      await prune({ theme, app, path }, MAX.file);
      await prune({ theme, app }, MAX.app);
    },
    async list({ theme, app, path }) {
      const found: Row[] = await rows().findMany({
        where: { theme, app, path },
        orderBy: { id: 'desc' },
        limit: MAX.file,
      });
      return found.map(({ id, createdAt, author, text }) => ({
        id,
        at: new Date(createdAt).toISOString(),
        author,
        size: (text ?? '').length,
      }));
    },
    async text({ theme, app }, id) {
      const row: Row | null = await rows().findOne({ where: { id, theme, app } });
      return row && (row.text ?? '');
    },
  };
}
