export type Row = Record<string, unknown>;

export type Client = 'sqlite' | 'postgres' | 'mysql';

/** What differs between the databases; everything else is the same SQL. */
export interface Dialect {
  readonly client: Client;
  /** Column types of the tables that the plugin makes itself. */
  readonly types: { readonly key: string; readonly long: string; readonly text: string };
  /** Behind `create table … (…)`; `clustered` for tables whose primary key is how they are read. */
  readonly tableEnding: string;
  readonly clusteredEnding: string;
  /** Behind a select that must see the newest committed rows and keep them as they are until the transaction ends. */
  readonly shareLock: string;
  readonly updateLock: string;
  /** Whether `insert … returning` exists. */
  readonly returning: boolean;
  /** Behind an insert that may leave an existing row alone; and the verb for it. */
  readonly insertIgnore: { readonly verb: string; readonly ending: string };
  /** Whether indexes of tables that are filled with so many rows are better made at the end. */
  indexesLast(rows: number): boolean;
  /** Whether terms are looked up in a table of their own (indexes/sorted-terms.ts), because making an index would block writers. */
  readonly sortedTerms: boolean;
  /** Longest pause (ms) of a builder between two steps, in which others write; 0: it only yields to the event loop. */
  readonly pause: number;
  /** `online`: without keeping writers of the table waiting. */
  createIndex(name: string, table: string, columns: string, online: boolean): string;
  /** The command that looks at a table's values for the planner; '' where plans do not depend on them. */
  readonly analyze: string;
  /** A select of the `name`s of the database's tables. */
  readonly tableNames: string;
  /** The expression, kept from being looked up in an index or made part of a join: the choice was made by counting. */
  unindexed(expression: string): string;
  /** Joins two tables so that the left one is read first: the choice was made by counting. */
  readonly join: string;
  /** Whether rows in the order of an index, ties the other way round, come without sorting them all. */
  readonly mixedOrder: boolean;
  /** Whether binary `haystack` contains binary `needle`, as a condition. */
  contains(haystack: string, needle: string): string;
  /** Statements of which one limits the time (ms) of the connection's later statements; null: back to its default. */
  timeLimit(time: number | null): string[];
  /** Rows and row counts of what knex's `raw` resolves to. */
  rows(result: unknown): Row[];
  affected(result: unknown): number;
  classify(error: { code?: unknown; errno?: unknown; message?: unknown; name?: unknown }): Reason;
}

/**
 * `collision`: run again; `taken`: a unique key exists; `late`: over the time limit of a statement; undefined: nothing that
 * can be dealt with.
 */
export type Reason = 'collision' | 'taken' | 'missing-table' | 'late' | 'unavailable' | undefined;
