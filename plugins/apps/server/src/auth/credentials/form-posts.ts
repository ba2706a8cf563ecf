import type { Core } from '@strapi/strapi';
import { AppsError } from '../../common/errors';
import type { Keyring } from './keyring';
import { addressGroup } from './rate-limit';

/** Counts how often one client address saves one form (docs/reference/rights.md#public-forms). */
export interface FormPosts {
  /**
   * Counts one post; RateLimitError with Retry-After beyond `limit` in a window of ten minutes.
   * @param form names of the site, app and block
   * @param limit 0: none
   */
  take(ip: string, form: readonly string[], limit: number): Promise<void>;
  /** Whether this is the first use of a proof of work. @param endsAt when it ends, in milliseconds since the epoch */
  isFirst(challenge: string, endsAt: number): Promise<boolean>;
}

const TABLE = 'apps_form_posts';

/** Milliseconds in which posts are counted together. */
const WINDOW = 10 * 60_000;

/** Milliseconds between two deletions of counts that are over. */
const PRUNE = 60_000;

/**
 * The counts are rows of the database, so that all server processes share them. An address is stored as a keyed hash only.
 */
export function createFormPosts(
  strapi: Core.Strapi,
  { keyring, now }: { keyring: Keyring; now: () => number },
): FormPosts {
  const table = () => strapi.db.connection(TABLE);
  let prunedAt = 0;

  const increment = (id: string) => table().where({ count_id: id }).increment('posts', 1);

  /** Counts a post; whether it is the first: of simultaneous ones, the one that inserts the row. */
  async function add(id: string, endsAt: number): Promise<boolean> {
    if ((await increment(id)) > 0) return false;
    try {
      await table().insert({ count_id: id, posts: 1, ends_at: endsAt });
      return true;
    } catch (error) {
      // Another request has inserted the row meanwhile.
      if ((await increment(id)) === 0) throw error;
      return false;
    }
  }

  async function count(id: string, endsAt: number): Promise<number> {
    await add(id, endsAt);
    const [row] = (await table().where({ count_id: id }).select('posts')) as { posts: number }[];
    return Number(row?.posts ?? 0);
  }

  async function prune(): Promise<void> {
    if (now() - prunedAt < PRUNE) return;
    prunedAt = now();
    await table().where('ends_at', '<', now()).delete();
  }

  return {
    async isFirst(challenge, endsAt) {
      const isNew = await add(keyring.sign(['proof', challenge]), endsAt);
      await prune();
      return isNew;
    },
    async take(ip, form, limit) {
      if (limit === 0) return;
      const window = Math.floor(now() / WINDOW);
      const endsAt = (window + 1) * WINDOW;
      const posts = await count(keyring.sign(['form-post', addressGroup(ip), ...form, window]), endsAt);
      await prune();
      if (posts <= limit) return;
      throw new AppsError('RateLimitError', 'This form was sent too often from your network. Please try again later.', {
        headers: { 'Retry-After': String(Math.max(1, Math.ceil((endsAt - now()) / 1000))) },
      });
    },
  };
}
