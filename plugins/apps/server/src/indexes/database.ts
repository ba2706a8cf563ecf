import type { Knex } from 'knex';
import { AppsError } from '../errors';
import type { Client, Dialect, Row } from './dialects';
import type { ReadEnd } from './types';

export type { Row } from './dialects';

/** A connection as far as SQL can be read through it. */
export interface Reader {
  raw(sql: string, values: readonly unknown[]): PromiseLike<unknown>;
}

/** A second connection to a SQLite file, which reads on the calling thread. */
export interface NearReader extends Reader {
  /** The rows of a statement with steps (Place.step); StepsOver after `time` ms. */
  within(time: number, statement: Statement): unknown[];
  /** Paths of the file and of the driver's module, for another process to read it too. */
  readonly file: { path: string; driver: string };
}

/** A statement with the values of its marks. */
export interface Statement {
  sql: string;
  values: unknown[];
}

/** Runs statements that may look at any number of rows: few at once, each for a limited time. */
export interface LongReads {
  /** Milliseconds that the statements of one search may take together, with what they wait. */
  readonly searchTime: number;
  /**
   * What knex's `raw` would resolve to. Rejects with ServiceUnavailableError when it takes too long, when too many others
   * run, or when `end` comes first; with the driver's error otherwise.
   * @param statement makes the statement; with a condition that it must ask for each row it looks at (Place.step), or ''
   * @param trx the transaction to read in, if any
   */
  read(statement: (step: string) => Statement, trx: Knex.Transaction | undefined, end: ReadEnd): Promise<unknown>;
  destroy(): Promise<void>;
}

/** The error of a search that takes longer than it may. */
export function tooLong(cause?: unknown): AppsError {
  return new AppsError('ServiceUnavailableError', 'The search takes too long: ask for less at once', {
    headers: { 'Retry-After': '5' },
    cause,
  });
}

/** What the rooms records and indexes need of the host's database; made for Strapi in records/strapi-database.ts. */
export interface HostDatabase {
  readonly client: Client;
  knex(): Knex;
  /** A connection for reading that no transaction keeps waiting, and that costs next to nothing; SQLite alone has one. */
  near?(): NearReader | undefined;
  /** The transaction that the calling asynchronous context is in. */
  current(): Promise<Knex.Transaction | undefined>;
  /** Runs `work` in a transaction, or in the current one; commits when it resolves, rolls back when it rejects. */
  transaction<T>(work: (trx: Knex.Transaction) => Promise<T>): Promise<T>;
  /** Closes what it has opened itself. */
  close?(): void;
}

/** A connection or a transaction that is asked in SQL with `?` for values. Errors are StorageErrors or AppsErrors. */
export interface Sql {
  rows(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Returns how many rows were touched. */
  change(text: string, values?: readonly unknown[]): Promise<number>;
  /** Inserts any number of rows, in chunks that every database takes. `ending` goes behind the values, `verb` before. */
  insert(
    table: string,
    columns: readonly string[],
    rows: readonly unknown[][],
    ending?: string,
    verb?: string,
  ): Promise<Row[]>;
}

/** Why a statement failed, if it is a reason that the storage itself deals with. */
export type Failure = 'collision' | 'taken' | 'missing-table';

/** A failure that the storage deals with by itself, mostly by running something again; never shown to a client. */
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

/** Turns a driver's error into one that is safe: its message may hold SQL and values, so it only lives on as the cause. */
export function translateError(dialect: Dialect, error: unknown): Error {
  if (error instanceof AppsError || error instanceof StorageError) return error;
  const reason = dialect.classify(error as { code?: unknown; message?: unknown; name?: unknown });
  if (reason === 'unavailable') {
    return new AppsError('ServiceUnavailableError', 'The database is not available', {
      headers: { 'Retry-After': '2' },
      cause: error,
    });
  }
  if (reason === 'late') return tooLong(error);
  if (reason) return new StorageError(reason, error);
  return new AppsError('InternalServerError', 'The database could not carry out the operation', { cause: error });
}

/** No database takes more bound values than this in one statement, nor does a longer statement gain anything. */
const maxValues = 30_000;
const maxRows = 500;
/** Characters of values in one insert: MariaDB takes statements of 16 MB, and every copy of them needs memory. */
const maxText = 4 * 1024 * 1024;

/** Asks `connection`, a transaction or the pool, in the words of `dialect`. */
export function createSql(connection: Knex | Reader, dialect: Dialect): Sql {
  const run = async (text: string, values: readonly unknown[]): Promise<unknown> => {
    try {
      return await connection.raw(text, values as Knex.RawBinding[]);
    } catch (error) {
      throw translateError(dialect, error);
    }
  };
  return {
    rows: async (text, values = []) => dialect.rows(await run(text, values)),
    change: async (text, values = []) => dialect.affected(await run(text, values)),
    async insert(table, columns, rows, ending = '', verb = 'insert') {
      const size = Math.min(maxRows, Math.floor(maxValues / columns.length));
      const head = `${verb} into ${table} (${columns.join(', ')}) values `;
      const tuple = `(${columns.map(() => '?').join(', ')})`;
      const returned: Row[] = [];
      for (const chunk of chunksOf(rows, size)) {
        const result = await run(`${head}${chunk.map(() => tuple).join(', ')}${ending}`, chunk.flat());
        if (ending.includes('returning')) returned.push(...dialect.rows(result));
      }
      return returned;
    },
  };
}

/** Rows in order, up to so many together, and fewer where they are long. */
function* chunksOf(rows: readonly unknown[][], size: number): Iterable<unknown[][]> {
  let [start, text] = [0, 0];
  for (const [at, row] of rows.entries()) {
    let own = 0;
    // Bytes are written as two digits each where a driver puts values into the text.
    for (const value of row)
      own += typeof value === 'string' ? value.length : value instanceof Buffer ? 2 * value.length : 0;
    if (at > start && (at - start === size || text + own > maxText)) {
      yield rows.slice(start, at);
      [start, text] = [at, 0];
    }
    text += own;
  }
  if (start < rows.length) yield rows.slice(start);
}

/** Where to read from outside of a transaction. */
export function readerOf(database: HostDatabase): Knex | Reader {
  return database.near?.() ?? database.knex();
}

/** `?, ?, ?` for so many values. */
export function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}
