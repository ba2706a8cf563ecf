import type { App } from '../apps/types';
import { type Awaitable, whenAll } from '../common/time/awaitable';
import { type ChangeWatcher, type History, joined, type Provenance, provenance } from '../records';
import type { AppKey } from '../records/types';

/** Who has made a bulk change of the host's own code: only imports make one. */
const byImport: Provenance = { requester: () => '', through: 'import' };

/**
 * Writes each change of records of an app with `history: true` to the history, in its own transaction (docs/decisions/history.md):
 * whatever way it comes, because all of them end here. So a change fails while a broken settings.yaml does not say what is to be kept and
 * told of it.
 * @param loadApp the app, by its files of now; null where there is none
 */
export function keepHistory(history: History, loadApp: (key: AppKey) => Awaitable<App | null>): ChangeWatcher {
  const isKept = (key: AppKey): Awaitable<boolean> =>
    whenAll([loadApp(key)], ([app]) => {
      if (app?.error) throw app.error;
      return app?.settings.history ?? false;
    });

  return {
    changed(unit, changes) {
      const apps = new Map(changes.map(({ key }) => [nameOf(key), isKept(key)]));
      return whenAll([...apps.values()], (kept) => {
        if (!kept.includes(true)) return undefined;
        const names = new Set([...apps.keys()].filter((_, at) => kept[at]));
        const rows = history.rowsOf(changes.filter(({ key, by }) => !by?.forgets && names.has(nameOf(key))));
        if (rows.rows.length > 0) unit.insertAtCommit(rows);
        return undefined;
      });
    },

    bulk: (store) => ({
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
        const by = provenance() ?? { requester: () => '', through: 'logic' };
        await store.clear(key, (deleted) => joined([history.ofCleared(key, by, deleted), atCommit?.(deleted)]));
      },
    }),
  };
}

const nameOf = ({ site, app }: AppKey): string => JSON.stringify([site, app]);
