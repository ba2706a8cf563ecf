import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../plugins/apps/server/src/config';
import { queryCounts, queryLimits } from '../plugins/apps/server/src/indexes/query/limits';
import { root } from './prepare.mjs';

/** docs/limits.md and the code agree: each number of the page that is named here is that of the code. */
const page = readFileSync(join(root, 'docs', 'limits.md'), 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('|'));

const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ',');
/** How the page may write a number. */
const written = (number) => [
  grouped(number),
  ...(number % (1024 * 1024) === 0 ? [`${number / (1024 * 1024)} MiB`, `${number / (1024 * 1024)} MB`] : []),
  ...(number % 1024 === 0 ? [`${number / 1024} kB`] : []),
  ...(number % 60_000 === 0 ? [`${number / 60_000} minute`] : []),
  ...(number % 1_000 === 0 ? [`${number / 1_000} s`] : []),
];
const says = (row, number) => written(number).some((text) => new RegExp(`(?<![\\d,])${text}(?![\\d,]*\\d)`).test(row));

const modules = import.meta.glob('../plugins/apps/server/src/**/*.ts');

/** The value of an exported constant, or of a key in one: `MAX_FILES`, `rateLimits.pair`. */
async function constant(path, name) {
  const module = await modules[`../plugins/apps/server/src/${path}.ts`]?.();
  const value = name.split('.').reduce((whole, key) => whole?.[key], module);
  expect(value, `${name} of ${path}.ts`).toBeTypeOf('number');
  return value;
}

describe('a limit of the configuration is on the page with its default', () => {
  const { limits } = readConfig({}, { appRoot: '/' });

  test.each(Object.entries(limits))('%s', (key, value) => {
    const named = rows.filter((row) => new RegExp(`\`${key}\`(?: *\\||\\))`).test(row));
    expect(named, `rows with the key ${key}`).not.toEqual([]);
    expect(named.filter((row) => says(row, value))).not.toEqual([]);
  });
});

test.each([
  ['Query', queryLimits.size],
  ['Query', queryLimits.depth],
  ['Query', queryLimits.values],
  ['Query', queryCounts.conditions.max],
  ['Records that one search gives', queryLimits.limit],
  ...['characters', 'words', 'phrases', 'prefixes', 'alternatives', 'exclusions'].map((what) => [
    'Search texts of a query',
    queryCounts[what].max,
  ]),
])('the row "%s" has the number %i of the query language', (start, number) => {
  const row = rows.find((one) => one.startsWith(`| ${start}`));
  expect(says(row, number), row).toBe(true);
});

