/**
 * Many records on PostgreSQL, over HTTP: one app with N / 10, one with N, and N spread over many apps, in one database.
 * `node benchmarks/large.mjs [--records N] [--apps N] [--rounds N] [--shared-buffers 128MB]`. Each operation is measured in the first app
 * alone, before there are others, and in all of them afterwards, in turn. An app that gets its first request of a kind is measured apart,
 * as the first app is: its rounds begin after 20 that do not count. Prints p50 and p99, their ratio to the first app alone (goal: at most
 * 1.3), the server's memory, what PostgreSQL says of its tables, and how long requests take while the indexes of N records are built again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFiles } from '../scripts/files.mjs';
import { build, writeSecrets } from '../scripts/prepare.mjs';
import { startHost } from './support/host.mjs';
import { startPostgres } from './support/postgres.mjs';
import { treeMemory } from './support/process-tree.mjs';
import { quantile } from './support/statistics.mjs';
import { strapiEnvironment } from './support/strapi.mjs';

const { values: options } = parseArgs({
  options: {
    records: { type: 'string', default: '10000000' },
    apps: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '500' },
    'shared-buffers': { type: 'string', default: '128MB' },
  },
});
const [records, apps, rounds] = [options.records, options.apps, options.rounds].map(Number);

/** Requests a second while indexes are built again, and seconds for which they are measured before. */
const [busyRate, quietSeconds] = [100, 20];

const work = mkdtempSync(join(tmpdir(), 'apps-bench-'));
const spread = Array.from({ length: apps }, (_, at) => `spread${at}`);

function makeTheme() {
  for (const app of ['small', 'large', ...spread])
    writeFiles(join(work, 'themes', 'bench', 'apps', app), {
      'settings.yaml': "acl: { rights: { editor: ['*'] } }\n",
      'blocks/note.yaml':
        'elements:\n  author: { type: TEXT, index_type: field }\n  total: { type: NUMBER, index_type: field }\n  body: { type: TEXT, index_type: text }\n',
      'blocks/note.html': '',
    });
}

/** The items of the record at a position: an author and a word for 32 records each, and a word of two per mille. */
const itemsAt = (at) => ({
  title: `Note ${at}`,
  author: `author${at >> 5}`,
  total: (at * 104_729) % 1_000_003,
  body: `rare${at >> 5} often${at % 500} lorem ipsum`,
});

/** Runs in the host: makes records of an app, whose indexes are built before. */
async function fill(strapi, app, count, source) {
  const itemsAt = new Function(`return ${source}`)();
  const store = strapi.plugin('apps').service('records').store();
  async function* read() {
    for (let at = 0; at < count; at += 1) yield { id: `n${at}`, items: itemsAt(at), creator: null };
  }
  await store.createMany({ site: 'site', app }, read());
}

const agent = new Agent({ keepAlive: true });

