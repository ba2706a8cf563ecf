import type { Core } from '@strapi/strapi';
import { contentVersion } from '../common/content-version';

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
