import { beforeEach, describe, expect, test } from 'vitest';
import { isAppsError } from '../../common/errors';
import { createRateLimit, type LimitKey, type RateLimit } from './rate-limit';

const account = (value: string): LimitKey => ({ scope: 'account', value });
const address = (value: string): LimitKey => ({ scope: 'address', value });

let time = 0;
let limit: RateLimit;

beforeEach(() => {
  time = 1000;
  limit = createRateLimit({ account: 2, address: 3, window: 60_000, maxCounters: 4 }, () => time);
});

/** Seconds to wait, or null if the attempt was let through. */
const take = (...keys: LimitKey[]): string | null => {
  try {
    limit.take(keys);
    return null;
  } catch (error) {
    if (isAppsError(error, 'RateLimitError')) return error.headers['Retry-After'] ?? '';
    throw error;
  }
};

describe('failed logins', () => {
  test('are limited for an account, from any address', () => {
    const waits = ['1', '2', '3', '4'].map((from) => take(account('alice'), address(from)));
    expect(waits).toEqual([null, null, '60', '60']);
  });

  test('are limited for an address, for any account', () => {
    expect(['a', 'b', 'c', 'd'].map((name) => take(account(name), address('1')))).toEqual([null, null, null, '60']);
  });

  test('are limited for an account from one address', () => {
    limit = createRateLimit({ pair: 2 }, () => time);
    const pair = (value: string): LimitKey => ({ scope: 'pair', value });
    expect(['a', 'a', 'a', 'b'].map((value) => take(pair(value)))).toEqual([null, null, '300', null]);
  });

  test('trust a bounded number of pairs, the oldest forgotten first', () => {
    for (const pair of ['a', 'b', 'c', 'd', 'a', 'e']) limit.trust(pair);
    expect(['a', 'b', 'c', 'e'].map((pair) => limit.trusts(pair))).toEqual([true, false, true, true]);
  });

  test('keep an account and an address of the same text apart', () => {
    expect([take(account('x')), take(account('x')), take(address('x'))]).toEqual([null, null, null]);
  });

  test('count nothing when refused', () => {
    for (const name of ['a', 'b', 'c']) take(address('1'), account(name));
    expect(take(account('d'), address('1'))).toBe('60');
    expect([take(account('d')), take(account('d')), take(account('d'))]).toEqual([null, null, '60']);
  });

  test('are forgotten after the window', () => {
    take(account('a'));
    time += 30_000;
    take(account('a'));
    expect(take(account('a'))).toBe('30');
    time += 30_000;
    expect(take(account('a'))).toBeNull();
  });

  test('do not include successes', () => {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      expect(take(account('a'), address('1'))).toBeNull();
      limit.refund([account('a'), address('1')]);
    }
  });

  test('are kept for a bounded number of keys, the oldest forgotten first', () => {
    take(account('a'));
    take(account('a'));
    for (const name of ['b', 'c', 'd']) take(account(name));
    expect(take(account('a'))).toBe('60');
    take(account('e'));
    expect(take(account('a'))).toBeNull();
  });
});
