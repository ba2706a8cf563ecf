import { createRequire } from 'node:module';
import { isIPv6 } from 'node:net';
import type { Core } from '@strapi/strapi';
import type { RateLimiterRes } from 'rate-limiter-flexible';
import { AppsError } from '../../common/errors';
import type { Redis } from '../../processes/types';
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

/**
 * Limits failed logins (docs/reference/rights.md#failed-logins). Attempts are counted before the password is checked,
 * so that parallel guesses count too, and given back when it was right. Failures have a count of their own, which says how long who is
 * refused has to wait. All server processes share the counts. docs/decisions/login-limits.md says why these scopes.
 */
export interface RateLimit {
  /**
   * Counts one attempt under each key; RateLimitError with Retry-After, counting nothing, if one of them is used up: until its failures are
   * forgotten, or a second where others are being checked.
   */
  take(keys: readonly LimitKey[]): Promise<void>;
  /** Counts a failure: the password of an attempt was wrong. */
  fail(keys: readonly LimitKey[]): Promise<void>;
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
  const failuresOf = ({ scope, value }: LimitKey): string => keyring.sign(['login', 'failed', scope, value]);
  const trustOf = (pair: string): string => keyring.sign(['login', 'trust', pair]);

  const isUsedUp = ({ scope }: LimitKey, found: Count | undefined): found is Count =>
    found !== undefined && found.count >= limits[scope];

  /** Who is refused while passwords are being checked that may be right has not to wait for failures to be forgotten. */
  async function refusal(keys: readonly LimitKey[]): Promise<AppsError> {
    const failures = await counters.read(keys.map(failuresOf));
    const ends = keys.flatMap((key) => {
      const found = failures.get(failuresOf(key));
      return isUsedUp(key, found) ? [found.endsAt] : [];
    });
    const seconds = Math.max(1, ...ends.map((endsAt) => Math.ceil((endsAt - now()) / 1000)));
    const message =
      ends.length > 0
        ? 'Too many failed logins. Please try again later.'
        : 'Too many logins at once. Please try again.';
    return new AppsError('RateLimitError', message, { headers: { 'Retry-After': String(seconds) } });
  }

  return {
    async take(keys) {
      const ids = keys.map(idOf);
      const counts = await counters.read(ids);
      // An attempt that is refused writes nothing.
      if (keys.some((key) => isUsedUp(key, counts.get(idOf(key))))) throw await refusal(keys);
      const endsAt = now() + limits.window;
      for (const [at, { scope }] of keys.entries()) {
        if ((await counters.add(ids[at] as string, endsAt, limits[scope])) !== 'full') continue;
        // Others have taken the last attempt meanwhile.
        await counters.takeBack(ids.slice(0, at));
        throw await refusal(keys);
      }
    },
    async fail(keys) {
      const endsAt = now() + limits.window;
      for (const key of keys) await counters.add(failuresOf(key), endsAt);
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

type Limiters = typeof import('rate-limiter-flexible');

/** Counts of Redis begin with it, and then have the digest that the database has. */
const PREFIX = 'apps';

/**
 * Counts in Redis, until their time is over; in the database while Redis is away. Those of one place do not count in the other, so that
 * each time that Redis goes away or comes back begins them again.
 * @param database counts there
 */
export function createRedisCounters(redis: Redis, database: Counters, now: () => number): Counters {
  // Only a host with Redis needs it. Each count has its own limit and end: the limiter's are those of none.
  const { RateLimiterRedis } = createRequire(__filename)('rate-limiter-flexible') as Limiters;
  const limiter = new RateLimiterRedis({
    storeClient: redis.client,
    useRedisPackage: true,
    rejectIfRedisNotReady: true,
    keyPrefix: PREFIX,
    points: Number.MAX_SAFE_INTEGER,
    duration: 1,
  });
  const secondsUntil = (endsAt: number) => Math.max(1, Math.ceil((endsAt - now()) / 1000));

  async function takeBack(id: string): Promise<void> {
    const { consumedPoints } = await limiter.reward(id, 1);
    // It was over meanwhile.
    if (consumedPoints < 0) await limiter.delete(id);
  }

  async function add(id: string, endsAt: number, limit: number): ReturnType<Counters['add']> {
    const { consumedPoints } = await limiter.consume(id, 1, { customDuration: secondsUntil(endsAt) });
    if (consumedPoints > limit) {
      await takeBack(id);
      return 'full';
    }
    return consumedPoints === 1 ? 'begun' : 'added';
  }

  const countOf = (found: RateLimiterRes): Count => ({
    count: found.consumedPoints,
    endsAt: now() + found.msBeforeNext,
  });

  async function read(ids: readonly string[]): Promise<Map<string, Count>> {
    const found = await Promise.all(ids.map(async (id) => [id, await limiter.get(id)] as const));
    return new Map(found.flatMap(([id, one]) => (one ? [[id, countOf(one)]] : [])));
  }

  return {
    add: (id, endsAt, limit = Number.POSITIVE_INFINITY) =>
      redis.use(
        () => add(id, endsAt, limit),
        () => database.add(id, endsAt, limit),
      ),
    takeBack: (ids) =>
      redis.use(
        async () => void (await Promise.all(ids.map(takeBack))),
        () => database.takeBack(ids),
      ),
    read: (ids) =>
      redis.use(
        () => read(ids),
        () => database.read(ids),
      ),
  };
}
