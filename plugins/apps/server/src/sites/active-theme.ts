import type { SiteConfig } from '../config.types';

/** Where choices made in the admin panel are kept: shared by all server processes. */
export interface SettingStore {
  get(key: string): Promise<unknown>;
  set(key: string, value: string): Promise<void>;
}

/** Another process's choice is seen within 2 seconds; the store is asked this often, in milliseconds. */
const CHECK = 1000;

/** The active theme of each site: the one chosen in the admin panel, else that of the configuration. */
export function createActiveThemes(store: SettingStore) {
  const known = new Map<string, { theme: Promise<string | null>; checkedAt: number }>();
  const keyOf = (siteId: string) => `theme:${siteId}`;

  async function read(siteId: string): Promise<string | null> {
    const value = await store.get(keyOf(siteId));
    return typeof value === 'string' && value !== '' ? value : null;
  }

  return {
    async get({ id, theme }: SiteConfig): Promise<string> {
      let entry = known.get(id);
      if (!entry || performance.now() - entry.checkedAt >= CHECK) {
        entry = { theme: read(id), checkedAt: performance.now() };
        known.set(id, entry);
        // A failure is the asker's to see; the next one asks again.
        entry.theme.catch(() => known.delete(id));
      }
      return (await entry.theme) ?? theme;
    },

    async set(siteId: string, theme: string): Promise<void> {
      await store.set(keyOf(siteId), theme);
      known.set(siteId, { theme: Promise.resolve(theme), checkedAt: performance.now() });
    },
  };
}
