import { coalesceReads } from '../../common/time/coalesce';

/** Where choices made in the admin panel are kept: shared by all server processes. */
export interface SettingStore {
  get(key: string): Promise<unknown>;
  set(key: string, value: string): Promise<void>;
  /** Whether the calling code is inside a transaction, which its reads join. */
  inTransaction(): boolean;
}

/** Texts that administrators have chosen, by keys; null, or '' in the store: nothing. */
export interface Choices {
  get(key: string): Promise<string | null>;
  set(key: string, value: string | null): Promise<void>;
}

/** Milliseconds between reads of the store: another process's choice is seen within 2 seconds. */
const CHECK_INTERVAL = 1000;

export function createChoices(store: SettingStore): Choices {
  const known = new Map<string, { value: string | null; checkedAt: number }>();

  // Code inside a transaction must not wait for a read outside of it, which may wait for the transaction's connection.
  const read = coalesceReads(
    async (key) => {
      const checkedAt = performance.now();
      const stored = await store.get(key);
      const value = typeof stored === 'string' && stored !== '' ? stored : null;
      const isNewest = checkedAt > (known.get(key)?.checkedAt ?? 0);
      if (isNewest && !store.inTransaction()) known.set(key, { value, checkedAt });
      return value;
    },
    () => store.inTransaction(),
  );

  return {
    async get(key) {
      const entry = known.get(key);
      return entry && performance.now() - entry.checkedAt < CHECK_INTERVAL ? entry.value : read(key);
    },

    async set(key, value) {
      await store.set(key, value ?? '');
      known.set(key, { value, checkedAt: performance.now() });
    },
  };
}
