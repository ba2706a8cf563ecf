import { afterAll, describe, test } from 'vitest';
import { availableClients, createTestDatabase } from '../support/databases';
import { runAttacks } from './attacks/run';
import { search } from './attacks/search';

/** Searches on a database server, where they could take all connections. */
const servers = (await availableClients()).filter((client) => client !== 'sqlite');
if (servers.length === 0) test.skip('without a database server there is nothing to test', () => {});
for (const client of servers) {
  const database = await createTestDatabase(client, { table: false });
  describe(client, () => {
    afterAll(() => database.destroy());
    runAttacks(search, { env: database.address.env });
  });
}
