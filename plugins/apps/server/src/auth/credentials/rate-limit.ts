import { isIPv6 } from 'node:net';
import { AppsError } from '../../common/errors';
import type { Counters } from './counters';
import type { Keyring } from './keyring';

/**
 * Limits failed logins (docs/reference/rights.md#failed-logins). Attempts are counted before the password is checked,
 * so that parallel guesses count too, and given back when it was right. All server processes share the counts.
 * docs/decisions/login-limits.md says why these scopes.
 */
export interface RateLimit {
  /** Counts one attempt under each key; RateLimitError with Retry-After, counting nothing, if one of them is used up. */
  take(keys: readonly LimitKey[]): Promise<void>;
  /** Gives back attempts whose password was right. */
  refund(keys: readonly LimitKey[]): Promise<void>;
  /** Remembers that a login from a pair's address to its account was right. */
  trust(pair: string): Promise<void>;
  /** Those of the pairs that are trusted. */
  trusted(pairs: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Scopes of counts: an account from one address, an address, an account from all addresses. */
type LimitScope = 'pair' | 'address' | 'account';

export interface LimitKey {
  scope: LimitScope;
  value: string;
}

export const rateLimits = {
  /** Failed logins in a window for one account from one address: the usual limit of a guesser. */
  pair: 10,
  /** For one address, which may be shared by many users. */
  address: 50,
  /** For one account from all addresses together: high, because it also keeps its owner out of a new address. */
  account: 100,
  /** Milliseconds from the first failure until its count ends. */
  window: 5 * 60_000,
};

/** Days for which an address is known after its first login to an account. */
export const TRUST_DAYS = 30;
const DAY = 24 * 60 * 60_000;

interface RateLimitOptions extends Partial<typeof rateLimits> {
  /** Of attempts. */
  counters: Counters;
  /** Of the addresses that are known for an account: they must not be lost, as counts in Redis may be. */
  known: Pick<Counters, 'add' | 'read'>;
  keyring: Pick<Keyring, 'sign'>;
  now?: () => number;
}

export function createRateLimit({ counters, known, keyring, now = Date.now, ...options }: RateLimitOptions): RateLimit {
  const limits = { ...rateLimits, ...options };
  const idOf = ({ scope, value }: LimitKey): string => keyring.sign(['login', scope, value]);
  const trustOf = (pair: string): string => keyring.sign(['login', 'trust', pair]);

  const refusal = (endsAt: number): AppsError =>
    new AppsError('RateLimitError', 'Too many failed logins. Please try again later.', {
      headers: { 'Retry-After': String(Math.max(1, Math.ceil((endsAt - now()) / 1000))) },
    });

  return {
    async take(keys) {
      const ids = keys.map(idOf);
      const counts = await counters.read(ids);
      // An attempt that is refused writes nothing.
      for (const [at, { scope }] of keys.entries()) {
        const found = counts.get(ids[at] as string);
        if (found && found.count >= limits[scope]) throw refusal(found.endsAt);
      }
      const endsAt = now() + limits.window;
      for (const [at, { scope }] of keys.entries()) {
        if ((await counters.add(ids[at] as string, endsAt, limits[scope])) !== 'full') continue;
        // Others have taken the last attempt meanwhile.
        await counters.takeBack(ids.slice(0, at));
        throw refusal(endsAt);
      }
    },
    refund: (keys) => counters.takeBack(keys.map(idOf)),
    async trust(pair) {
      const id = trustOf(pair);
      if (!(await known.read([id])).has(id)) await known.add(id, now() + TRUST_DAYS * DAY);
    },
    async trusted(pairs) {
      const found = await known.read(pairs.map(trustOf));
      return new Set(pairs.filter((pair) => found.has(trustOf(pair))));
    },
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
