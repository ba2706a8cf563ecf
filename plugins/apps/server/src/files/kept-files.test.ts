import { describe, expect, test } from 'vitest';
import { KeptFiles } from './kept-files';

const MB = 1024 ** 2;
const minute = 60_000;
const none = new Set<string>();

/** Kept files of 1024 MB: one sender has at most 128 MB, and up to 16 MB are safe for ten minutes. */
function keep(...given: [token: string, sender: string, megabytes: number, keptAt: number][]) {
  const kept = new KeptFiles(1024 * MB);
  for (const [token, sender, megabytes, keptAt] of given) kept.add({ token, sender, size: megabytes * MB, keptAt });
  const roomFor = (sender: string, megabytes: number, now: number, stays = none) =>
    kept.roomFor({ sender, size: megabytes * MB }, stays, now)?.map(({ token }) => token) ?? null;
  return { kept, roomFor };
}

/** Senders with one file each, kept at the same time. */
const crowd = (count: number, megabytes: number, keptAt = 0) =>
  Array.from({ length: count }, (_, at): [string, string, number, number] => [`c${at}`, `s${at}`, megabytes, keptAt]);

describe('the kept files of a sender', () => {
  test('give way to a new one of the same sender beyond its share, oldest first', () => {
    const { roomFor } = keep(['b', 'eve', 60, 2], ['a', 'eve', 60, 1], ['x', 'ann', 60, 0]);
    expect(roomFor('eve', 8, 3)).toEqual([]);
    expect(roomFor('eve', 9, 3)).toEqual(['a']);
    expect(roomFor('eve', 100, 3)).toEqual(['a', 'b']);
    expect(roomFor('eve', 129, 3)).toBeNull();
  });

  test('stay where the same form shows them again: the new one finds no room', () => {
    const { roomFor } = keep(['a', 'eve', 60, 1], ['b', 'eve', 60, 2]);
    expect(roomFor('eve', 60, 3, new Set(['a']))).toEqual(['b']);
    expect(roomFor('eve', 60, 3, new Set(['a', 'b']))).toBeNull();
  });

  test('count 256 kB at least, so that their number is bounded', () => {
    const kept = new KeptFiles(16 * MB);
    for (let at = 0; at < 8; at += 1) kept.add({ token: `t${at}`, sender: 'eve', size: 1, keptAt: at });
    expect(kept.roomFor({ sender: 'eve', size: 1 }, none, 9)?.map(({ token }) => token)).toEqual(['t0']);
  });
});

describe('when all room is taken', () => {
  test('the sender that has most gives way, also with files just kept', () => {
    const { roomFor } = keep(...crowd(7, 128), ['a', 'eve', 60, 1], ['b', 'eve', 64, 2], ['x', 'ann', 4, 0]);
    expect(roomFor('bob', 1, 3)).toEqual(['c0']);
    expect(roomFor('bob', 128, 3)).toEqual(['c0']);
  });

  test('what a sender with little has just kept stays for ten minutes, whatever many others send', () => {
    const { roomFor } = keep(['x', 'ann', 16, 0], ...crowd(63, 16, 1));
    expect(roomFor('bob', 1, 9 * minute)).toBeNull();
    expect(roomFor('bob', 1, 10 * minute)).toEqual(['x']);
    expect(roomFor('bob', 16.5, 11 * minute)).toEqual(['x', 'c0']);
  });

  test('a sender with much makes room for one with little, not the other way round', () => {
    const { roomFor } = keep(['x', 'ann', 15, 0], ...crowd(62, 16, 1), ['a', 'eve', 8, 2], ['b', 'eve', 8.5, 3]);
    expect(roomFor('bob', 8, 4)).toEqual(['a']);
    // With the first file, the attacker's second is safe too.
    expect(roomFor('bob', 9, 4)).toBeNull();
  });
});
