import { performance } from 'node:perf_hooks';
import type { Knex } from 'knex';
import { AppsError, unavailable } from '../common/errors';
import { spanned } from '../common/spans';
import type { Client, Dialect, Row } from './dialects';
import type { ReadEnd } from './types';

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

/** A connection on which SQL can be run. */
export interface Reader {
  raw(sql: string, values: readonly unknown[]): PromiseLike<unknown>;
}

/** A second, read-only connection to a SQLite file, which reads on the calling thread. */
export interface ReadConnection extends Reader {
  /** The rows of a statement with steps (QueryTarget.step); StepsOver after `time` ms. */
  within(time: number, statement: Statement): unknown[];
  /** Paths of the file and of the driver's module, so that another process can read it too. */
  readonly file: { path: string; driver: string };
}

/** A statement with the values of its placeholders. */
export interface Statement {
  sql: string;
  values: unknown[];
}

/** Runs statements that may read any number of rows: a limited number at once, each for a limited time. */
export interface LongReads {
  /** Milliseconds that the statements of one search may take together, including waits. */
  readonly searchTime: number;
  /**
   * Resolves to the result of Knex's `raw`. Rejects with ServiceUnavailableError when it takes too long, when too many
   * statements run, or when `end` comes first; otherwise with the driver's error.
   * @param statement makes the statement with a condition to evaluate for each row that it reads (QueryTarget.step), or ''
   * @param trx the transaction to read in, if any
   */
  read(statement: (step: string) => Statement, trx: Knex.Transaction | undefined, end: ReadEnd): Promise<unknown>;
  destroy(): Promise<void>;
}

/** The error of a search that takes longer than it may. */
export function tooLong(cause?: unknown): AppsError {
  return unavailable('The search takes too long: ask for less at once', 5, { cause });
}

/** The host's database for records/ and indexes/; records/database/strapi-database.ts implements it for Strapi. */
export interface HostDatabase {
  readonly client: Client;
  knex(): Knex;
  /** A cheap read connection that does not wait for transactions; only SQLite has one. */
  readConnection?(): ReadConnection | undefined;
  /** Runs statements on connections of the pool at less cost than Knex; only PostgreSQL has one. */
  readonly reader?: Reader | undefined;
  /** The transaction of the calling asynchronous context. */
  current(): Promise<Knex.Transaction | undefined>;
  /** Runs `work` in a transaction, or in the current one; commits when it resolves, rolls back when it rejects. */
  transaction<T>(work: (trx: Knex.Transaction) => Promise<T>): Promise<T>;
  /** The same for work that runs statements on `connection` and does nothing else: it is cheaper where there is one connection. */
  write<T>(work: (connection: Knex | Reader) => Promise<T>): Promise<T>;
  /**
   * Only SQLite has one: a number that changes with each commit of another connection than the writing one. Undefined when that
   * connection has not been used yet.
   */
  dataVersion?(): number | undefined;
  /** Whether that number may be older than the last commit of others, because a transaction is open on its connection. */
  mayLag?(): boolean;
  /** Resolves when the database is not busy with what was committed, for work that writes much. */
  settled?(): Promise<void>;
  /** Closes the connections that it has opened itself. */
  close?(): void;
  /** Opens a session in which the server keeps what statements set, such as `listen`; null where only a pooler can be reached. Only PostgreSQL has one. */
  openSession?(): Promise<ServerSession | null>;
}

/** A session of a PostgreSQL server: a connection of the driver `pg`, which the caller ends. */
export interface ServerSession {
  query(text: string): Promise<unknown>;
  on(event: 'notification' | 'error' | 'end', call: (error?: Error) => void): void;
  end(): Promise<void>;
}

/** A connection or a transaction for SQL with `?` for values. Errors are StorageErrors or AppsErrors. */
export interface Sql extends Pick<Dialect, 'visible'> {
  rows(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Returns the number of affected rows. */
  change(text: string, values?: readonly unknown[]): Promise<number>;
  /** Inserts any number of rows, in chunks that every database accepts. `verb` begins the statement, `ending` follows the values. */
  insert(
    table: string,
    columns: readonly string[],
    rows: readonly unknown[][],
    ending?: string,
    verb?: string,
  ): Promise<Row[]>;
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
const MAX_STATEMENT = 1_000;

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

const MAX_ATTEMPTS = 20;

/** Runs `work` in a transaction; after a collision with another runs it again, up to `MAX_ATTEMPTS` times. */
export async function inTransaction<T>(
  { database, dialect }: { database: HostDatabase; dialect: Dialect },
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.write((connection) => work(createSql(connection, dialect)));
    } catch (cause) {
      const error = translateError(dialect, cause);
      if (!isFailure(error, 'collision') || attempt === MAX_ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * attempt));
    }
  }
}

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
