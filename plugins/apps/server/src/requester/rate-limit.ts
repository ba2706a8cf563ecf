import { AppsError } from '../errors';

/**
 * Limits failed logins (contract, section 5). Attempts are counted before the password is checked, so that parallel
 * guesses count too, and given back when it was right. Counts are kept in this process's memory.
 */
export interface RateLimit {
  /** Counts one attempt under each key; RateLimitError with Retry-After, counting nothing, if one of them is used up. */
  take(keys: readonly LimitKey[]): void;
  /** Gives back attempts that turned out right. */
  refund(keys: readonly LimitKey[]): void;
}

export interface LimitKey {
  scope: 'address' | 'account';
  value: string;
}

export const rateLimits = {
  /** Failed logins in a window for one account, and for one address (which may be shared by many people). */
  account: 10,
  address: 50,
  /** Milliseconds from the first failure until its count starts anew. */
  window: 5 * 60_000,
  /** Counters kept; the oldest go first, so that memory stays bounded under attack. */
  size: 10_000,
};

interface Counter {
  count: number;
  /** When the window ends, in milliseconds since the epoch. */
  end: number;
}

export function createRateLimit(options: Partial<typeof rateLimits> = {}, now: () => number = Date.now): RateLimit {
  const limits = { ...rateLimits, ...options };
  const counters = new Map<string, Counter>();
  const nameOf = ({ scope, value }: LimitKey): string => `${scope}:${value}`;

  const current = (name: string): Counter | undefined => {
    const counter = counters.get(name);
    if (counter === undefined || counter.end > now()) return counter;
    counters.delete(name);
    return undefined;
  };

  const add = (name: string): void => {
    const counter = current(name);
    if (counter !== undefined) {
      counter.count += 1;
      return;
    }
    const [oldest] = counters.keys();
    if (counters.size >= limits.size && oldest !== undefined) counters.delete(oldest);
    counters.set(name, { count: 1, end: now() + limits.window });
  };

  return {
    take(keys) {
      for (const key of keys) {
        const counter = current(nameOf(key));
        if (counter === undefined || counter.count < limits[key.scope]) continue;
        const seconds = String(Math.max(1, Math.ceil((counter.end - now()) / 1000)));
        throw new AppsError('RateLimitError', 'Too many failed logins. Please try again later.', {
          headers: { 'Retry-After': seconds },
        });
      }
      for (const key of keys) add(nameOf(key));
    },
    refund(keys) {
      for (const key of keys) {
        const name = nameOf(key);
        const counter = current(name);
        if (counter === undefined) continue;
        counter.count -= 1;
        if (counter.count <= 0) counters.delete(name);
      }
    },
  };
}
