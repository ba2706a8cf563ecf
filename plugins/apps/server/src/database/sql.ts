import { performance } from 'node:perf_hooks';
import type { Knex } from 'knex';
import { AppsError, unavailable } from '../common/errors';
import { spanned } from '../common/spans';
import { type Dialect, isUnavailable, type Row } from './dialects';
import type { HostDatabase, Reader, Sql, Statement } from './types';

/** The type of PostgreSQL for a column's values; all other values are text, which a column of any type takes. */
function typeOf(values: readonly unknown[]): string {
  const known = values.find((value) => value !== null);
  if (known instanceof Buffer) return 'bytea';
  if (known instanceof Date) return 'timestamp';
  // Milliseconds are more than an integer takes; a column of integers takes these too.
  return Number.isInteger(known) ? 'bigint' : 'text';
}

/**
 * A select of rows for an insert, with an array for each column: PostgreSQL takes longer to read and plan five hundred tuples of
 * placeholders than to insert them. The text is the same for any number of rows, so that it stays prepared. A column with one
 * value in all rows is that value.
 */
function arrayRows(rows: readonly (readonly unknown[])[]): Statement {
  const [first = []] = rows;
  const values: unknown[] = [];
  const selected: string[] = [];
  const names: string[] = [];
  const arrays: string[] = [];
  const lists: unknown[] = [];
  for (const at of first.keys()) {
    const column = rows.map((row) => row[at]);
    const type = typeOf(column);
    // The first column is always an array, which has as many values as there are rows.
    if (at > 0 && column.every((value) => value === column[0])) {
      selected.push(`?::${type}`);
      values.push(column[0]);
    } else {
      selected.push(`u.c${at}`);
      names.push(`c${at}`);
      arrays.push(`?::${type}[]`);
      lists.push(column);
    }
  }
  const from = `unnest(${arrays.join(', ')}) as u(${names.join(', ')})`;
  return { sql: `select ${selected.join(', ')} from ${from}`, values: [...values, ...lists] };
}

export type { Row } from './dialects';

/** The error of a search that takes longer than it may. */
export function tooLong(cause?: unknown): AppsError {
  return unavailable('The search takes too long: ask for less at once', 5, { cause });
}

/** Why a statement failed, if the storage itself handles that. */
type Failure = 'collision' | 'taken' | 'missing-table';

/** A failure that the storage handles itself, mostly by another attempt; never shown to a client. */
export class StorageError extends Error {
  constructor(
    readonly failure: Failure,
    cause: unknown,
  ) {
    super(`storage: ${failure}`, { cause });
  }
}

/** Whether `error` is a StorageError for the given reason. */
export function isFailure(error: unknown, failure: Failure): error is StorageError {
  return error instanceof StorageError && error.failure === failure;
}

/** Wraps a driver's error, whose message may contain SQL and values, as the cause of one that is safe to show. */
export function translateError(dialect: Dialect, error: unknown): Error {
  if (error instanceof AppsError || error instanceof StorageError) return error;
  const reason = dialect.classify(error as { code?: unknown; message?: unknown; name?: unknown });
  if (reason === 'unavailable') return unavailable('The database is not available', 2, { cause: error });
  if (reason === 'late') return tooLong(error);
  if (reason) return new StorageError(reason, error);
  return new AppsError('InternalServerError', 'The database could not carry out the operation', { cause: error });
}

/** Ids of Strapi's tables are 32-bit integers; PostgreSQL refuses to compare them with greater numbers. */
export const MAX_SEQ = 2 ** 31 - 1;

/** Bound values that every database accepts in one statement; longer statements would not be faster. */
const MAX_VALUES = 30_000;
const MAX_ROWS = 500;
/** Characters of values in one insert: MariaDB accepts statements of 16 MB, and every copy of them needs memory. */
const MAX_TEXT = 4 * 1024 * 1024;

/** Characters of a statement that a span shows; its values are never shown. */
export const MAX_STATEMENT = 1_000;

/** SQL on `connection`, a transaction or the pool, in the dialect. */
export function createSql(connection: Knex | Reader, dialect: Dialect): Sql {
  const run = async (text: string, values: readonly unknown[]): Promise<unknown> => {
    try {
      return await spanned(
        'query',
        () => ({ statement: text.slice(0, MAX_STATEMENT) }),
        () => connection.raw(text, values as Knex.RawBinding[]),
      );
    } catch (error) {
      throw translateError(dialect, error);
    }
  };
  return {
    connection,
    visible: dialect.visible,
    rows: async (text, values = []) => dialect.rows(await run(text, values)),
    change: async (text, values = []) => dialect.affected(await run(text, values)),
    async insert(table, columns, rows, ending = '', verb = 'insert') {
      const size = Math.min(MAX_ROWS, Math.floor(MAX_VALUES / columns.length));
      const head = `${verb} into ${table} (${columns.join(', ')}) `;
      const returned: Row[] = [];
      for (const chunk of chunksOf(rows, size)) {
        const { sql, values } = dialect.arrays && chunk.length > 1 ? arrayRows(chunk) : tuples(chunk);
        const result = await run(`${head}${sql}${ending}`, values);
        if (ending.includes('returning')) returned.push(...dialect.rows(result));
      }
      return returned;
    },
  };
}

