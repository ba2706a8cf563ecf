/** Bundled and started by databases.ts: a record store on the database TEST_PLACE, which runs the functions sent to it. */
import { createRecordStore } from '../../plugins/apps/server/src/records';
import { connect, hostOf, type TestPlace } from '../../plugins/apps/server/src/records/test-databases';

const place = JSON.parse(process.env.TEST_PLACE ?? '') as TestPlace;
const knex = connect(place);
const store = createRecordStore({ database: hostOf(knex, place.client), limits: { attempts: 10 }, patience: 60_000 });
const tell = (told: unknown) => process.send?.({ told });

process.on('message', async ({ call, source, args }: { call: number; source: string; args: unknown[] }) => {
  try {
    // biome-ignore lint/security/noGlobalEval: the tests' own functions, sent as their source
    const result = await globalThis.eval(`(${source})`)({ store, knex, tell }, ...args);
    process.send?.({ call, result });
  } catch (error) {
    const { name, message } = error as Error;
    process.send?.({ call, error: { name, message } });
  }
});
process.on('disconnect', () => process.exit(1));
process.send?.({ ready: true });
