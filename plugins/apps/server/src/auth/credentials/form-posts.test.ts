import type { Core } from '@strapi/strapi';
import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { availableClients, createTestDatabase, type TestDatabase } from '../../records/testing/databases';
import { createFormPosts, type FormPosts } from './form-posts';

describe.each(await availableClients())('proofs of work on %s', (client) => {
  let database: TestDatabase;
  /** Called when a post is inserted, before the statement runs. */
  let inserting: (() => void) | undefined;

  beforeAll(async () => {
    database = await createTestDatabase(client);
    const { knex } = database;
    await knex.schema.createTable('apps_form_posts', (table) => {
      table.increments('id');
      table.string('count_id').unique();
      table.integer('posts');
      table.bigInteger('ends_at');
    });
    knex.on('query', ({ sql }: { sql: string }) => {
      if (sql.startsWith('insert')) inserting?.();
    });
  }, 30_000);
  afterAll(() => database.destroy());

  const posts = (): FormPosts => {
    const strapi = { db: { connection: (table: string): Knex.QueryBuilder => database.knex(table) } };
    const keyring = { sign: (parts: unknown[]) => parts.join() };
    return createFormPosts(strapi as unknown as Core.Strapi, { keyring: keyring as never, now: () => 1 });
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
