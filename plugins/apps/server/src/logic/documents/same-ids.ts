import { AsyncLocalStorage } from 'node:async_hooks';

/** The ids of one created row. */
interface Ids {
  id?: unknown;
  documentId?: unknown;
}

/** One carrying out of a change: the rows that it created the first time, by model, and how many it has created now. */
interface Run {
  created: Map<string, Ids[]>;
  counts: Map<string, number>;
}

interface CreateEvent {
  model: { uid: string };
  params: { data?: Ids };
  result?: Ids | null;
  state: { ids?: Ids };
}

/** What is used of `strapi.db.lifecycles`. */
export interface Lifecycles {
  subscribe(subscriber: { beforeCreate(event: CreateEvent): void; afterCreate(event: CreateEvent): void }): unknown;
}

/**
 * Lets a change that was rolled back be made again with the same ids, for logic has seen them. No database gives an id of
 * a sequence twice after a rollback, apart from SQLite: there another request may have taken it meanwhile, and the change
 * then fails as a collision does.
 */
export function createSameIds(lifecycles: Lifecycles) {
  const running = new AsyncLocalStorage<Run>();

  lifecycles.subscribe({
    beforeCreate({ model: { uid }, params, state }) {
      const run = running.getStore();
      if (!run || !params.data) return;
      const count = run.counts.get(uid) ?? 0;
      run.counts.set(uid, count + 1);
      const rows = run.created.get(uid) ?? [];
      run.created.set(uid, rows);
      const known = rows[count];
      if (!known) {
        state.ids = rows[count] = {};
        return;
      }
      params.data.id ??= known.id;
      if (known.documentId !== undefined) params.data.documentId ??= known.documentId;
    },
    afterCreate({ result, state }) {
      if (!state.ids) return;
      state.ids.id = result?.id;
      state.ids.documentId = result?.documentId;
    },
  });

  return {
    /** The same work, whose rows get the ids of its first run whenever it is run again. */
    repeatable<T>(work: () => Promise<T>): () => Promise<T> {
      const created = new Map<string, Ids[]>();
      return () => running.run({ created, counts: new Map() }, work);
    },
  };
}
