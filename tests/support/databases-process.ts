/** Bundled and started by databases.ts: a record store on the database TEST_ADDRESS, which runs the functions sent to it. */

import { connect, hostOf, type TestAddress } from '../../plugins/apps/server/src/database/testing/databases';
import { createRecordStore } from '../../plugins/apps/server/src/records';

const address = JSON.parse(process.env.TEST_ADDRESS ?? '') as TestAddress;
const knex = connect(address);
const store = createRecordStore({ database: hostOf(knex, address.client), limits: { attempts: 10 }, timeout: 60_000 });

process.on('message', async ({ call, source, args }: { call: number; source: string; args: unknown[] }) => {
  try {
    // biome-ignore lint/security/noGlobalEval: the tests' own functions, sent as their source
    const result = await globalThis.eval(`(${source})`)({ store, knex }, ...args);
    process.send?.({ call, result });
  } catch (error) {
    const { name, message } = error as Error;
    process.send?.({ call, error: { name, message } });
  }
});
process.on('disconnect', () => process.exit(1));
process.send?.({ ready: true });
