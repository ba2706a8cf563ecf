import type { Dialect, Reason, Row } from './types';
import { isUnavailable } from './unavailable';

const reasons: Record<string, Reason> = {
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

export const postgres: Dialect = {
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
  classify: (error) => reasons[String(error.code)] ?? (isUnavailable(error) ? 'unavailable' : undefined),
};
