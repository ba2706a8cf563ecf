/** Requests that all servers have, each in its own form; by the ids of scenarios.mjs. */
import { positions } from '../support/dataset.mjs';

/** @param find requests of the filters in a collection; @param words requests of the words in one */
export const searchRequests = (find, words) => ({
  'search-10k': find('notes'),
  'search-100k': find('many'),
  'search-1m': find('large'),
  'words-10k': words('notes'),
  'words-100k': words('many'),
});

/** Nine of ten read one record, one updates one. @param reads a request for each position */
export const mixedRequests = (reads, update) => positions.map((at, turn) => (turn % 10 ? reads[turn] : update(at)));
