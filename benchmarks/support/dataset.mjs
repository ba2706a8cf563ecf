/**
 * The records that every server holds. This file is imported by the servers' own processes too, so that all of them get the
 * same data.
 */

/** Collections, with the number of records they begin with. `large` is made by --large only. */
export const collections = { notes: 10_000, created: 0, many: 100_000, large: 1_000_000 };

const authors = 50;

/** One of 5,000 words: the first 500 are each in two per mille of the records, the others are rarer. */
export const wordAt = (at) => `w${(((at + 1) * 7_919) % 100_003).toString(36)}x`;

/** The record at a position, always the same: two items for filters and order, two of text. */
export const noteAt = (at) => ({
  title: `Note ${at}`,
  body: [
    wordAt(at % 500),
    wordAt(500 + ((at * 31) % 4_500)),
    wordAt(500 + ((at * 17) % 300)),
    'the quick brown fox jumps over the lazy dog and looks back',
  ].join(' '),
  author: `author${at % authors}`,
  total: (at * 104_729) % 1_000_003,
});

/** Positions of records that get-one requests ask for, spread over a collection. */
export const positions = Array.from({ length: 100 }, (_, at) => (at * 7_919) % collections.notes);

/** Filters of the searches: an author, and the bound of `total`; 20 records in its order. */
export const searches = Array.from({ length: 20 }, (_, at) => ({ author: `author${at}`, above: at * 20_000 }));

/** Words of the word searches. */
export const searchWords = Array.from({ length: 20 }, (_, at) => wordAt(at * 7));

/** Records of one bulk request. */
export const bulkSize = 500;
export const bulkNotes = Array.from({ length: bulkSize }, (_, at) => noteAt(at));