/** Sends a request; milliseconds until the whole answer, and the answer. @throws for a status other than 2xx */
function send(url, { method, path, headers, body }) {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const sending = request(url + path, { method, headers, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => {
        if (response.statusCode >= 300)
          reject(new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 300)}`));
        else resolve({ time: performance.now() - began, json: JSON.parse(text || 'null'), headers: response.headers });
      });
    });
    sending.on('error', reject).end(body);
  });
}

/** The operations of an app, by name; each takes the round's number. */
function operationsOf(ask, app, count) {
  const at = (round) => (round * 7_919 + 13) % count;
  const search = (json) => ask('POST', `${app}/search`, json);
  const made = [];
  let cursor = '';
  return {
    create: async (round) => {
      const answer = await ask('POST', app, itemsAt(count + round));
      made.push(answer.json.id);
      return answer;
    },
    'get by id': (round) => ask('GET', `${app}/record/n${at(round)}`),
    'search by field': (round) => search({ query: `author == 'author${at(round) >> 5}'`, limit: 20 }),
    'search by field and range, sorted': (round) =>
      search({ query: `total > ${at(round) % 1_000_000}`, sort_index: 'total', limit: 20 }),
    'search by a rare word': (round) => search({ query: `'rare${at(round) >> 5}' in body`, limit: 20 }),
    'search by a word of 2 per mille': (round) => search({ query: `'often${round % 500}' in body`, limit: 20 }),
    'next page': async () => {
      const answer = await ask('GET', `${app}/records?limit=20${cursor}`);
      const next = /[?&]cursor=([^&>]+)/.exec(answer.headers.link ?? '')?.[1];
      cursor = next ? `&cursor=${next}` : '';
      return answer;
    },
    delete: () => ask('DELETE', `${app}/record/${made.shift()}`),
  };
}

/** Measures the operations of the collections in turn. @returns for each, a map from the operation to its times */
async function measure(collections) {
  const times = collections.map(() => new Map());
  for (const name of Object.keys(collections[0]))
    for (let round = -20; round < rounds; round += 1)
      for (const [at, operations] of collections.entries()) {
        const { time } = await operations[name](round + 20);
        if (round >= 0) times[at].set(name, [...(times[at].get(name) ?? []), time]);
      }
  return times;
}

const figure = (times, part) => quantile(times, part);
const shown = (times) => `${figure(times, 0.5).toFixed(2)} / ${figure(times, 0.99).toFixed(2)}`;
const ratioOf = (times, base) =>
  `${(figure(times, 0.5) / figure(base, 0.5)).toFixed(2)} / ${(figure(times, 0.99) / figure(base, 0.99)).toFixed(2)}`;

/** Reads of the large app at a fixed rate until `end` is true. @returns their times */
async function atFixedRate(ask, end) {
  const times = [];
  const open = new Set();
  for (let round = 0; !end(); round += 1) {
    const path = round % 10 ? ['GET', `large/record/n${(round * 7_919) % records}`] : ['POST', 'small', itemsAt(round)];
    const sent = ask(...path).then(({ time }) => void times.push(time));
    open.add(sent);
    void sent.finally(() => open.delete(sent));
    await new Promise((done) => setTimeout(done, 1000 / busyRate));
  }
  await Promise.all(open);
  return times;
}

async function rebuild(host, ask) {
  const began = performance.now();
  const quiet = await atFixedRate(ask, () => performance.now() - began > quietSeconds * 1_000);
  let isBuilt = false;
  const start = performance.now();
  const building = host
    .run(async (strapi) => {
      const indexes = new Map([
        ['author', 'field'],
        ['total', 'field'],
        ['body', 'text'],
      ]);
      await strapi
        .plugin('apps')
        .service('records')
        .store()
        .refresh({ site: 'site', app: 'large' }, indexes, { rebuild: true });
    })
    .finally(() => {
      isBuilt = true;
    });
  const busy = await atFixedRate(ask, () => isBuilt);
  await building;
  const seconds = (performance.now() - start) / 1_000;
  console.log(`\nIndexes of ${records} records built again, beside ${busyRate} requests/s`);
  console.log(
    `  ${seconds.toFixed(0)} s; requests before ${shown(quiet)} ms, meanwhile ${shown(busy)} ms, longest ${Math.max(...busy).toFixed(0)} ms`,
  );
}

/** What PostgreSQL says of the plugin's largest tables. */
async function tables(host) {
  const rows = await host.run(async (strapi) => {
    const { rows } = await strapi.db.connection.raw(
      `select relname as name, n_live_tup::int as live, n_dead_tup::int as dead, last_autovacuum is not null as vacuumed,
        last_autoanalyze is not null as analyzed, pg_table_size(relid)::bigint / 1048576 as size,
        pg_indexes_size(relid)::bigint / 1048576 as indexes
       from pg_stat_user_tables where relname like 'apps%' order by pg_total_relation_size(relid) desc limit 8`,
    );
    return rows;
  });
  console.log('\nTables: rows, dead rows, MB, MB of indexes, whether autovacuum and autoanalyze have run');
  for (const { name, live, dead, size, indexes, vacuumed, analyzed } of rows)
    console.log(`  ${name.padEnd(28)} ${live} ${dead} ${size} ${indexes} ${vacuumed} ${analyzed}`);
}

const print = (title, times, base) => {
  console.log(`\n${title}`);
  for (const [name, all] of times)
    console.log(`  ${name.padEnd(34)} ${shown(all)} ms${base ? `, ${ratioOf(all, base.get(name))} of alone` : ''}`);
};

writeSecrets();
build('pluginServer', 'host');
makeTheme();
const postgres = await startPostgres((program, args = []) => [program, ...args], {
  shared_buffers: options['shared-buffers'],
});
const host = await startHost(strapiEnvironment(await postgres.create('bench')), join(work, 'themes'));
try {
  const accept = { accept: 'application/json' };
  const settings = await fetch(`${host.url}/site/@@apps/small`, { headers: accept });
  const headers = {
    ...accept,
    'content-type': 'application/json',
    'x-csrf-token': settings.headers.get('x-csrf-token'),
  };
  const ask = (method, path, json) =>
    send(host.url, { method, path: `/site/@@apps/${path}`, headers, body: json && JSON.stringify(json) });
  const make = async (app, count) => {
    // A first search builds the indexes: the empty app's, at once.
    await ask('POST', `${app}/search`, { query: "author == 'x' and total > 1 and 'x' in body", limit: 1 });
    await host.run(fill, app, count, itemsAt.toString());
  };
  const memory = () => `${treeMemory(host.pid).toFixed(0)} MB`;
  const timed = async (title, making) => {
    const began = performance.now();
    await making();
    console.log(`${title}: ${((performance.now() - began) / 1_000).toFixed(0)} s, server ${memory()}`);
  };
  console.log(
    `PostgreSQL ${postgres.version}, shared_buffers ${options['shared-buffers']}, Node.js ${process.versions.node}, ${rounds} rounds`,
  );
  await timed(`${records / 10} records in one app`, () => make('small', records / 10));
  const [alone] = await measure([operationsOf(ask, 'small', records / 10)]);
  print(`${records / 10} records, alone`, alone);
  await timed(`${records} records in one app`, () => make('large', records));
  await timed(`${records} records in ${apps} apps`, async () => {
    for (const app of spread) await make(app, records / apps);
  });
  const others = spread.map((app) => operationsOf(ask, app, records / apps));
  const first = new Map();
  for (const name of Object.keys(others[0])) {
    const answers = [];
    for (const [at, operations] of others.entries()) answers.push(await operations[name](at));
    first.set(
      name,
      answers.map(({ time }) => time),
    );
  }
  print(`${records} records in ${apps} apps, the first request of each app`, first, alone);
  const inTurn = Object.fromEntries(
    Object.keys(others[0]).map((name) => [name, (round) => others[(round * 7) % apps][name](round)]),
  );
  const [small, large, many] = await measure([
    operationsOf(ask, 'small', records / 10),
    operationsOf(ask, 'large', records),
    inTurn,
  ]);
  print(`${records / 10} records, beside the others`, small, alone);
  print(`${records} records in one app`, large, alone);
  print(`${records} records in ${apps} apps, later requests`, many, alone);
  console.log(`\nServer after the measurements: ${memory()}`);
  await tables(host);
  await rebuild(host, ask);
  console.log(`Server at the end: ${memory()}`);
} finally {
  await host.stop();
  await postgres.stop();
  rmSync(work, { recursive: true, force: true });
}
