export type Row = Record<string, unknown>;

export type Client = 'sqlite' | 'postgres' | 'mysql';

/** The differences between the databases; all other SQL is the same. */
export interface Dialect {
  readonly client: Client;
  /** Column types of the tables that the plugin creates itself. */
  readonly types: { readonly key: string; readonly long: string; readonly text: string };
  /** Follows `create table … (…)`; `clustered` for tables that are read by their primary key. */
  readonly tableEnding: string;
  readonly clusteredEnding: string;
  /** Follows a select that reads the newest committed rows and locks them until the transaction ends. */
  readonly shareLock: string;
  readonly updateLock: string;
  /** Follows a select that must find the newest committed rows, also in a transaction that has read before. */
  readonly newest: string;
  /** Ends an insert into a table of counts: sets `commits` and `at` where the row exists. */
  readonly countAgain: string;
  /** Whether `insert … returning` exists. */
  readonly returning: boolean;
  /** Whether rows are inserted as an array for each column. */
  readonly arrays: boolean;
  /** The name of a table of the host in SQL. */
  quoted(name: string): string;
  /** Verb and ending of an insert that skips existing rows. */
  readonly insertIgnore: { readonly verb: string; readonly ending: string };
  /** Whether indexes of a table are better created after it was filled with `rows` rows. */
  indexesLast(rows: number): boolean;
  /** Whether terms have a separate sorted table (indexes/tables/tables.ts), because creating an index would block writers. */
  readonly sortedTerms: boolean;
  /** Milliseconds that a builder pauses at most between two steps, so that others can write; 0: it only yields to the event loop. */
  readonly maxPause: number;
  /** Whether there is one writer at a time, so that many records are written in several short transactions (records/pending.ts). */
  readonly oneWriter: boolean;
  /**
   * Begins a condition: `record`, the id of a record, is not of a pending batch (records/pending.ts). Ends with ` and `; '' where
   * there are no such batches.
   */
  visible(record: string): string;
  /** `online`: without blocking writers of the table. */
  createIndex(name: string, table: string, columns: string, online: boolean): string;
  /** The command that updates a table's statistics for the planner; '' where plans do not depend on them. */
  readonly analyze: string;
  /** A select of the names of the database's tables, as `name`. */
  readonly tableNames: string;
  /** The expression in a form that the planner neither looks up in an index nor joins: counting has decided the plan. */
  unindexed(expression: string): string;
  /** Joins two tables so that the left one is read first: counting has decided the plan. */
  readonly join: string;
  /**
   * Ends a select within a select, so that the planner does not put the two together; undefined where it cannot be kept from
   * choosing another index for the rows of one table.
   */
  readonly fence: string | undefined;
  /**
   * A placeholder for binary data whose value does not choose the plan: counting has decided it. Otherwise PostgreSQL plans a
   * prepared statement again for each value, where it expects more rows of an average one.
   */
  readonly anyKey: string;
  /** Whether the planner needs to know the numbers of LIMIT and OFFSET, also of a statement that is prepared. */
  readonly plansLimits: boolean;
  /**
   * Whether a walk through the entries of one key takes the key for a range, and has it in the order: the planner leaves an equal key
   * out of the order, and then chooses another index.
   */
  readonly keysAsRanges: boolean;
  /** Whether rows in the order of an index, with ties in the opposite direction, need no complete sort. */
  readonly mixedOrder: boolean;
  /** Whether binary `haystack` contains binary `needle`, as a condition. */
  contains(haystack: string, needle: string): string;
  /** Alternative statements that limit the time (ms) of the connection's later statements; null resets the limit. */
  timeLimit(time: number | null): string[];
  /** Statements after which each later statement of the connection uses one processor of the database at most. */
  readonly oneProcessor: readonly string[];
  /** Rows and row counts of a result of Knex's `raw`. */
  rows(result: unknown): Row[];
  affected(result: unknown): number;
  classify(error: { code?: unknown; errno?: unknown; message?: unknown; name?: unknown }): Reason;
}

/**
 * `collision`: run again; `taken`: a unique key exists; `late`: the statement exceeded its time limit; undefined: no known
 * reason.
 */
export type Reason = 'collision' | 'taken' | 'missing-table' | 'late' | 'unavailable' | undefined;