test.each([
  ['Files whose', 'apps/run/files', 'MAX_LOOKED_UP'],
  ['Messages of `context.flash`', 'apps/host-calls/block-calls', 'MAX_FLASHES'],
  ['Time of a test of an app', 'app-test-run', 'TEST_TIMEOUT'],
  ['Messages of `context.flash`', 'apps/host-calls/block-calls', 'MAX_FLASH'],
  ['Messages of `context.flash`', 'auth/sessions/cookies', 'MAX_PACKED'],
  ['`states`', 'apps/definitions/records', 'MAX_STATES'],
  ['`history_days`', 'apps/definitions/settings', 'MAX_HISTORY_DAYS'],
  ['`history_days`', 'apps/definitions/settings', 'HISTORY_DAYS'],
  ['`history_days`', 'records/history', 'MAX_TEXT'],
  ['`history_days`', 'http/request/operations', 'MAX_VERSIONS'],
  ['`history_days`', 'apps/blocks/saving/restore', 'MAX_UNDONE'],
  ['One file', 'sites/themes/theme-files', 'MAX_FILE_SIZE'],
  ['Parts of a picture', 'files/pixel-reader', 'MAX_PARTS'],
  ['Pictures that wait', 'files/pictures', 'MAX_WAITING'],
  ['Pictures that wait', 'files/pictures', 'MAX_WAIT'],
  ['Files of one app', 'sites/themes/theme-files', 'MAX_FILES'],
  ['Files of one app', 'sites/themes/theme-files', 'MAX_DEPTH'],
  ['A YAML file', 'apps/yaml', 'MAX_LENGTH'],
  ['A YAML file', 'apps/yaml', 'MAX_DEPTH'],
  ['All definitions of an app', 'apps/definitions/app', 'MAX_DEFINITIONS'],
  ['A definition', 'apps/definitions/definition', 'MAX_ELEMENTS'],
  ['A definition', 'apps/elements/inputs/settings', 'MAX_DEFAULTS'],
  ["A view's id", 'apps/definitions/definition', 'MAX_VIEW_ID'],
  ['`acl`, `view_permission`', 'apps/definitions/settings', 'MAX_NAMES'],
  ['`pattern`', 'apps/patterns', 'MAX_STATES'],
  ['`pattern`', 'apps/patterns', 'MAX_PATTERN_INPUT'],
  ['`pattern`', 'apps/patterns', 'MAX_PATTERN'],
  ['`pattern`', 'apps/patterns', 'MAX_PROPERTIES'],
  ['All patterns of one submitted form', 'apps/patterns', 'MAX_STEPS'],
  ['Theme rules', 'apps/pages/rules', 'MAX_RULES'],
  ['`if_path`', 'apps/pages/rules', 'MAX_WILDCARDS'],
  ['A selector', 'apps/pages/rules', 'MAX_SELECTORS'],
  ['A selector', 'layouts/markup/selectors', 'MAX_LENGTH'],
  ['A layout', 'layouts/liquid/braces', 'MAX_BRACE'],
  ['Searching a text in a layout', 'layouts/liquid/compile', 'MAX_SEARCH'],
  ['One filter of a layout', 'layouts/liquid/compile', 'MAX_FORMAT'],
  ['A list or object that a page shows as JSON', 'layouts/liquid/html', 'MAX_JSON'],
  ['The same for all HTML of one page', 'layouts/markup/markup', 'MAX_PAGE_TIME'],
  ['Record id', 'common/record-id', 'MAX_RECORD_ID'],
  ['Items of a record;', 'records/table/rows', 'MAX_ITEMS'],
  ['Indexes of the type', 'indexes/tables', 'MAX_FIELD_INDEXES'],
  ['Indexes of the type', 'indexes/tables', 'MAX_INDEXED_COLUMNS'],
  ['Words of a text', 'indexes/rows', 'MAX_INDEXED'],
  ['Items of a record;', 'records/table/rows', 'MAX_NAME'],
  ['Columns of a table: items', 'interchange/table', 'MAX_DECLARED'],
  ['Columns of a table: items', 'interchange/table', 'MAX_OTHERS'],
  ['Columns of a table that is read', 'interchange/table', 'MAX_HEADINGS'],
  ['Rows of a CSV file that have another', 'interchange/text', 'MAX_UNEVEN'],
  ['An XLSX file', 'interchange/xlsx', 'MAX_SHEET_FILE'],
  ['An XLSX file', 'interchange/xlsx', 'MAX_UNPACKED'],
  ['An XLSX file', 'interchange/xlsx', 'MAX_SHEET_ROWS'],
  ['An XLSX file', 'interchange/xlsx', 'MAX_SHEET_CELLS'],
  ['An export as XLSX', 'interchange/xlsx', 'MAX_CELL'],
  ['An export as XLSX', 'interchange/xlsx', 'MAX_ROWS'],
  ['XLSX files that are read', 'interchange/xlsx', 'MAX_WAITING'],
  ['Items of the records that one search', 'records/table/rows', 'MAX_BYTES'],
  ['Levels of lists and objects inside each other in a JSON body', 'http/request/body', 'MAX_DEPTH'],
  ['`limit` of a listing', 'http/request/operations', 'MAX_LIMIT'],
  ['Such a statement on SQLite', 'database/long-reads', 'MAX_BLOCKING_TIME'],
  ['Time for which a commit whose answer was lost', 'database/sql', 'OUTAGE'],
  ['Time for which processes that start together', 'database/start-lock', 'MAX_WAIT'],
  ...['characters', 'ofSender', 'together'].map((name) => [
    'Answers that are kept',
    'records/answers',
    `MAX_KEPT.${name}`,
  ]),
  ['Length of an NDJSON body', 'common/spool', 'MAX_IN_MEMORY'],
  ['Time for which the rest of a refused body', 'http/request/body', 'LINGER'],
  ['Time that a process which', 'http/middleware/observed-requests', 'DRAIN_TIME'],
  ['Time for which such a process', 'http/middleware/observed-requests', 'KEPT_TIME'],
  ['Apps with labels', 'metrics/index', 'MAX_APPS'],
  ['Time of a check of', 'http/operate', 'CHECK_TIME'],
  ['Time of a check of', 'metrics/index', 'READ_TIME'],
  ['Time until a check of', 'http/operate', 'BEGUN_AGAIN'],
  ['Text of a statement in a span', 'database/sql', 'MAX_STATEMENT'],
  ['Failed logins in 5 minutes for one account from one address', 'auth/credentials/rate-limit', 'rateLimits.pair'],
  ['Failed logins in 5 minutes from one address', 'auth/credentials/rate-limit', 'rateLimits.address'],
  ['Failed logins in 5 minutes for one account from all', 'auth/credentials/rate-limit', 'rateLimits.account'],
  ['Time for which an address is known', 'auth/credentials/rate-limit', 'TRUST_DAYS'],
  ['Pages that wait for changes', 'events/live/live', 'MAX_PAGES'],
  ['Pages that wait for changes', 'events/live/live', 'MAX_PER_ADDRESS'],
  ['Pages that wait for changes', 'events/live/live', 'UNCOUNTED'],
  ['Conditions of the searches of one live block', 'apps/live-topics', 'MAX_TOPICS'],
  ['Conditions of the searches of one live block', 'apps/live-topics', 'MAX_CONDITION'],
  ['Conditions of the searches of one live block', 'apps/live-topics', 'MAX_CONDITIONS'],
  ['Conditions for which one server process', 'events/live/conditions', 'MAX_CONDITIONS'],
  ['Changed records that other processes', 'events/live/changes', 'MAX_RECORDS'],
  ['Changed records that other processes', 'events/live/changes', 'MAX_RECORD'],
  ['Changed records that other processes', 'events/live/changes', 'MAX_ITEM'],
  ['Age of a one-time login token', 'auth/credentials/administrators', 'MAX_HAND_OVER_AGE'],
  ['Entries of the [audit log]', 'audit/index', 'RETENTION.entries'],
  ['New entries of one administrator in a day', 'audit/index', 'MAX_PER_DAY'],
  ['Compiling a logic file', 'logic/compile/task-types', 'MAX_COMPILE_TIME'],
  ['Blocks displayed, saved or deleted', 'apps/run/run', 'MAX_DEPTH'],
  ['Mails of a form that wait', 'mail/statements', 'MAX_WAITING'],
  ['Records that a mail lists', 'mail/statements', 'MAX_LINES'],
  ...['objects', 'values', 'text', 'depth'].map((name) => [
    'A query of `api.documents()`',
    'logic/documents/params',
    `MAX.query.${name}`,
  ]),
  ...['sort', 'fields', 'populate'].map((name) => ['Names in `sort`', 'logic/documents/params', `MAX.names.${name}`]),
  ...['relations', 'lists', 'sortedLists'].map((name) => [
    'Relations, components and files',
    'logic/documents/params',
    `MAX_COST.${name}`,
  ]),
  ...['levels', 'populated'].map((name) => ['Levels of `populate`', 'logic/documents/params', `MAX_COST.${name}`]),
  ['Entries of a result of `api.documents()`', 'logic/documents/output-pieces', 'MAX_ENTRIES'],
])('the row "%s" has the number of %s.ts, %s', async (start, path, name) => {
  const row = rows.find((one) => one.startsWith(`| ${start}`));
  expect(row, `a row that begins with "${start}"`).toBeDefined();
  const number = await constant(path, name);
  expect(says(row, number), `${number} in: ${row}`).toBe(true);
});
