import { LRUCache } from 'lru-cache';
import { AppsError } from '../../common/errors';
import type { UserRow } from '../rights/roles';
import type { Keyring } from './keyring';
import { addressGroup, type LimitKey, type RateLimit } from './rate-limit';
import { isNamed, type Users } from './users';

/** One way to read Basic credentials. */
interface Split {
  /** Username or e-mail. */
  identifier: string;
  password: string;
}

/** Characters of credentials; longer ones are invalid. */
const MAX_PART = 1024;

/**
 * The decoded credentials of `Authorization: Basic <encoded>`; null if they are not Base64 of UTF-8 text of a sensible
 * length.
 */
export function decodeBasic(encoded: string): string | null {
  if (encoded.length > MAX_PART * 4 || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, 'base64'));
    return text.length > MAX_PART || text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

/**
 * Every way to split credentials at a dot (docs/reference/rights.md#basic-credentials) or a colon (RFC 7617) into two
 * parts that are not empty, the longest name first: so names that begin like another user's cannot use up that user's
 * password checks.
 */
export function splits(credentials: string): Split[] {
  const found: Split[] = [];
  for (let at = credentials.length - 2; at > 0; at -= 1) {
    const separator = credentials[at];
    if (separator !== '.' && separator !== ':') continue;
    found.push({ identifier: credentials.slice(0, at), password: credentials.slice(at + 1) });
  }
  return found;
}

/**
 * Checks names and passwords, of Basic credentials and of the login form (docs/reference/rights.md#basic-credentials).
 */
export interface Passwords {
  /** The user of `Authorization: Basic <encoded>`, or null. RateLimitError after too many failures. */
  basic(encoded: string, address: string): Promise<UserRow | null>;
  /**
   * The user with this username or e-mail and this password, or null. Blanks around the name, and its letter case where no two
   * usernames differ in it, do not count: keyboards of telephones add and change them. RateLimitError after too many failures.
   */
  check(identifier: string, password: string, address: string): Promise<UserRow | null>;
}

interface PasswordOptions {
  users: Users;
  keyring: Keyring;
  rateLimit: RateLimit;
  now?: () => number;
  /** Called when a login is refused: the password was wrong, or too many were. */
  refused?: (result: 'failed' | 'limited') => void;
}

/** Password checks that one request may cost. */
const MAX_CHECKS = 3;
/** Milliseconds for which a successful check is cached, and the number of cached checks. */
const MAX_CACHE_AGE = 60_000;
const MAX_CACHED = 1000;
/** Characters of a name or password in the login form. */
const MAX_LENGTH = 1024;

/** A successful password check: valid while the user's name and hash stay these. */
interface Checked {
  id: number;
  identifier: string;
  hash: string | null;
  end: number;
}

export function createPasswords({
  users,
  keyring,
  rateLimit,
  now = Date.now,
  refused = () => {},
}: PasswordOptions): Passwords {
  const cache = new LRUCache<string, Checked>({ max: MAX_CACHED });
  /** Running checks, so that parallel requests with the same credentials cost one. */
  const flights = new Map<string, Promise<Checked | null>>();

  const firstMatch = async (tries: { split: Split; user: UserRow }[]): Promise<Checked | null> => {
    for (const { split, user } of tries) {
      if (!(await users.hasPassword(user, split.password)) || !(await users.isActive(user))) continue;
      return { id: user.id, identifier: split.identifier, hash: user.password, end: now() + MAX_CACHE_AGE };
    }
    return null;
  };

  const attempt = async (ways: readonly Split[], address: string): Promise<Checked | null> => {
    const shortest = ways.at(-1);
    if (shortest === undefined) return null;
    const found = await users.named(ways.map(({ identifier }) => identifier));
    const tries = ways
      .flatMap((split) => found.filter((user) => isNamed(user, split.identifier)).map((user) => ({ split, user })))
      .slice(0, MAX_CHECKS);
    const group = addressGroup(address);
    const accounts = tries.length > 0 ? tries.map(({ user }) => `id ${user.id}`) : [`name ${shortest.identifier}`];
    const keys = await limitKeys(group, [...new Set(accounts)]);
    try {
      await rateLimit.take(keys);
    } catch (error) {
      refused('limited');
      throw error;
    }
    if (tries.length === 0) await users.hasPassword(null, shortest.password);
    const checked = await firstMatch(tries);
    if (checked === null) {
      refused('failed');
      await rateLimit.fail(keys);
      return null;
    }
    await rateLimit.refund(keys);
    await rateLimit.trust(pairOf(group, `id ${checked.id}`));
    return checked;
  };

  /** Hashed to bound its length: an unknown name may be long. */
  const pairOf = (group: string, account: string): string => keyring.sign(['pair', group, account]);

  /** The keys of an attempt. An account's own limit does not apply to addresses from which its owner has logged in before. */
  const limitKeys = async (group: string, accounts: readonly string[]): Promise<LimitKey[]> => {
    const pairs = accounts.map((account) => pairOf(group, account));
    const trusted = await rateLimit.trusted(pairs);
    const strangers = accounts.filter((_, at) => !trusted.has(pairs[at] as string));
    return [
      { scope: 'address', value: group },
      ...pairs.map((value) => ({ scope: 'pair' as const, value })),
      ...strangers.map((account) => ({ scope: 'account' as const, value: keyring.sign(['account', account]) })),
    ];
  };

  /** The current row of the user, if the cached check still holds. */
  const current = async ({ id, identifier, hash }: Checked): Promise<UserRow | null> => {
    const user = await users.load({ id });
    return user !== null && user.password === hash && isNamed(user, identifier) ? user : null;
  };

  const join = (key: string, work: () => Promise<Checked | null>): Promise<Checked | null> => {
    const known = flights.get(key);
    if (known !== undefined) return known;
    const flight = work().finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  };

  return {
    async basic(encoded, address) {
      const credentials = decodeBasic(encoded);
      if (credentials === null) return null;
      const key = keyring.sign(['basic', credentials]);
      const known = cache.get(key);
      const user = known !== undefined && known.end > now() ? await current(known) : null;
      // A cached user may be blocked since: `Users.requester` checks that.
      if (user !== null) return user;
      cache.delete(key);
      const checked = await join(key, () => attempt(splits(credentials), address));
      if (checked === null) return null;
      cache.set(key, checked);
      return current(checked);
    },
    async check(entered, password, address) {
      const name = entered.trim();
      if ([name, password].some((part) => part === '' || part.length > MAX_LENGTH || part.includes('\0'))) return null;
      const identifier = await users.spelled(name);
      const checked = await attempt([{ identifier, password }], address);
      return checked && current(checked);
    },
  };
}

/** The same answer to wrong, unknown, blocked and unconfirmed. */
export function unauthorized(headers: Record<string, string> = {}): AppsError {
  return new AppsError('UnauthorizedError', 'The login is wrong, has expired or is blocked. Please log in again.', {
    headers,
  });
}
