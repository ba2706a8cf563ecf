import { expect, test } from 'vitest';
import { countersInMemory } from '../testing/counters';
import { createLinkMails } from './link-mails';

const HOUR = 60 * 60_000;
const limits = { perAddress: 2, perNetwork: 3 };

/** Mails that begin at a time. */
function mails() {
  const clock = { now: 10 * HOUR + 1 };
  const now = () => clock.now;
  const keyring = { sign: (parts: readonly (string | number)[]) => JSON.stringify(parts) };
  return { clock, ...createLinkMails({ counters: countersInMemory(now), keyring, now }) };
}

test('an address gets so many in an hour, in any spelling and from any network', async () => {
  const { take, clock } = mails();
  expect(await take('192.0.2.1', 'Me@Exämple.org', limits)).toBe(true);
  expect(await take('192.0.2.2', 'me@xn--exmple-cua.org', limits)).toBe(true);
  expect(await take('192.0.2.3', 'me@exämple.org', limits)).toBe(false);
  expect(await take('192.0.2.3', 'you@example.org', limits)).toBe(true);
  clock.now += HOUR;
  expect(await take('192.0.2.3', 'me@exämple.org', limits)).toBe(true);
});

test('a network asks for so many in an hour; those that were refused do not count', async () => {
  const { take } = mails();
  const from = (address: string) => take('2001:db8::1', address, limits);
  expect([await from('a@example.org'), await from('a@example.org'), await from('a@example.org')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(await take('2001:db8::ffff', 'b@example.org', limits)).toBe(true);
  expect(await from('c@example.org')).toBe(false);
  expect(await take('2001:db8:1::1', 'c@example.org', limits)).toBe(true);
});

test.each([
  { perAddress: 0, perNetwork: 3 },
  { perAddress: 2, perNetwork: 0 },
])('none with %j', async (none) => {
  const { take } = mails();
  expect(await take('192.0.2.1', 'me@example.org', none)).toBe(false);
});
