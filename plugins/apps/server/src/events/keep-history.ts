import type { App } from '../apps/types';
import type { Awaitable } from '../common/time/awaitable';
import { type History, joined, type Provenance, provenance, RecordChanges } from '../records';
import type { AppKey, RecordStore } from '../records/types';

/** Who has made a bulk change of the host's own code: only imports make one. */
const byImport: Provenance = { requester: '', through: 'import' };

/**
 * Wraps a store so that each change of records of an app with `history: true` is written to the history, in its own transaction
 * (docs/decisions/history.md): whatever way it comes, because all of them end here.
 * @param loadApp the app, by its files of now; null where there is none
 */
export function keepHistory(
  store: RecordStore,
  history: History,
  loadApp: (key: AppKey) => Awaitable<App | null>,
): RecordStore {
  const isKept = async (key: AppKey): Promise<boolean> => (await loadApp(key))?.settings.history ?? false;

  return {
    ...store,
    transact: (work, about) =>
      store.transact(async (unit) => {
        const changes = new RecordChanges();
        unit.observe(changes.observer);
        const value = await work(unit);
        const changed = changes.list().filter(({ by }) => !by?.forgets);
        const apps = new Map(changed.map(({ key }) => [nameOf(key), key]));
        const kept = new Set<string>();
        for (const [name, key] of apps) if (await isKept(key)) kept.add(name);
        if (kept.size > 0) {
          const rows = history.rowsOf(changed.filter(({ key }) => kept.has(nameOf(key))));
          if (rows.rows.length > 0) unit.insertAtCommit(rows);
        }
        return value;
      }, about),

    async createMany(key, records, options) {
      if (!(await isKept(key))) return store.createMany(key, records, options);
      const by = provenance() ?? byImport;
      return store.createMany(key, records, {
        ...options,
        atCommit: (ranges) => joined([history.ofCreated(key, by, ranges), options?.atCommit?.(ranges)]),
      });
    },

    async clear(key, atCommit) {
      if (!(await isKept(key))) return store.clear(key, atCommit);
      const by = provenance() ?? { requester: '', through: 'logic' };
      await store.clear(key, (deleted) => joined([history.ofCleared(key, by, deleted), atCommit?.(deleted)]));
    },
  };
}

const nameOf = ({ site, app }: AppKey): string => JSON.stringify([site, app]);
