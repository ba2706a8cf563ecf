/**
 * Counting the entries of an app's indexes, as the admin panel does when it is asked: how long it takes, and how long the
 * server's thread does nothing else. `node benchmarks/index-sizes.mjs [--database sqlite|postgres|mysql] [--doublings N]`.
 * 16,384 records are stored; their index rows are doubled in SQL, six times: 1,048,576 records.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, writeSecrets } from '../scripts/prepare.mjs';
import { databases } from './records/databases.mjs';
import { startHost } from './support/host.mjs';

const { values: options } = parseArgs({
  options: { database: { type: 'string', default: 'sqlite' }, doublings: { type: 'string', default: '6' } },
});

/** Stores the records in the host's process, and doubles the rows of their indexes. */
async function seed(strapi, doublings) {
  const store = strapi.plugin('apps').service('records').store();
  const key = { site: 'site', app: 'large' };
  const records = async function* () {
    for (let at = 0; at < 16_384; at += 1)
      yield { items: { total: at, topics: [`t${at % 50}`, 'all'], body: `w${at % 5000} lorem ipsum` }, creator: null };
  };
  const indexes = new Map(Object.entries({ total: 'field', topics: 'keyword', body: 'text' }));
  await store.createMany(key, records());
  await store.refresh(key, indexes, { rebuild: true });
  const { connection } = strapi.db;
  const { client } = strapi.db.dialect;
  const names = {
    sqlite: "select name from sqlite_master where type = 'table'",
    postgres: "select tablename as name from pg_tables where schemaname = 'public'",
    mysql: 'select table_name as name from information_schema.tables where table_schema = database()',
  };
  const answer = await connection.raw(names[client]);
  const tables = (client === 'mysql' ? answer[0] : (answer.rows ?? answer)).map(({ name }) => name);
  for (const table of tables.filter((name) => /^apps_index_.*_(fields|terms)$/.test(name))) {
    const columns = Object.keys(await connection(table).columnInfo());
    for (let time = 0; time < doublings; time += 1) {
      const [{ last }] = await connection(table).max('record as last');
      if (last === null) break;
      const values = columns.map((name) => (name === 'record' ? `record + ${last}` : name));
      await connection.raw(`insert into ${table} (${columns}) select ${values} from ${table}`);
    }
  }
}

/** One counting in the host's process. @returns milliseconds, the longest pause of its thread, the entries of each index */
async function count(strapi) {
  const delay = require('node:perf_hooks').monitorEventLoopDelay({ resolution: 1 });
  const store = strapi.plugin('apps').service('records').store();
  delay.enable();
  const began = performance.now();
  const sizes = await store.indexSizes({ site: 'site', app: 'large' });
  const took = performance.now() - began;
  // The pause is noted by a timer after it.
  await new Promise((done) => setTimeout(done, 20));
  return { took, pause: delay.max / 1e6, sizes: Object.fromEntries(sizes) };
}

const themes = mkdtempSync(join(tmpdir(), 'apps-bench-themes-'));
const blocks = join(themes, 'bench', 'apps', 'large', 'blocks');
mkdirSync(blocks, { recursive: true });
writeFileSync(join(blocks, 'block.yaml'), 'elements: {}\n');
writeSecrets();
build('pluginServer', 'host');
const database = await databases[options.database]();
const host = await startHost(database.env, themes);
try {
  await host.run(seed, Number(options.doublings));
  for (let round = 0; round < 3; round += 1) {
    const { took, pause, sizes } = await host.run(count);
    console.log(`${options.database}: ${took.toFixed(0)} ms, longest pause ${pause.toFixed(0)} ms`, sizes);
  }
} finally {
  await host.stop();
  await database.drop();
  rmSync(themes, { recursive: true, force: true });
}
process.exit(0);
