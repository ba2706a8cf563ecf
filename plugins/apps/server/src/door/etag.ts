import type { Context } from 'koa';
import type { VersionTest } from '../apps';
import type { StoredRecord } from '../records/types';

/** The ETag of a record's version; `seq` tells it from a record that had the same id before. */
export function etagOf({ seq, version }: StoredRecord): string {
  return `"${seq}-${version}"`;
}

/** What the request's `If-Match` demands of a record; undefined without the header. Weak tags never match (RFC 9110). */
export function ifMatch(ctx: Context): VersionTest {
  const header = ctx.get('If-Match');
  if (header === '') return undefined;
  const tags = header.split(',').map((tag) => tag.trim());
  return (record) => tags.includes('*') || tags.includes(etagOf(record));
}

/** Marks the answer as a record's version; true when the client has it already (`If-None-Match`) and 304 was set. */
export function answerUnchanged(ctx: Context, record: StoredRecord): boolean {
  ctx.set('ETag', etagOf(record));
  const known = ctx
    .get('If-None-Match')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''));
  if (!known.includes('*') && !known.includes(etagOf(record))) return false;
  ctx.status = 304;
  return true;
}
