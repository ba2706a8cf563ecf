/** What is measured: a row each. A server that has no request for a scenario is left out of it. */
import { bulkSize } from './support/dataset.mjs';

const all = (text, pattern) => [...text.matchAll(pattern)].map(([, found]) => found);
const titles = (text) => all(text, /"title":"([^"]*)"/g).join();
/** Where servers rank words differently, their number. */
const number = (text) => String(all(text, /"title":"([^"]*)"/g).length);
const total = (text) => all(text, /"total":(\d+)/g).join();
const blocks = (text) => String(all(text, /class="(apps-block)[" ]/g).length);

/**
 * `connections` is 10 where not given; `factor` is what one answer counts for, in `unit`. `compare` takes from an answer what must be
 * the same on all servers before they are measured: what the first one has, or `expected`. `needs` is a collection that only some
 * scenarios use.
 */
export const scenarios = [
  { id: 'get', title: 'Get one record, anonymous', compare: titles },
  { id: 'get-token', title: 'Get one record, API token', compare: titles },
  { id: 'get-user', title: 'Get one record, a logged-in user (JWT or session)', compare: titles },
  { id: 'get-basic', title: 'Get one record, Basic', compare: titles },
  { id: 'search-10k', title: 'Filter and sort 10,000 records, 20 rows', compare: titles },
  { id: 'search-100k', title: 'Filter and sort 100,000 records, 20 rows', compare: titles, needs: 'many' },
  { id: 'search-1m', title: 'Filter and sort 1,000,000 records, 20 rows', compare: titles, needs: 'large' },
  { id: 'words-10k', title: 'A word in 10,000 records, at most 20 rows', compare: number },
  { id: 'words-100k', title: 'A word in 100,000 records, at most 20 rows', compare: number, needs: 'many' },
  { id: 'create', title: 'Create a record (four items, two indexes)' },
  {
    id: 'bulk',
    title: `Bulk: ${bulkSize} records a request, one connection`,
    connections: 1,
    factor: bulkSize,
    unit: 'records/s',
  },
  { id: 'mixed', title: 'Updates under reads: nine get one record, one updates one' },
  { id: 'increment', title: 'Add 1 to one record by 50 clients', connections: 50 },
  { id: 'function', title: 'Server function without a read', compare: total },
  { id: 'function-one', title: 'Server function with one read', compare: total },
  { id: 'function-four', title: 'Server function with four reads', compare: total },
  { id: 'booking', title: 'A booking: `validate` reads nothing' },
  { id: 'booking-own', title: 'The same, `validate` counts what nothing else changes' },
  { id: 'booking-shared', title: 'The same, `validate` counts what each of them changes' },
  { id: 'page', title: 'A page of the site, no blocks', compare: blocks, expected: '0' },
  { id: 'page-blocks', title: 'The same page with ten blocks', compare: blocks, expected: '10' },
  {
    id: 'page-logic',
    title: 'The same page with ten blocks, five of them with logic',
    compare: blocks,
    expected: '10',
  },
  {
    id: 'page-reads',
    title: 'The same page with ten blocks, five of which show a record',
    compare: blocks,
    expected: '10',
  },
  { id: 'page-writes', title: 'The same, and each hundredth request changes that record' },
];
