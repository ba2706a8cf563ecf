import type { Dialect, Reason, Row } from './types';
import { isUnavailable } from './unavailable';

const reasons: Record<string, Reason> = {
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
export const mysql: Dialect = {
  client: 'mysql',
  types: { key: 'varbinary(255)', long: 'longblob', text: 'longtext' },
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
      : (reasons[String(error.code)] ?? (isUnavailable(error) ? 'unavailable' : undefined)),
};
