import { afterAll, describe } from 'vitest';
import { availableClients, createTestDatabase } from '../support/databases';
import { runAttacks } from './attacks/run';
import { search } from './attacks/search';

/** Searches, which could take the thread of the server on SQLite and all connections of a database server. */
for (const client of await availableClients()) {
  const database = client === 'sqlite' ? undefined : await createTestDatabase(client, { table: false });
  describe(client, () => {
    afterAll(() => database?.destroy());
    runAttacks(search, { production: true, env: database?.address.env });
  });
}
