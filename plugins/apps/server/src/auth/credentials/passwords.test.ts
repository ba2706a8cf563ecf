import { beforeEach, describe, expect, test } from 'vitest';
import type { UserRow } from '../rights/roles';
import { countersInMemory } from '../testing/counters';
import { createKeyring } from './keyring';
import { createPasswords, type Passwords } from './passwords';
import { createRateLimit } from './rate-limit';
import { isNamed, spelledAs, type Users } from './users';

const row = (id: number, username: string, password: string | null, more: Partial<UserRow> = {}): UserRow => ({
  id,
  documentId: `d${id}`,
  username,
  email: `${username}@example.com`.toLowerCase(),
  password: password === null ? null : `hash of ${password}`,
  provider: 'local',
  confirmed: true,
  blocked: false,
  ...more,
});

let rows: UserRow[];
let checks: string[];
let time: number;
let passwords: Passwords;

const users: Users = {
  member: () => Promise.reject(new Error('unused')),
  load: async (where) => rows.find((user) => 'id' in where && user.id === where.id) ?? null,
  named: async (identifiers) => rows.filter((user) => identifiers.some((identifier) => isNamed(user, identifier))),
  spelled: async (name) =>
    spelledAs(
      name,
      rows.map(({ username }) => username),
    ),
  isActive: async (user) => user.blocked !== true,
  hasPassword: async (user, password) => {
    checks.push(`${user?.username ?? 'nobody'}|${password}`);
    await Promise.resolve();
    return user?.password === `hash of ${password}`;
  },
  requester: () => Promise.reject(new Error('not used')),
  anonymous: () => Promise.reject(new Error('not used')),
  anonymousIn: () => Promise.reject(new Error('not used')),
};

beforeEach(() => {
  rows = [row(1, 'eric', 'pw'), row(2, 'er.ic', 'p.w:1'), row(3, 'er', 'other')];
  checks = [];
  time = 0;
  use({ account: 3, address: 6 });
});

const use = (limits: { pair?: number; address?: number; account?: number }): void => {
  const now = () => time;
  const keyring = createKeyring('key');
  const counters = countersInMemory(now);
  const rateLimit = createRateLimit({ counters, known: counters, keyring, now, ...limits });
  passwords = createPasswords({ users, keyring, rateLimit, now });
};

const basic = async (text: string, address = '1.1.1.1'): Promise<string | null> =>
  (await passwords.basic(Buffer.from(text).toString('base64'), address))?.username ?? null;

describe('Basic', () => {
  test.each([
    ['eric.pw', 'eric', ['eric|pw']],
    ['eric:pw', 'eric', ['eric|pw']],
    ['ERIC@example.com:pw', 'eric', ['eric|pw']],
    ['er.ic.p.w:1', 'er.ic', ['er.ic|p.w:1']],
    ['eric:wrong', null, ['eric|wrong']],
    ['er.ic:wrong', null, ['er.ic|wrong', 'er|ic:wrong']],
    ['nobody:pw', null, ['nobody|pw']],
    ['eric', null, []],
  ])('%s', async (text, expected, made) => {
    expect(await basic(text)).toBe(expected);
    expect(checks).toEqual(made);
  });

  test('checks at most 3 passwords', async () => {
    rows = ['a', 'a.b', 'a.b.c', 'a.b.c.d'].map((name, index) => row(index, name, 'x'));
    expect(await basic('a.b.c.d.wrong')).toBeNull();
    expect(checks).toEqual(['a.b.c.d|wrong', 'a.b.c|d.wrong', 'a.b|c.d.wrong']);
  });

  test('spares repeated checks for a minute', async () => {
    await basic('eric:pw');
    time = 59_999;
    expect(await basic('eric:pw')).toBe('eric');
    expect(checks).toHaveLength(1);
    time = 60_000;
    expect(await basic('eric:pw')).toBe('eric');
    expect(checks).toHaveLength(2);
  });

  test('makes parallel requests wait for one check', async () => {
    expect(await Promise.all(Array.from({ length: 20 }, () => basic('eric:pw')))).toEqual(Array(20).fill('eric'));
    expect(checks).toHaveLength(1);
  });

  test.each([
    ['the password', { password: 'hash of new' }],
    ['the name', { username: 'erica', email: 'erica@example.com' }],
  ])('notices at once that %s has changed', async (_name, change) => {
    await basic('eric:pw');
    rows = rows.map((user) => (user.id === 1 ? { ...user, ...change } : user));
    expect(await basic('eric:pw')).toBeNull();
  });

  test('notices at once that a user was deleted', async () => {
    await basic('eric:pw');
    rows = [];
    expect(await basic('eric:pw')).toBeNull();
  });

  test('gives the current row, so that a block of the user counts', async () => {
    await basic('eric:pw');
    rows = rows.map((user) => ({ ...user, blocked: true }));
    const user = await passwords.basic(Buffer.from('eric:pw').toString('base64'), '1.1.1.1');
    expect(user?.blocked).toBe(true);
  });
});

