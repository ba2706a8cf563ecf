import { AppsError } from '../../common/errors';
import type { Counters } from './counters';
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

/** Milliseconds in which posts are counted together. */
const WINDOW = 10 * 60_000;

/** All server processes share the counts. An address is stored as a keyed hash only. */
export function createFormPosts({
  counters,
  keyring,
  now,
}: {
  counters: Counters;
  keyring: Keyring;
  now: () => number;
}): FormPosts {
  return {
    async isFirst(challenge, endsAt) {
      return (await counters.add(keyring.sign(['proof', challenge]), endsAt)) === 'begun';
    },
    async take(ip, form, limit) {
      if (limit === 0) return;
      const window = Math.floor(now() / WINDOW);
      const endsAt = (window + 1) * WINDOW;
      const id = keyring.sign(['form-post', addressGroup(ip), ...form, window]);
      await counters.add(id, endsAt);
      const posts = (await counters.read([id])).get(id)?.count ?? 0;
      if (posts <= limit) return;
      throw new AppsError('RateLimitError', 'This form was sent too often from your network. Please try again later.', {
        headers: { 'Retry-After': String(Math.max(1, Math.ceil((endsAt - now()) / 1000))) },
      });
    },
  };
}
