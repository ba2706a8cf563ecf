import { AsyncLocalStorage } from 'node:async_hooks';
import { AppsError } from '../../common/errors';
import { recordWork, untilLoopIsFree } from '../../common/time/pace';

/** Documents, components and files that a result may have, each counted as often as it occurs. */
export const MAX_ENTRIES = 2_500;

/** Entries that are sanitised at once; the server then serves others. */
const PIECE = 50;

/** Entries in a value: objects with an id, and those inside of them, but not those in JSON. Counting stops above `max`. */
function entriesIn(value: unknown, max: number): number {
  const waiting = [value];
  let count = 0;
  while (waiting.length > 0 && count <= max) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    const isEntry = !Array.isArray(next) && Object.hasOwn(next, 'id');
    if (isEntry) count += 1;
    if (isEntry || Array.isArray(next)) for (const inner of Object.values(next)) waiting.push(inner);
  }
  return count;
}

/**
 * Sanitises what a query has found, piece by piece if it is a long list. PayloadTooLargeError, before that, for a result that
 * is too large: a document that several others populate occurs once for each of them, and levels multiply.
 * @param show sanitises one value, or a list of them in the same order
 */
export async function inPieces<T>(found: unknown, show: (value: unknown) => Promise<T>): Promise<T> {
  if (!Array.isArray(found)) {
    if (entriesIn(found, MAX_ENTRIES) > MAX_ENTRIES) throw tooLarge();
    return show(found);
  }
  const pieces: unknown[][] = [[]];
  let [all, inPiece] = [0, 0];
  for (const one of found) {
    const count = entriesIn(one, MAX_ENTRIES);
    all += count;
    inPiece += count;
    if (all > MAX_ENTRIES) throw tooLarge();
    pieces.at(-1)?.push(one);
    if (inPiece < PIECE) continue;
    pieces.push([]);
    inPiece = 0;
  }
  const shown: unknown[] = [];
  for (const [at, piece] of pieces.entries()) {
    if (at > 0) await untilLoopIsFree();
    const begin = performance.now();
    shown.push(...((await show(piece)) as unknown[]));
    if (pieces.length > 1) recordWork(performance.now() - begin);
  }
  return shown as T;
}

const tooLarge = () =>
  new AppsError(
    'PayloadTooLargeError',
    `The result has more than ${MAX_ENTRIES} entries with what it populates: ask for fewer, or populate less.`,
  );

/** The ids of one created row. */
interface Ids {
  id?: unknown;
  documentId?: unknown;
}

/** One run of a change: the rows that its first run created, by model, and their numbers in this run. */
interface Attempt {
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
  const running = new AsyncLocalStorage<Attempt>();

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