describe('failed logins', () => {
  test('are limited for an account, but not for cached credentials', async () => {
    await basic('eric:pw');
    for (const guess of ['1', '2', '3']) await basic(`eric:${guess}`, `2.2.2.${guess}`);
    await expect(basic('eric:4', '3.3.3.3')).rejects.toMatchObject({ name: 'RateLimitError', status: 429 });
    await expect(passwords.check('eric', 'pw', '3.3.3.3')).rejects.toMatchObject({ name: 'RateLimitError' });
    expect(await basic('eric:pw', '3.3.3.3')).toBe('eric');
  });

  test('are limited for unknown names as for known ones', async () => {
    for (const guess of ['1', '2', '3']) await basic(`nobody:${guess}`, `2.2.2.${guess}`);
    await expect(basic('nobody:4', '3.3.3.3')).rejects.toMatchObject({ name: 'RateLimitError' });
  });

  test('are limited for an address', async () => {
    for (let guess = 0; guess < 6; guess += 1) await basic(`nobody${guess}:x`);
    await expect(basic('somebody:x')).rejects.toMatchObject({ name: 'RateLimitError' });
    expect(await basic('eric:pw', '9.9.9.9')).toBe('eric');
  });

  test('count parallel guesses', async () => {
    const guesses = await Promise.allSettled(['1', '2', '3', '4', '5'].map((guess) => basic(`eric:${guess}`, guess)));
    expect(guesses.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
  });

  test('are limited for an account from one address, without effect on its owner elsewhere', async () => {
    use({ pair: 3, address: 6, account: 100 });
    for (const guess of ['1', '2', '3']) expect(await basic(`eric:${guess}`, '6.6.6.6')).toBeNull();
    await expect(basic('eric:4', '6.6.6.6')).rejects.toMatchObject({ name: 'RateLimitError', status: 429 });
    await expect(basic('eric:pw', '6.6.6.6')).rejects.toMatchObject({ name: 'RateLimitError' });
    expect(await basic('eric:pw', '1.1.1.1')).toBe('eric');
    expect((await passwords.check('eric', 'pw', '1.1.1.1'))?.username).toBe('eric');
    expect(await basic('er:other', '6.6.6.6')).toBe('er');
  });

  test('of many addresses do not lock the owner out of an address with an earlier login', async () => {
    use({ account: 5 });
    expect((await passwords.check('eric', 'pw', '1.1.1.1'))?.username).toBe('eric');
    for (let guess = 0; guess < 5; guess += 1) await basic(`eric:${guess}`, `2.2.2.${guess}`);
    await expect(basic('eric:x', '3.3.3.3')).rejects.toMatchObject({ name: 'RateLimitError' });
    expect((await passwords.check('eric', 'pw', '1.1.1.1'))?.username).toBe('eric');
    expect(await basic('eric:pw', '1.1.1.1')).toBe('eric');
    // A login of another user does not make the address trusted.
    expect(await basic('er:other', '3.3.3.3')).toBe('er');
    await expect(basic('eric:y', '3.3.3.3')).rejects.toMatchObject({ name: 'RateLimitError' });
  });

  test('are counted for the network of an IPv6 address', async () => {
    use({ pair: 3 });
    for (const guess of ['1', '2', '3']) await basic(`eric:${guess}`, `2001:db8:1:2::${guess}`);
    await expect(basic('eric:4', '2001:db8:1:2:ffff::')).rejects.toMatchObject({ name: 'RateLimitError' });
    expect(await basic('eric:5', '2001:db8:1:3::1')).toBeNull();
  });

  test('do not include right passwords that are being checked: beyond the limit of an address these are tried again soon', async () => {
    rows = Array.from({ length: 8 }, (_, n) => row(n, `user${n}`, 'pw'));
    const logins = await Promise.allSettled(rows.map(({ username }) => passwords.check(username, 'pw', '1.1.1.1')));
    const refused = logins.flatMap((login) => (login.status === 'rejected' ? [login.reason] : []));
    expect(refused).toHaveLength(2);
    for (const reason of refused) expect(reason).toMatchObject({ status: 429, headers: { 'Retry-After': '1' } });
    for (const { username } of rows)
      expect((await passwords.check(username, 'pw', '1.1.1.1'))?.username).toBe(username);
  });

  test('do not include successes', async () => {
    for (let login = 0; login < 10; login += 1) {
      expect((await passwords.check('eric', 'pw', '1.1.1.1'))?.username).toBe('eric');
    }
  });
});

describe('the login form', () => {
  test.each([
    ['eric', 'pw', 'eric'],
    ['eric@example.com', 'pw', 'eric'],
    ['eric', 'wrong', undefined],
    [' eric \u00a0', 'pw', 'eric'],
    ['Eric@example.com ', 'pw', 'eric'],
    ['Eric', 'pw', 'eric'],
    ['ERIC ', 'wrong', undefined],
    ['Er.Ic', 'p.w:1', 'er.ic'],
    ['eric', ' pw', undefined],
    ['eric', 'Pw', undefined],
    ['  ', 'pw', undefined],
    ['eric', '', undefined],
    ['', 'pw', undefined],
    ['eric\0', 'pw', undefined],
    ['x'.repeat(1025), 'pw', undefined],
  ])('%j, %j', async (identifier, password, expected) => {
    expect((await passwords.check(identifier, password, '1.1.1.1'))?.username).toBe(expected);
  });

  test('takes the name of another letter case only where it is the only one', async () => {
    rows = [row(1, 'Anna', 'one'), row(2, 'anna', 'two', { email: 'a2@example.com' })];
    expect((await passwords.check('anna', 'two', '1.1.1.1'))?.id).toBe(2);
    expect((await passwords.check('Anna', 'one', '1.1.1.1'))?.id).toBe(1);
    expect(await passwords.check('ANNA', 'one', '1.1.1.1')).toBeNull();
    expect(await passwords.check('Anna', 'two', '1.1.1.1')).toBeNull();
  });

  test('counts failures under another spelling for the same account', async () => {
    for (const name of ['eric', 'Eric', ' ERIC ']) expect(await passwords.check(name, 'wrong', '1.1.1.1')).toBeNull();
    await expect(passwords.check('eRic', 'pw', '1.1.1.1')).rejects.toMatchObject({ name: 'RateLimitError' });
  });

  test('refuses blocked users, counting them as failures', async () => {
    rows = rows.map((user) => ({ ...user, blocked: true }));
    for (let login = 0; login < 3; login += 1) expect(await passwords.check('eric', 'pw', '1.1.1.1')).toBeNull();
    await expect(passwords.check('eric', 'pw', '1.1.1.1')).rejects.toMatchObject({ name: 'RateLimitError' });
  });
});