function tuples(rows: readonly (readonly unknown[])[]): Statement {
  return { sql: `values ${rows.map((row) => `(${marks(row)})`).join(', ')}`, values: rows.flat() };
}

/** Chunks of up to `size` rows in order, smaller ones where rows are long. */
function* chunksOf(rows: readonly unknown[][], size: number): Iterable<unknown[][]> {
  let [start, text] = [0, 0];
  for (const [at, row] of rows.entries()) {
    let own = 0;
    // Two digits per byte, where a driver puts values into the text.
    for (const value of row)
      own += typeof value === 'string' ? value.length : value instanceof Buffer ? 2 * value.length : 0;
    if (at > start && (at - start === size || text + own > MAX_TEXT)) {
      yield rows.slice(start, at);
      [start, text] = [at, 0];
    }
    text += own;
  }
  if (start < rows.length) yield rows.slice(start);
}

/** The connection for reads outside of a transaction. */
export function readerOf(database: HostDatabase): Knex | Reader {
  return database.readConnection?.() ?? database.reader ?? database.knex();
}

/** `?, ?, ?`: one placeholder for each value. */
export function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

/** Milliseconds for which a request waits for a database that cannot be reached, to learn what it has stored. */
export const OUTAGE = 10_000;

/** Milliseconds between two tries. */
const OUTAGE_PAUSE = 200;

/**
 * Runs `work` again while the database cannot be reached, for up to `time` milliseconds: it must do no more when it runs twice, because
 * the answer to the first one may have been lost.
 */
export async function throughOutage<T>(work: () => Promise<T>, time = OUTAGE): Promise<T> {
  const until = performance.now() + time;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || performance.now() + OUTAGE_PAUSE > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, OUTAGE_PAUSE));
    }
  }
}

const MAX_ATTEMPTS = 20;

/**
 * Runs `work` again after a collision with another transaction, up to `attempts` times. Its errors are translated. A part of a
 * transaction must run once: a database that chose it as the victim of a deadlock has ended the whole.
 */
export async function throughCollisions<T>(
  dialect: Dialect,
  work: () => Promise<T>,
  attempts = MAX_ATTEMPTS,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (cause) {
      const error = translateError(dialect, cause);
      if (!isFailure(error, 'collision') || attempt === attempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * attempt));
    }
  }
}

/** Runs `work` in a transaction of its own, again after a collision; or once in the current one, which only its own code can repeat. */
export const inTransaction = <T>(
  { database, dialect }: { database: HostDatabase; dialect: Dialect },
  work: (sql: Sql) => Promise<T>,
): Promise<T> => {
  const once = () => database.write((connection) => work(createSql(connection, dialect)));
  return throughCollisions(dialect, once, database.current() ? 1 : MAX_ATTEMPTS);
};

/** Milliseconds for which it is watched whether this process has other work, and for how long it then counts as busy. */
const watchTime = 2;
const busyTime = 200;
/** Steps after which others get a full pause in any case: those of other processes are not seen. */
const unseenSteps = 10;

/**
 * Makes a pause like `yieldToOthers` for many steps of one process: it is as long where this process has other work, else short, but
 * for every tenth.
 */
export function createGivingWay(dialect: Pick<Dialect, 'maxPause'>): (began: number) => Promise<void> {
  let steps = 0;
  let busyUntil = 0;
  return async (began) => {
    const ended = performance.now();
    // What the step itself has left for the event loop is not other work.
    await new Promise((resolve) => setImmediate(resolve));
    const before = performance.eventLoopUtilization();
    await new Promise((resolve) => setTimeout(resolve, watchTime));
    if (performance.eventLoopUtilization(before).utilization > 0.5) busyUntil = ended + busyTime;
    steps += 1;
    if (ended < busyUntil || steps % unseenSteps === 0) await yieldToOthers(dialect, began + performance.now() - ended);
  };
}

/**
 * Yields to other work between two steps, even where the driver is synchronous.
 * @param began `performance.now()` at the start of the last step: the pause is never longer than that step
 */
export function yieldToOthers({ maxPause }: Pick<Dialect, 'maxPause'>, began: number): Promise<unknown> {
  const time = Math.min(maxPause, performance.now() - began);
  return new Promise((resolve) => (time >= 1 ? setTimeout(resolve, time) : setImmediate(resolve)));
}
