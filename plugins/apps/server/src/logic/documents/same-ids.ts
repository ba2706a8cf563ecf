import { AsyncLocalStorage } from 'node:async_hooks';

/** The ids of one created row. */
interface Ids {
  id?: unknown;
  documentId?: unknown;
}

/** One run of a change: the rows that its first run created, by model, and their numbers in this run. */
interface Run {
  created: Map<string, Ids[]>;
  /** The highest id that was created, by table. */
  highest: Map<string, number>;
  counts: Map<string, number>;
}

interface CreateEvent {
  model: { uid: string; tableName: string };
  params: { data?: Ids };
  result?: Ids | null;
  state: { ids?: Ids };
}

/** The part of `strapi.db` that is used here. */
export interface SameIdsDatabase {
  dialect: { client: string };
  connection: { raw(sql: string, values: unknown[]): PromiseLike<unknown> };
  lifecycles: {
    subscribe(subscriber: { beforeCreate(event: CreateEvent): void; afterCreate(event: CreateEvent): void }): unknown;
  };
  transaction(work: (tools: { onRollback(callback: () => void): void }) => Promise<void>): Promise<void>;
}

/** Reserves ids up to this one. Only SQLite reuses ids of a transaction that was rolled back. */
const keepIds = [
  'insert into sqlite_sequence (name, seq) select ?, 0 where not exists (select 1 from sqlite_sequence where name = ?)',
  'update sqlite_sequence set seq = max(seq, ?) where name = ?',
] as const;

/**
 * Repeats a change that was rolled back with the same ids, because logic has seen them. When another request has taken
 * one meanwhile, the change fails, and its request runs again as after any collision.
 */
export function createSameIds(db: SameIdsDatabase) {
  const running = new AsyncLocalStorage<Run>();

  db.lifecycles.subscribe({
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
    afterCreate({ model: { tableName }, result, state }) {
      if (!state.ids) return;
      state.ids.id = result?.id;
      state.ids.documentId = result?.documentId;
      const highest = running.getStore()?.highest;
      highest?.set(tableName, Math.max(highest.get(tableName) ?? 0, Number(result?.id ?? 0)));
    },
  });

  /** Issues all statements at once: the connection runs them in order, before those of other requests. */
  const keep = (highest: ReadonlyMap<string, number>): Promise<unknown> =>
    Promise.all(
      [...highest].flatMap(([table, id]) => [
        db.connection.raw(keepIds[0], [table, table]),
        db.connection.raw(keepIds[1], [id, table]),
      ]),
    );

  return {
    /** Wraps work so that later runs give its rows the ids of the first run. All runs are in a transaction. */
    repeatable<T>(work: () => Promise<T>): () => Promise<T> {
      const created = new Map<string, Ids[]>();
      const highest = new Map<string, number>();
      let isFirst = true;
      return () =>
        running.run({ created, highest, counts: new Map() }, async () => {
          const result = await work();
          if (isFirst && highest.size > 0 && db.dialect.client === 'sqlite') {
            // A failure here only makes a collision more likely.
            await db.transaction(async ({ onRollback }) => onRollback(() => void keep(highest).catch(() => undefined)));
          }
          isFirst = false;
          return result;
        });
    },
  };
}
