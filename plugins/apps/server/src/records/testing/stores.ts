import { afterAll, beforeAll } from 'vitest';
import type { Client } from '../../database';
import { createTestDatabase, type TestDatabase } from '../../database/testing/databases';
import type { IndexDeclarations } from '../../indexes/types';
import { createRecordStore } from '../store';
import type { AppKey, NewRecord, RecordStore, StoredRecord } from '../types';

export const limits = { attempts: 10 };

/** The indexes that most tests of the store declare. */
export const declared: IndexDeclarations = new Map([
  ['author', 'field'],
  ['total', 'field'],
  ['tags', 'keyword'],
  ['body', 'text'],
]);

/** Records as a bulk creation takes them. */
export async function* from(records: NewRecord[]): AsyncIterable<NewRecord> {
  yield* records;
}

export interface StoreTools {
  /** The key of an app that has no records yet. */
  newApp(): AppKey;
  /** Creates one record in a unit of work of its own. */
  create(
    key: AppKey,
    id: string | undefined,
    items: NewRecord['items'],
    whenTaken?: NewRecord['whenTaken'],
  ): Promise<StoredRecord>;
}

/**
 * Opens a record store on a database of its own before the tests of the `describe` that calls it, and removes both after
 * them. `opened` receives them before the first test.
 */
export function useStore(
  client: Client,
  opened: (started: { database: TestDatabase; store: RecordStore }) => void,
): StoreTools {
  let database: TestDatabase;
  let store: RecordStore;
  let apps = 0;
  beforeAll(async () => {
    database = await createTestDatabase(client);
    store = createRecordStore({ database: database.host, limits });
    opened({ database, store });
  }, 30_000);
  afterAll(async () => {
    await store.destroy();
    await database.destroy();
  });
  return {
    newApp: () => ({ site: 'site', app: `app${++apps}` }),
    create: (key, id, items, whenTaken) =>
      store.transact((unit) => unit.create(key, { id, items, creator: 'user:1', whenTaken })),
  };
}
