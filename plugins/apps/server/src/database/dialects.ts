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
  /** Whether terms have a separate sorted table (indexes/tables.ts), because creating an index would block writers. */
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
type Reason = 'collision' | 'taken' | 'missing-table' | 'late' | 'unavailable' | undefined;

/** Codes and names of errors with which drivers, the pool and servers report that there is no connection. */
const codes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'ER_CON_COUNT_ERROR',
  'ER_SERVER_SHUTDOWN',
  'ER_CONNECTION_KILLED',
  'ER_QUERY_INTERRUPTED',
  // A server that is no primary, or no longer.
  'ER_OPTION_PREVENTS_STATEMENT',
  'KnexTimeoutError',
  'AbortError',
]);

/** Messages of drivers, without a code, when a connection ends during a request. */
const messages =
  /connection terminated|connection error and is not queryable|connection (is )?in closed state|connection lost|connection (was )?closed|connection ended|server closed the connection|unable to acquire a connection|transaction query already complete|^aborted$/i;

/** PostgreSQL: connection exceptions, insufficient resources, operator intervention, a server that is no primary. */
const sqlStates = /^(08|53|57P|25006)/;

/** Whether an error is SQLite's while another process writes, or moves the log: it passes. */
export const isBusy = (error: unknown): boolean =>
  String((error as { code?: unknown } | null)?.code).startsWith('SQLITE_BUSY');

/** Whether an error or its cause means that the database cannot be reached or has no free connection. */
export function isUnavailable(error: unknown): boolean {
  const { code, name, message, cause } = (error ?? {}) as Record<string, unknown>;
  if (codes.has(String(code)) || codes.has(String(name)) || messages.test(String(message))) return true;
  if (typeof code === 'string' && code.length === 5 && sqlStates.test(code)) return true;
  return cause !== undefined && cause !== error && isUnavailable(cause);
}

/** Batches of records that are being written: a range of ids each, which no reader sees (records/pending.ts). */
export const pendingTable = 'apps_pending';

