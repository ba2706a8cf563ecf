import { expect, test } from 'vitest';
import { walker } from './audit-program';
import { makeBed } from './bed';

interface Found {
  /** Functions of built-ins that a session could replace, and what those were given. */
  patched: number;
  captured: number;
  reachable: number;
  both: number;
  frozen: number;
  sealed: number;
  /** Paths of what both sessions reach and one can change. */
  loose: string[];
}

test('all that two sessions of a context reach is frozen or sealed', async () => {
  const bed = await makeBed(walker, { outside: 'const shared = new Map()' });
  const first = await bed.session('walk', 20_000);
  expect(first.error ?? first.ended).toBeUndefined();
  const { value } = await bed.session('walk', 20_000);
  const found = value as Found;
  console.log(
    `Node.js ${process.version}, V8 ${process.versions.v8}: ${JSON.stringify({ ...found, loose: found.loose.length })}`,
  );
  expect(found.loose).toEqual([]);
  // It has walked: a walk that ends early would find nothing.
  expect(found.both).toBeGreaterThan(650);
  expect(found.patched).toBeGreaterThan(100);
  expect(found.captured).toBeGreaterThan(1000);
  bed.dispose();
}, 60_000);

test('the walk finds what is not frozen', async () => {
  const bed = await makeBed(walker, { isReused: false, outside: 'const shared = new Map()' });
  await bed.session('walk', 20_000);
  const found = (await bed.session('walk', 20_000)).value as Found;
  expect(found.loose.length).toBeGreaterThan(500);
  bed.dispose();
}, 60_000);
