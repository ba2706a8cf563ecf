import type { Context } from 'koa';
import type { VersionTest } from '../../apps';
import type { StoredRecord } from '../../records/types';

/** The ETag of a record's version; `seq` tells it from a record that had the same id before. */
export function etagOf({ seq, version }: StoredRecord): string {
  return `"${seq}-${version}"`;
}

/** The tags of an `If-Match` or `If-None-Match` header. */
const tagsOf = (header: string): string[] => header.split(',').map((tag) => tag.trim());

/** What the request's `If-Match` demands of a record; undefined without the header. Weak tags never match (RFC 9110). */
export function ifMatch(ctx: Context): VersionTest {
  const header = ctx.get('If-Match');
  if (header === '') return undefined;
  const tags = tagsOf(header);
  return (record) => tags.includes('*') || tags.includes(etagOf(record));
}

/**
 * Sets the ETag; true when the client has that version already (`If-None-Match`), after setting the status 304. Koa's
 * `ctx.fresh` is never true for `fetch()`, which adds `Cache-Control: no-cache` to a request with that header.
 */
export function answerUnchanged(ctx: Context, tag: string): boolean {
  ctx.set('ETag', tag);
  const known = tagsOf(ctx.get('If-None-Match')).map((one) => one.replace(/^W\//, ''));
  if (!known.includes('*') && !known.includes(tag)) return false;
  ctx.status = 304;
  return true;
}
