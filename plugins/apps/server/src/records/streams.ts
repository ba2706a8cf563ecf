import type { Access, Indexes } from '../indexes';
import { scopeOf } from './table/ids';
import { readSomeOf } from './table/page';
import { readSome } from './table/table';
import type { RecordStore } from './types';
import { refuseMissing } from './unit/not-built';

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
}: StreamTools): Pick<RecordStore, 'stream' | 'streamMatches'> {
  return {
    async *stream(key, { limit = Number.POSITIVE_INFINITY, offset = 0, after = 0, own } = {}) {
      let left = limit;
      let skipped = offset;
      let from = after;
      while (left > 0) {
        const size = Math.min(batchSize, left);
        const page = { limit: size, offset: skipped, after: from, own };
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
        const { rows } = await refuseMissing(indexes.search(connection, scopeOf(key), declared, page, {}));
        const { records, next } = await readSome(connection.sql, rows, batchSize);
        if (records.length) yield records;
        if (next === undefined) return;
        after = next;
      }
    },
  };
}
