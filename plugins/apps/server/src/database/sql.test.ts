import { expect, test } from 'vitest';
import { dialects } from './dialects';
import { inTransaction, isFailure } from './sql';
import type { HostDatabase } from './types';

test.each([
  ['of its own runs again', false, 2],
  ['of other code has ended: only that code can run it again', true, 1],
])('after a deadlock a transaction %s', async (_, isInside, runs) => {
  let count = 0;
  const database = {
    current: () => (isInside ? Promise.resolve({}) : undefined),
    async write() {
      count += 1;
      if (count === 1) throw Object.assign(new Error('deadlock'), { code: 'ER_LOCK_DEADLOCK' });
    },
  } as unknown as HostDatabase;
  const outcome = inTransaction({ database, dialect: dialects.mysql }, async () => {});
  const failed = await outcome.then(
    () => false,
    (error) => isFailure(error, 'collision'),
  );
  expect([count, failed]).toEqual([runs, isInside]);
});
