import type { Knex } from 'knex';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { availableClients, connect, hostOf, type TestDatabase } from '../../database/testing/databases';
import { createRecordStore } from '../store';
import { limits, useStore } from '../testing/stores';
import type { RecordStore } from '../types';
import { contentScope, type KeptReads } from './dependencies';

const HOUR = 60 * 60_000;
const uid = 'api::page.page';
// SQLite itself counts the commits of others.
const clients = (await availableClients()).filter((client) => client !== 'sqlite');

describe.each(clients)('counts of commits on %s', (client) => {
  let database: TestDatabase;
  let store: RecordStore;
  let knex: Knex;
  let second: RecordStore;
  useStore(client, (opened) => {
    ({ database, store } = opened);
  });
  beforeAll(async () => {
    knex = connect(database.address);
    second = createRecordStore({ database: hostOf(knex, client), limits });
    await second.prepare();
    await store.prepare();
  });
  afterAll(async () => {
    await second.destroy();
    await knex.destroy();
  });
  afterEach(() => void vi.useRealTimers());

  const keep = async (): Promise<KeptReads> => {
    await second.dependencies.refresh();
    const kept = await second.dependencies.keep(second.dependencies.mark(), new Map([[contentScope(uid), 'any']]));
    if (!kept) throw new Error('it was not kept');
    return kept;
  };
  const holds = async (kept: KeptReads) => {
    await second.dependencies.refresh();
    return second.dependencies.holds(kept);
  };

  test('have a change of content again whose first row a savepoint has undone', async () => {
    const kept = await keep();
    await database.host.transaction(async (trx) => {
      await trx.raw('savepoint first');
      await store.dependencies.noteContent([uid]);
      await trx.raw('rollback to savepoint first');
      await store.dependencies.noteContent([uid]);
    });
    expect(await holds(kept)).toBe(false);
  });

  test.each<[what: string, hours: number, commits: boolean, isKept: boolean]>([
    ['nothing is committed', 1, false, true],
    ['another process commits', 1, true, false],
    ['another process has committed, and its counts are deleted', 25, true, false],
  ])('say whether what was read long ago is the same: %s', async (_, hours, commits, isKept) => {
    // As the tidying of another process would.
    await database.knex('apps_commit_counts').delete();
    const kept = await keep();
    if (commits) await store.dependencies.noteContent([uid]);
    vi.setSystemTime(Date.now() + hours * HOUR);
    if (hours > 24) await database.knex('apps_commit_counts').delete();
    expect(await holds(kept)).toBe(isKept);
  });
});
