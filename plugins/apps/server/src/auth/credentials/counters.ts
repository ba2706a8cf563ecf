import type { Core } from '@strapi/strapi';
import type { Keyring } from './keyring';

/** A count, until its time is over. */
export interface Count {
  count: number;
  /** When it ends, in milliseconds since the epoch. */
  endsAt: number;
}

/** Counts that all server processes on a database share. Ids are digests: nothing that they name can be read in the database. */
export interface Counters {
  /**
   * Adds one, unless the count has reached its limit; a count whose time is over begins again.
   * @param endsAt of a count that begins
   * @returns `begun`: of simultaneous ones, exactly one begins; `full`: nothing was added
   */
  add(id: string, endsAt: number, limit?: number): Promise<'begun' | 'added' | 'full'>;
  /** Takes one back from each. */
  takeBack(ids: readonly string[]): Promise<void>;
  /** The counts of these ids whose time is not over. */
  read(ids: readonly string[]): Promise<Map<string, Count>>;
}

/** Counts of which each server process holds a part. */
export interface SharedCounts {
  /**
   * Sets the part of the process `holder`, until its time is over; 0: it has none.
   * @param name of what is counted
   * @returns the sum of all parts: of simultaneous calls, the last one gets all
   */
  set(name: readonly string[], holder: string, part: number, endsAt: number): Promise<number>;
}

const TABLE = 'apps_form_posts';

/** Milliseconds between two deletions of counts that are over. */
const PRUNE = 60_000;

interface Row {
  count_id: string;
  posts: number;
  ends_at: number | string;
}

/** One row for each part. @param now milliseconds since the epoch */
export function createParts(strapi: Core.Strapi, keyring: Pick<Keyring, 'sign'>, now: () => number): SharedCounts {
  const table = () => strapi.db.connection(TABLE);
  return {
    async set(name, holder, part, endsAt) {
      const id = keyring.sign(['part', ...name]);
      const row = { count_id: `${id}.${holder}` };
      const values = { posts: part, ends_at: endsAt };
      if (part === 0) await table().where(row).delete();
      else if ((await table().where(row).update(values)) === 0)
        await table()
          .insert({ ...row, ...values, part_of: id })
          .onConflict('count_id')
          .merge(values);
      const [sum] = await table().where({ part_of: id }).where('ends_at', '>', now()).sum({ parts: 'posts' });
      return Number(sum?.parts ?? 0);
    },
  };
}

/** Each method is a few statements outside of any transaction, which change one row each. */
export function createCounters(strapi: Core.Strapi, now: () => number): Counters {
  const table = () => strapi.db.connection(TABLE);
  let prunedAt = 0;

  const current = (id: string) => table().where({ count_id: id }).where('ends_at', '>', now());

  async function increment(id: string, limit: number): Promise<boolean> {
    const counted = limit === Number.POSITIVE_INFINITY ? current(id) : current(id).where('posts', '<', limit);
    return (await counted.increment('posts', 1)) > 0;
  }

  /** Whether a count begins: there was none, or its time is over. */
  async function begin(id: string, endsAt: number): Promise<boolean> {
    const over = table().where({ count_id: id }).where('ends_at', '<=', now());
    if ((await over.update({ posts: 1, ends_at: endsAt })) > 0) return true;
    try {
      await table().insert({ count_id: id, posts: 1, ends_at: endsAt });
      return true;
    } catch (error) {
      // Another request has inserted the row.
      if ((await current(id).select('id')).length === 0) throw error;
      return false;
    }
  }

  async function prune(): Promise<void> {
    if (now() - prunedAt < PRUNE) return;
    prunedAt = now();
    await table().where('ends_at', '<', now()).delete();
  }

  return {
    async add(id, endsAt, limit = Number.POSITIVE_INFINITY) {
      await prune();
      if (await increment(id, limit)) return 'added';
      if (await begin(id, endsAt)) return 'begun';
      return (await increment(id, limit)) ? 'added' : 'full';
    },
    async takeBack(ids) {
      await table().whereIn('count_id', ids).where('posts', '>', 0).decrement('posts', 1);
    },
    async read(ids) {
      const rows: Row[] = await table().whereIn('count_id', ids).where('ends_at', '>', now());
      return new Map(rows.map((row) => [row.count_id, { count: Number(row.posts), endsAt: Number(row.ends_at) }]));
    },
  };
}
