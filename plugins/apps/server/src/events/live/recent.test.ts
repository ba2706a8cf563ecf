import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Publication } from './changes';
import { positionText, Recent } from './connections';

const now = Date.UTC(2026, 0, 1);
beforeEach(() => void vi.useFakeTimers({ now }));
afterEach(() => void vi.useRealTimers());

const by = (origin: string, at: number, token = 't'): Publication => ({ origin, at, tokens: [token], apps: new Map() });
const [here, there] = ['here1234', 'there123'];
const tokensSince = (recent: Recent, origin: string, at: number) =>
  recent.since(positionText(origin, at))?.flatMap(({ tokens }) => tokens) ?? null;

function filled(...list: Publication[]): Recent {
  const recent = new Recent();
  recent.foreignSince(now - 60_000);
  for (const one of list) recent.add(one);
  return recent;
}

test('what follows a moment of the same process is exact', () => {
  const recent = filled(by(here, now - 20, 'before'), by(here, now - 10, 'after'));
  expect(tokensSince(recent, here, now - 15)).toEqual(['after']);
});

test('of other processes, some seconds before count too', () => {
  const recent = filled(by(there, now - 9_000, 'before'), by(there, now - 2_000, 'perhaps'), by(there, now, 'after'));
  expect(tokensSince(recent, here, now - 1_000)).toEqual(['perhaps', 'after']);
  expect(tokensSince(recent, there, now - 1_000)).toEqual(['after']);
});

test.each(['', 'x', 'here1234', 'here1234.', '.5', 'here1234.-5', `here1234.${'9'.repeat(20)}`, 'here1234.5'])(
  'nothing is known since %j',
  (position) => expect(filled().since(position)).toBeNull(),
);

test('nothing is known before others are listened to, and afterwards', () => {
  const recent = new Recent();
  recent.add(by(here, now));
  expect(tokensSince(recent, here, now)).toBeNull();
  recent.foreignSince(now - 60_000);
  expect(tokensSince(recent, here, now)).toEqual(['t']);
  recent.foreignSince(Number.POSITIVE_INFINITY);
  expect(tokensSince(recent, here, now)).toBeNull();
});

test('it keeps a minute, and a bounded number', () => {
  const recent = filled(by(here, now - 50_000, 'old'));
  expect(tokensSince(recent, here, now - 50_000)).toEqual(['old']);
  vi.setSystemTime(now + 30_000);
  recent.add(by(here, now + 30_000, 'new'));
  expect(tokensSince(recent, here, now - 50_000)).toBeNull();
  expect(tokensSince(recent, here, now + 30_000)).toEqual(['new']);
  for (let at = 0; at < 10_000; at += 1) recent.add(by(here, now + 30_000, String(at)));
  expect(tokensSince(recent, here, now + 30_000)).toBeNull();
});
