import { expect, test } from 'vitest';
import { findSlow } from './grow';
import { subjects } from './yaml';

/** Another seed generates other texts: `SEED=7 npx vitest run --project hostile fuzz/yaml`. */
const seed = Number(process.env.SEED ?? 1);
const rounds = Number(process.env.ROUNDS ?? 40);

test.each(subjects)(
  '$name takes no superlinear time',
  (subject) => {
    const slow = findSlow(subject, seed, rounds);
    // A busy machine is slow once; a slow function is slow again.
    expect(slow.length === 0 ? slow : findSlow(subject, seed, rounds)).toEqual([]);
  },
  600_000,
);
