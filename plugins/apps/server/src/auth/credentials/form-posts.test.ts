import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { availableClients, createTestDatabase, type TestDatabase } from '../../database/testing/databases';
import { countersIn } from '../testing/counters';
import type { Counters } from './rate-limit';
import { createFormPosts, type FormPosts } from './rate-limit';

describe.each(await availableClients())('proofs of work on %s', (client) => {
  let database: TestDatabase;
  /** Called when a post is inserted, before the statement runs. */
  let inserting: (() => void) | undefined;

  let counters: Counters;
  beforeAll(async () => {
    database = await createTestDatabase(client);
    counters = await countersIn(database.knex, () => 1);
    database.knex.on('query', ({ sql }: { sql: string }) => {
      if (sql.startsWith('insert')) inserting?.();
    });
  }, 30_000);
  afterAll(() => database.destroy());

  const posts = (): FormPosts => {
    const keyring = { sign: (parts: unknown[]) => parts.join() };
    return createFormPosts({ counters, keyring: keyring as never, now: () => 1 });
  };

  test('a proof is good once', async () => {
    const { isFirst } = posts();
    expect([await isFirst('once', 2), await isFirst('once', 2), await isFirst('other', 2)]).toEqual([
      true,
      false,
      true,
    ]);
  });

  test.each([2, 5])('of %d simultaneous posts with one proof, one passes', async (number) => {
    const { isFirst } = posts();
    const proof = `of ${number}`;
    const others: Promise<boolean>[] = [];
    // Each begins once the row of the first one is on its way.
    inserting = () => {
      inserting = undefined;
      for (let at = 1; at < number; at += 1) others.push(isFirst(proof, 2));
    };
    const all = [await isFirst(proof, 2), ...(await Promise.all(others))];
    expect(all.filter(Boolean)).toHaveLength(1);
  });
});
