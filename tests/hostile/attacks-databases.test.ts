import { afterAll, describe } from 'vitest';
import { availableClients, createTestDatabase } from '../support/databases';
import { runAttacks } from './attacks/run';
import { search } from './attacks/search';

/** Searches on a server, where what they could take from others are its connections. */
const servers = (await availableClients()).filter((client) => client !== 'sqlite');
for (const client of servers) {
  const database = await createTestDatabase(client, { table: false });
  describe(client, () => {
    afterAll(() => database.destroy());
    runAttacks(search, { env: database.place.env });
  });
}
