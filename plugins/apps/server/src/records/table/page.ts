import { LRUCache } from 'lru-cache';
import { expectWork } from '../../common/time/pace';
import type { Row, Sql } from '../../database';
import { type Access, type Indexes, queryLimits } from '../../indexes';
import type { PageOptions, StoredRecord } from '../types';
import { readRecords, readSome, selectPageRows } from './table';

/** Milliseconds that a row takes about to be read. */
const ROW_TIME = 0.003;

/** Rows of the last page of a scope: most pages have far fewer than they may have. */
const lastSizes = new LRUCache<string, number>({ max: 1_000 });

/** Rows in order of creation, after a wait in proportion to the rows that are expected. */
async function pacedRows(sql: Sql, scope: string, page: PageOptions & { limit: number }): Promise<Row[]> {
  await expectWork(ROW_TIME * Math.min(page.limit, lastSizes.get(scope) ?? page.limit));
  const rows = await selectPageRows(sql, scope, page);
  lastSizes.set(scope, rows.length);
  return rows;
}

/** The record, unless another identity than `creator` is wanted and has made it: '' has made none. */
export function ofCreator(record: StoredRecord | null, creator: string | undefined): StoredRecord | null {
  return creator === undefined || (creator !== '' && record?.creator === creator) ? record : null;
}

/** Rows of a page in order of creation: of all records, or of some, which the plugin's own indexes find. */
async function pageRows(
  indexes: Indexes,
  access: Access,
  scope: string,
  { only, ...page }: PageOptions & { limit: number },
): Promise<Row[]> {
  if (!only) return pacedRows(access.sql, scope, page);
  const limit = Math.min(page.limit, queryLimits.limit);
  const { indexes: declared, ...wanted } = only;
  const { rows } = await indexes.search(access, scope, declared, { ...page, limit, ...wanted }, {});
  const last = rows.at(-1);
  if (limit === page.limit || rows.length < limit || !last) return rows;
  // A listing asks for one record more than a search may, to see whether there is a next page.
  const more = { limit: page.limit - limit, after: Number(last.id), only };
  return [...rows, ...(await pageRows(indexes, access, scope, more))];
}

/** Records in order of creation. PayloadTooLargeError when they are too large together. */
export async function readPage(
  indexes: Indexes,
  access: Access,
  scope: string,
  options: PageOptions,
): Promise<StoredRecord[]> {
  const page = { ...options, limit: options.limit ?? queryLimits.limit };
  return readRecords(access.sql, await pageRows(indexes, access, scope, page));
}

/** The first records of the page that fit into memory, and the `seq` after which to continue; undefined at the end. */
export async function readSomeOf(
  indexes: Indexes,
  access: Access,
  scope: string,
  page: PageOptions & { limit: number },
): Promise<{ records: StoredRecord[]; next: number | undefined }> {
  return readSome(access.sql, await pageRows(indexes, access, scope, page), page.limit);
}
