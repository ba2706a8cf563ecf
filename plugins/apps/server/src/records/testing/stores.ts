import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll } from 'vitest';
import type { Client, HostDatabase } from '../../database';
import { createTestDatabase, type TestDatabase } from '../../database/testing/databases';
import type { Reader } from '../../database/types';
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

/** Runs work outside of the transaction in which its caller runs. */
const outside = AsyncLocalStorage.snapshot();

/** A host with a call before and after each statement of its short transactions: what others do meanwhile. */
export function heldHost(host: HostDatabase, call: (statement: string) => Promise<void>): HostDatabase {
  return {
    ...host,
    write: (work) =>
      host.write((connection) =>
        work({
          async raw(sql: string, values: readonly unknown[]) {
            await outside(() => call(`before ${sql}`));
            const result = await (connection as Reader).raw(sql, values);
            await outside(() => call(`after ${sql}`));
            return result;
          },
        }),
      ),
  };
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
