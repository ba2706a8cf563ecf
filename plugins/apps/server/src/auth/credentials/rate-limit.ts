import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import { AppsError } from '../../common/errors';

/**
 * Limits failed logins (docs/reference/rights.md#failed-logins). Attempts are counted before the password is checked,
 * so that parallel guesses count too, and given back when it was right. Counts are kept in this process's memory.
 * docs/decisions/login-limits.md says why these scopes.
 */
export interface RateLimit {
  /** Counts one attempt under each key; RateLimitError with Retry-After, counting nothing, if one of them is used up. */
  take(keys: readonly LimitKey[]): void;
  /** Gives back attempts whose password was right. */
  refund(keys: readonly LimitKey[]): void;
  /** Remembers that a login from a pair's address to its account was right. */
  trust(pair: string): void;
  /** Whether a pair is trusted. */
  trusts(pair: string): boolean;
}

/** Scopes of counters: an account from one address, an address, an account from all addresses. */
type LimitScope = 'pair' | 'address' | 'account';

export interface LimitKey {
  scope: LimitScope;
  value: string;
}

const rateLimits = {
  /** Failed logins in a window for one account from one address: the usual limit of a guesser. */
  pair: 10,
  /** For one address, which may be shared by many users. */
  address: 50,
  /** For one account from all addresses together: high, because it also keeps its owner out of a new address. */
  account: 100,
  /** Milliseconds from the first failure until its count ends. */
  window: 5 * 60_000,
  /** Counters kept for each scope, and trusted pairs; the oldest go first, so that memory stays bounded under attack. */
  maxCounters: 10_000,
};

interface Counter {
  count: number;
  /** When the window ends, in milliseconds since the epoch. */
  end: number;
}

export function createRateLimit(options: Partial<typeof rateLimits> = {}, now: () => number = Date.now): RateLimit {
  const limits = { ...rateLimits, ...options };
  const bounds = { max: limits.maxCounters };
  // Read with `peek` and `has`, which do not change the order: the oldest entry is evicted.
  const counters: Record<LimitScope, LRUCache<string, Counter>> = {
    pair: new LRUCache(bounds),
    address: new LRUCache(bounds),
    account: new LRUCache(bounds),
  };
  const trusted = new LRUCache<string, true>(bounds);

  const current = ({ scope, value }: LimitKey): Counter | undefined => {
    const counter = counters[scope].peek(value);
    if (counter === undefined || counter.end > now()) return counter;
    counters[scope].delete(value);
    return undefined;
  };

  const add = (key: LimitKey): void => {
    const counter = current(key);
    if (counter !== undefined) counter.count += 1;
    else counters[key.scope].set(key.value, { count: 1, end: now() + limits.window });
  };

  return {
    take(keys) {
      for (const key of keys) {
        const counter = current(key);
        if (counter === undefined || counter.count < limits[key.scope]) continue;
        const seconds = String(Math.max(1, Math.ceil((counter.end - now()) / 1000)));
        throw new AppsError('RateLimitError', 'Too many failed logins. Please try again later.', {
          headers: { 'Retry-After': seconds },
        });
      }
      for (const key of keys) add(key);
    },
    refund(keys) {
      for (const key of keys) {
        const counter = current(key);
        if (counter === undefined) continue;
        counter.count -= 1;
        if (counter.count <= 0) counters[key.scope].delete(key.value);
      }
    },
    trust: (pair) => void trusted.set(pair, true),
    trusts: (pair) => trusted.has(pair),
  };
}

/**
 * The key under which one client's requests are counted: an IPv4 address, or the first 64 bits of an IPv6 address, because
 * one connection has the whole /64 network.
 * @param ip as Koa gives it (`ctx.ip`); behind a proxy that needs Strapi's `server.proxy.koa`
 * @returns a short text; text that is no address is returned unchanged
 */
export function addressGroup(ip: string): string {
  const [address = ''] = ip.split('%');
  if (!isIPv6(address)) return ip;
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  const [front = '', back] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const [before, after] = [groups(front), groups(back ?? '')];
  // A dotted end stands for two groups; it never reaches into the first four.
  const length = before.length + after.length + (address.includes('.') ? 1 : 0);
  const zeros = back === undefined ? 0 : 8 - length;
  const all = [...before, ...Array<string>(zeros).fill('0'), ...after];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
