import type { Sql } from '../../indexes';
import type { AppKey } from '../types';
import { hashOf, numberedId } from './ids';
import { selectTaken } from './table';

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
