import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AppsError } from '../../common/errors';
import { MAX_RECORD_ID, recordIdProblem } from '../../common/record-id';
import type { Sql } from '../../database';
import type { AppKey } from '../types';
import { selectTaken } from './table';

/** BadRequestError unless `id` may be a record's id. */
export function checkId(id: unknown): asserts id is string {
  const reason = typeof id === 'string' ? recordIdProblem(id)?.reason : 'it must be a string';
  if (reason) throw new AppsError('BadRequestError', `Bad record id: ${reason}`, { details: { reason } });
}

/** Scopes of recently used apps: every request needs one several times. */
const scopes = new LRUCache<string, string>({ max: 1_000 });

/** The key of an app in the database: a hash, because not every database compares strings exactly. */
export function scopeOf({ site, app }: AppKey): string {
  const name = JSON.stringify([site, app]);
  const known = scopes.get(name);
  if (known !== undefined) return known;
  const scope = digest([site, app]).slice(0, 32);
  scopes.set(name, scope);
  return scope;
}

/** The key of a record: unique over sites, apps and ids. */
export function hashOf({ site, app }: AppKey, id: string): string {
  return digest([site, app, id]);
}

function digest(parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

let last = 0;
const epoch = Date.UTC(2024, 0, 1);

/**
 * A generated id: digits, a safe integer, greater than all that this process has generated. Another process may generate
 * the same one; the insert then fails, and the caller generates another.
 */
export function generateId(): string {
  last = Math.max(last + 1, (Date.now() - epoch) * 4096 + Math.floor(Math.random() * 4096));
  return String(last);
}

/** `id` with `-<number>` behind it, shortened to fit. */
function numberedId(id: string, number: number): string {
  const suffix = `-${number}`;
  return [...id].slice(0, MAX_RECORD_ID - suffix.length).join('') + suffix;
}

/** The first free id of `id`, `id-1`, `id-2` …; `reserved` overrides the database: true is taken, false is free. */
export async function firstFreeId(
  sql: Sql,
  key: AppKey,
  id: string,
  reserved: (hash: string) => boolean | undefined,
): Promise<string> {
  for (let start = 0, size = 10; ; start += size, size = Math.min(size * 2, 500)) {
    const candidates = Array.from({ length: size }, (_, at) => (start + at === 0 ? id : numberedId(id, start + at)));
    const hashes = candidates.map((candidate) => hashOf(key, candidate));
    const taken = await selectTaken(sql, hashes);
    const free = candidates.find((_, at) => !(reserved(hashes[at] as string) ?? taken.has(hashes[at] as string)));
    if (free !== undefined) return free;
  }
}
