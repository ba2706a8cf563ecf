import type { Dialect, Reason, Row } from './types';
import { isUnavailable } from './unavailable';

/** Batches of records that are being written: a range of ids each, which no reader sees (records/pending.ts). */
export const pendingTable = 'apps_pending';

export const sqlite: Dialect = {
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
  // A statement can only be ended by the code that runs it: database/reads/long-reads.ts.
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
