import type { Knex } from 'knex';
import type { Client, Dialect, Row } from './dialects';

/** A transaction of the host's database. */
export type Transaction = Knex.Transaction;

/** A connection on which SQL can be run. */
export interface Reader {
  raw(sql: string, values: readonly unknown[]): PromiseLike<unknown>;
}

/** A second, read-only connection to a SQLite file, which reads on the calling thread. */
export interface ReadConnection extends Reader {
  /** The rows of a statement with a scan guard; ScanTimeout after `time` ms. */
  within(time: number, statement: Statement): unknown[];
  /** Paths of the file and of the driver's module, so that another process can read it too. */
  readonly file: { path: string; driver: string };
}

/** A statement with the values of its placeholders. */
export interface Statement {
  sql: string;
  values: unknown[];
}

/**
 * Begins the conditions of a statement that may read any number of rows: evaluated for each of them, it ends the statement when it takes
 * too long. '' where the database itself ends statements.
 */
export type ScanGuard = string;

/** When a read must end, besides at its own limit. */
export interface ReadEnd {
  /** Aborted when the outcome is no longer needed. */
  signal?: AbortSignal;
  /** Remaining milliseconds. */
  time?: number;
}

/** Runs statements that may read any number of rows: a limited number at once, each for a limited time. */
export interface LongReads {
  /** Milliseconds that the statements of one search may take together, including waits. */
  readonly searchTime: number;
  /**
   * Resolves to the result of Knex's `raw`. Rejects with ServiceUnavailableError when it takes too long, when too many
   * statements run, or when `end` comes first; otherwise with the driver's error.
   * @param statement makes the statement with a condition to evaluate for each row that it reads, or ''
   * @param trx the transaction to read in, if any
   */
  read(statement: (guard: ScanGuard) => Statement, trx: Transaction | undefined, end: ReadEnd): Promise<unknown>;
  destroy(): Promise<void>;
}

/** The row by which it is found out whether a transaction was committed: its last statement writes it. */
export interface CommitMark {
  /** Which of the transactions of this process that run at the same time it belongs to. */
  readonly slot: number;
  /** The process and the slot, as the row has them. */
  readonly process: string;
  /** What the row then counts; no other transaction of the process writes it. */
  readonly number: number;
  /** The row's scope, once it is written. */
  scope: string | null;
}

/** The marks of this process's transactions, rows of the table of the counts of commits. */
export interface CommitMarks {
  /** With what `process` of each of them begins. */
  readonly process: string;
  /** Creates the table; call it outside transactions. */
  prepare(): Promise<void>;
  /** The mark of a transaction on this connection that is looked up when the answer to its COMMIT is lost; undefined for others. */
  of(connection: object): CommitMark | undefined;
  /** A mark for a transaction of other code, to be freed when that has ended. */
  take(): CommitMark;
  free(mark: CommitMark): void;
}

/** The host's database; `strapiDatabase` makes it for Strapi. */
export interface HostDatabase {
  readonly client: Client;
  knex(): Knex;
  /** A cheap read connection that does not wait for transactions; only SQLite has one. */
  readConnection?(): ReadConnection | undefined;
  /** Runs statements on connections of the pool at less cost than Knex; only PostgreSQL has one. */
  readonly reader?: Reader | undefined;
  /** The transaction of the calling asynchronous context. */
  current(): Promise<Transaction> | undefined;
  /**
   * Runs `work` in a transaction, or in the current one; commits when it resolves, rolls back when it rejects. Resolves when it was
   * committed, also if the answer to COMMIT was lost; OutcomeUnknownError when that cannot be found out.
   */
  transaction<T>(work: (trx: Transaction) => Promise<T>): Promise<T>;
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
  /** Not of SQLite, whose commits have no answer that could be lost. */
  readonly marks?: CommitMarks | undefined;
  /** Closes the connections that it has opened itself. */
  close?(): void;
  /** Opens a session in which the server keeps what statements set, such as `listen`; null where only a pooler can be reached. Only PostgreSQL has one. */
  openSession?(): Promise<ServerSession | null>;
}

/** A session of a PostgreSQL server: a connection of the driver `pg`, which the caller ends. */
export interface ServerSession {
  query(text: string): Promise<unknown>;
  on(event: 'error' | 'end', call: (error?: Error) => void): void;
  on(event: 'notification', call: (notification: { channel: string; payload?: string }) => void): void;
  end(): Promise<void>;
}

/** A connection or a transaction for SQL with `?` for values. Errors are StorageErrors or AppsErrors. */
export interface Sql extends Pick<Dialect, 'visible'> {
  readonly connection: object;
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