const sqlite: Dialect = {
  client: 'sqlite',
  types: { key: 'blob', long: 'blob', text: 'text' },
  tableEnding: '',
  clusteredEnding: ' without rowid',
  shareLock: '',
  updateLock: '',
  newest: '',
  countAgain: ' on conflict (scope, process) do update set commits = excluded.commits, at = excluded.at',
  returning: true,
  arrays: false,
  quoted: (name) => `"${name.replaceAll('"', '""')}"`,
  insertIgnore: { verb: 'insert', ending: ' on conflict do nothing' },
  // SQLite creates an index in one transaction, which blocks all writers: acceptable up to 100,000 rows of small keys.
  indexesLast: (rows) => rows <= 100_000,
  sortedTerms: true,
  // Another process that has waited for a batch tries to lock the file again after 25 ms.
  maxPause: 25,
  oneWriter: true,
  // The first select is evaluated once in a statement; the planner uses no part of a CASE.
  visible: (record) =>
    `case when exists (select 1 from ${pendingTable}) then not exists (select 1 from ${pendingTable} p where ${record} between p.first and p.last) else 1 end and `,
  createIndex: (name, table, columns) => `create index ${name} on ${table} (${columns})`,
  analyze: '',
  tableNames: `select name from sqlite_master where type = 'table'`,
  unindexed: (expression) => `+${expression}`,
  join: 'cross join',
  // Conditions that are not `unindexed` decide the plan.
  fence: '',
  anyKey: '?',
  plansLimits: false,
  keysAsRanges: false,
  mixedOrder: true,
  contains: (haystack, needle) => `instr(${haystack}, ${needle}) > 0`,
  // A statement can only be ended by the code that runs it: database/long-reads.ts.
  timeLimit: () => [],
  oneProcessor: [],
  rows: (result) => result as Row[],
  affected: (result) => (result as { changes: number }).changes,
  classify(error): Reason {
    const code = String(error.code);
    if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return 'collision';
    if (code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY') return 'taken';
    if (code === 'SQLITE_ERROR' && /no such table/.test(String(error.message))) return 'missing-table';
    return isUnavailable(error) ? 'unavailable' : undefined;
  },
};

const postgresReasons: Record<string, Reason> = {
  '40001': 'collision', // serialization failure
  '40P01': 'collision', // deadlock
  '55P03': 'collision', // lock not available
  // A prepared statement that the server no longer has: the next attempt does without.
  '26000': 'collision',
  '42P05': 'collision',
  '23505': 'taken',
  '42P01': 'missing-table',
  '57014': 'late', // statement timeout
};

const postgres: Dialect = {
  client: 'postgres',
  types: { key: 'bytea', long: 'bytea', text: 'text' },
  tableEnding: '',
  clusteredEnding: '',
  shareLock: ' for share',
  updateLock: ' for update',
  newest: '',
  countAgain: ' on conflict (scope, process) do update set commits = excluded.commits, at = excluded.at',
  returning: true,
  arrays: true,
  quoted: (name) => `"${name.replaceAll('"', '""')}"`,
  insertIgnore: { verb: 'insert', ending: ' on conflict do nothing' },
  indexesLast: (rows) => rows > 5_000,
  sortedTerms: false,
  maxPause: 0,
  oneWriter: false,
  visible: () => '',
  createIndex: (name, table, columns, online) =>
    `create index ${online ? 'concurrently ' : ''}${name} on ${table} (${columns})`,
  analyze: 'analyze',
  tableNames:
    'select table_name as name from information_schema.tables where table_schema = any (current_schemas(false))',
  unindexed: (expression) => expression,
  join: 'cross join',
  fence: ' offset 0',
  anyKey: '(select ?::bytea)',
  plansLimits: true,
  keysAsRanges: true,
  mixedOrder: true,
  contains: (haystack, needle) => `position(${needle} in ${haystack}) > 0`,
  timeLimit: (time) => [`set local statement_timeout to ${time ?? 'default'}`],
  // Compiling a condition of many phrases takes longer than it saves.
  oneProcessor: ['set local max_parallel_workers_per_gather to 0', 'set local jit to off'],
  rows: (result) => (result as { rows: Row[] }).rows,
  affected: (result) => (result as { rowCount: number | null }).rowCount ?? 0,
  classify: (error) => postgresReasons[String(error.code)] ?? (isUnavailable(error) ? 'unavailable' : undefined),
};

const mysqlReasons: Record<string, Reason> = {
  ER_LOCK_DEADLOCK: 'collision',
  ER_LOCK_WAIT_TIMEOUT: 'collision',
  ER_CHECKREAD: 'collision', // the row was changed since this transaction's snapshot (MariaDB)
  ER_DUP_ENTRY: 'taken',
  ER_NO_SUCH_TABLE: 'missing-table',
  ER_QUERY_TIMEOUT: 'late',
  ER_TABLE_DEF_CHANGED: 'missing-table', // the table was created after this transaction's snapshot
};

/** MariaDB's ER_STATEMENT_TIMEOUT, for which the driver has no name. */
const statementTimeout = 1969;

/** MySQL and MariaDB. */
const mysql: Dialect = {
  client: 'mysql',
  // A key has 255 bytes. InnoDB puts columns of more outside of the page where a row is too large for it, which 31 keys are.
  types: { key: 'varbinary(256)', long: 'longblob', text: 'longtext' },
  tableEnding: ' engine=InnoDB',
  clusteredEnding: ' engine=InnoDB',
  shareLock: ' lock in share mode',
  updateLock: ' for update',
  newest: ' lock in share mode',
  countAgain: ' on duplicate key update commits = values(commits), at = values(at)',
  returning: false,
  arrays: false,
  quoted: (name) => `\`${name.replaceAll('`', '``')}\``,
  insertIgnore: { verb: 'insert ignore', ending: '' },
  indexesLast: (rows) => rows > 5_000,
  sortedTerms: false,
  maxPause: 0,
  oneWriter: false,
  visible: () => '',
  createIndex: (name, table, columns, online) =>
    `create index ${name} on ${table} (${columns})${online ? ' algorithm = inplace lock = none' : ''}`,
  analyze: 'analyze table',
  tableNames: 'select table_name as name from information_schema.tables where table_schema = database()',
  unindexed: (expression) => expression,
  join: 'straight_join',
  fence: undefined,
  anyKey: '?',
  plansLimits: false,
  keysAsRanges: false,
  mixedOrder: false,
  contains: (haystack, needle) => `locate(${needle}, ${haystack}) > 0`,
  // MariaDB's name and unit, then MySQL's.
  timeLimit: (time) => [
    `set session max_statement_time = ${time === null ? 'default' : time / 1000}`,
    `set session max_execution_time = ${time ?? 'default'}`,
  ],
  oneProcessor: [],
  rows: (result) => (result as [Row[]])[0],
  affected: (result) => (result as [{ affectedRows: number }])[0].affectedRows,
  classify: (error) =>
    error.errno === statementTimeout
      ? 'late'
      : (mysqlReasons[String(error.code)] ?? (isUnavailable(error) ? 'unavailable' : undefined)),
};

/** One row per database; the dialect suite runs against each. */
export const dialects: Record<Client, Dialect> = { sqlite, postgres, mysql };
