import { expectWork } from '../common/time/pace';
import { documentIdsIn } from '../files';
import type { Access, Indexes } from '../indexes';
import type { IndexDeclarations } from '../indexes/types';
import { scopeOf } from './table/ids';
import { readSomeOf } from './table/page';
import { readSome } from './table/table';
import type { RecordStore } from './types';
import { refuseMissing } from './unit/entries';

/** The app's own indexes, which are not needed. */
const NONE: IndexDeclarations = new Map();

/** Milliseconds that a row takes about to be read. */
const ROW_TIME = 0.03;

interface StreamTools {
  /** The connection for the next statement. */
  access(): Promise<Access>;
  indexes: Indexes;
  /** Records of a batch. */
  batchSize: number;
}

/** Reads any number of records in batches, each with a statement of its own: nothing is locked between them. */
export function createStreams({
  access,
  indexes,
  batchSize,
}: StreamTools): Pick<RecordStore, 'stream' | 'streamMatches' | 'namedFiles' | 'recordsWithFile'> {
  return {
    async *stream(key, { limit = Number.POSITIVE_INFINITY, offset = 0, after = 0, only } = {}) {
      let left = limit;
      let skipped = offset;
      let from = after;
      while (left > 0) {
        const size = Math.min(batchSize, left);
        const page = { limit: size, offset: skipped, after: from, only };
        await expectWork(ROW_TIME * size);
        const { records, next } = await refuseMissing(readSomeOf(indexes, await access(), scopeOf(key), page));
        if (records.length) yield records;
        if (next === undefined) return;
        left -= records.length;
        skipped = 0;
        from = next;
      }
    },

    async *streamMatches(key, declared, { query, names, creator }) {
      for (let after = 0; ; ) {
        const connection = await access();
        const page = { query, names, limit: batchSize, after, ...(creator === undefined ? {} : { creator }) };
        await expectWork(ROW_TIME * batchSize);
        const { rows } = await refuseMissing(indexes.search(connection, scopeOf(key), declared, page, {}));
        const { records, next } = await readSome(connection.sql, rows, batchSize);
        if (records.length) yield records;
        if (next === undefined) return;
        after = next;
      }
    },

    async recordsWithFile(key, documentId) {
      const connection = await access();
      const page = { files: [documentId], limit: batchSize };
      const { rows } = await refuseMissing(indexes.search(connection, scopeOf(key), NONE, page, {}));
      const { records } = await readSome(connection.sql, rows, batchSize);
      // One may have been changed between the two statements.
      return records.filter(({ items }) => documentIdsIn(items).includes(documentId));
    },

    async namedFiles(key, documentIds) {
      const left = new Set(documentIds);
      const named = new Set<string>();
      // Each round finds a file at least, of which other records may be many.
      for (let round = 0; round <= documentIds.length && left.size > 0; round += 1) {
        const connection = await access();
        const page = { files: [...left], limit: batchSize };
        const { rows } = await refuseMissing(indexes.search(connection, scopeOf(key), NONE, page, {}));
        if (rows.length === 0) return named;
        const { records } = await readSome(connection.sql, rows, batchSize);
        for (const { items } of records) for (const id of documentIdsIn(items)) if (left.delete(id)) named.add(id);
      }
      // Records that were changed between the two statements of each round: none of the files counts as not named.
      return new Set(documentIds);
    },
  };
}
