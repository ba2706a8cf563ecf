/** What is measured: a row each. A server that has no request for a scenario is left out of it. */
import { bulkSize } from './support/dataset.mjs';

/**
 * `connections` is 10 where not given; `factor` is what one answer counts for; `compare` has the answers of all servers
 * compared before they are measured: the titles in order, or only their number where the servers order differently.
 */
export const scenarios = [
  { id: 'get', title: 'Get one record, anonymous' },
  { id: 'get-token', title: 'Get one record, API token' },
  { id: 'get-user', title: 'Get one record, a logged-in user (JWT or session)' },
  { id: 'get-basic', title: 'Get one record, Basic' },
  { id: 'search-10k', title: 'Filter and sort 10,000 records, 20 rows', compare: 'titles' },
  { id: 'search-100k', title: 'Filter and sort 100,000 records, 20 rows', compare: 'titles', needs: 'many' },
  { id: 'search-1m', title: 'Filter and sort 1,000,000 records, 20 rows', compare: 'titles', needs: 'large' },
  { id: 'words-10k', title: 'A word in 10,000 records, at most 20 rows', compare: 'number' },
  { id: 'words-100k', title: 'A word in 100,000 records, at most 20 rows', compare: 'number', needs: 'many' },
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
  { id: 'function', title: 'Server function without a read' },
  { id: 'function-one', title: 'Server function with one read' },
  { id: 'function-four', title: 'Server function with four reads' },
  { id: 'page', title: 'A page of the site, no blocks' },
  { id: 'page-blocks', title: 'The same page with ten blocks' },
  { id: 'page-logic', title: 'The same page with ten blocks, five of them with logic' },
];
