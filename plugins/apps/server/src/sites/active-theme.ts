import { shareReads } from '../batch';
import type { SiteConfig } from '../config.types';

/** Where choices made in the admin panel are kept: shared by all server processes. */
export interface SettingStore {
  get(key: string): Promise<unknown>;
  set(key: string, value: string): Promise<void>;
  /** Whether the calling code is inside a transaction, which its reads join. */
  inTransaction(): boolean;
}

/** Another process's choice is seen within 2 seconds; the store is asked this often, in milliseconds. */
const CHECK = 1000;

/** The active theme of each site: the one chosen in the admin panel, else that of the configuration. */
export function createActiveThemes(store: SettingStore) {
  const known = new Map<string, { theme: string | null; checkedAt: number }>();
  const keyOf = (siteId: string) => `theme:${siteId}`;

  // Code inside a transaction must not wait for a read outside of it, which may wait for the transaction's connection.
  const read = shareReads(
    async (siteId) => {
      const checkedAt = performance.now();
      const value = await store.get(keyOf(siteId));
      const theme = typeof value === 'string' && value !== '' ? value : null;
      const isNewest = checkedAt > (known.get(siteId)?.checkedAt ?? 0);
      if (isNewest && !store.inTransaction()) known.set(siteId, { theme, checkedAt });
      return theme;
    },
    () => store.inTransaction(),
  );

  return {
    async get({ id, theme }: SiteConfig): Promise<string> {
      const entry = known.get(id);
      if (entry && performance.now() - entry.checkedAt < CHECK) return entry.theme ?? theme;
      return (await read(id)) ?? theme;
    },

    async set(siteId: string, theme: string): Promise<void> {
      await store.set(keyOf(siteId), theme);
      known.set(siteId, { theme, checkedAt: performance.now() });
    },
  };
}
