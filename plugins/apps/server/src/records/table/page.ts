import { type Access, type Indexes, queryLimits, type Row } from '../../indexes';
import type { PageOptions, StoredRecord } from '../types';
import { readRecords, readSome, selectPageRows } from './table';

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
  if (!only) return selectPageRows(access.sql, scope, page);
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
