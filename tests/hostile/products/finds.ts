import type { Product } from './generate';

/** Products that made others wait before they were corrected. */
export const finds: readonly Product[] = [
  // Batches of eight requests left no pauses together; the JSON of their records was made in transactions.
  { large: ['content', 'computed', 'shared'], request: 'many lines of the block', count: 8 },
  { large: ['mail'], request: 'many lines', count: 24 },
  // Answers were encoded, and up to 16 MB of items read, at once.
  { large: ['checkboxes', 'nested'], request: 'search', count: 24 },
  { large: ['records', 'keywords', 'largeItems'], request: 'list as CSV', count: 8 },
  // A chunk of a body with hundreds of parts was parsed at once, and each part read by an asynchronous iterator.
  { large: ['references'], request: 'save in parts', count: 24 },
  // The description of an app was made again for each request.
  { large: ['elements'], request: 'description', count: 24 },
  // A field cost a stream and several promises, which nothing counted as work.
  { large: ['nested', 'keywords', 'texts'], request: 'save in parts', count: 24 },
  // Each word of a text was encoded, not each different one.
  { large: ['texts', 'references'], request: 'many lines of the block', count: 8 },
  // Pieces of work that began in one iteration of the event loop all found it free.
  { large: ['records', 'shared', 'checkboxes'], request: 'list', count: 24 },
  // A thousand options were made into texts for each record, to find what is kept of none.
  { large: ['computedOptions'], request: 'many lines of the block', count: 24 },
  // Megabytes of records were parsed, and made into JSON twice, for each host call.
  { large: ['hostCalls', 'largeItems'], request: 'record', count: 8 },
  // Twenty targets of a quarter of a megabyte each were parsed at once, for their labels, and to know whether they are hidden.
  { large: ['markup', 'nested', 'references'], request: 'save in parts', count: 24 },
  // The first 8 kB of each body, with some eighty parts, were parsed without a pause: of all bodies in one iteration.
  { large: ['repeatedConditions'], request: 'save in parts', count: 24 },
];
