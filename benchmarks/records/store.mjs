/**
 * The scenarios at scale, run inside the host's process on its own database: bulk creation, searches, listing and
 * re-indexing of many records, against Strapi's own services and against SQL written by hand on the same data.
 */

import { memoryOf } from '../support/host.mjs';
import { searches } from './search.mjs';

/** The functions that a scenario can use in the host, as `globalThis.bench`. */
function prepare(strapi, records) {
  const store = strapi.plugin('apps').service('records').store();
  const words = Array.from({ length: 5_000 }, (_, at) => `w${((at * 7_919) % 100_003).toString(36)}`);
  const key = (app) => ({ site: 'site', app });
  const item = (at) => ({
    author: at % 2 ? 'common' : `user${(at * 7_919) % 50_000}`,
    total: (at * 104_729) % 1_000_003,
    created: 1_700_000_000 + at,
    body: `${words[at % 5_000]} ${words[(at * 31) % 5_000]} ${words[(at * 17) % 300]} lorem ipsum`,
  });
  const many = async function* (count) {
    for (let at = 0; at < count; at++) yield { items: item(at), creator: 'user:1' };
  };
  const three = new Map([
    ['author', 'field'],
    ['total', 'field'],
    ['created', 'field'],
  ]);
  const four = new Map([...three, ['body', 'text']]);
  const timed = async (work) => {
    const began = performance.now();
    await work();
    return performance.now() - began;
  };
  /** Median milliseconds of a call, after a warm-up. */
  const median = async (work, times = 50) => {
    const took = [];
    for (let time = -3; time < times; time++) {
      const ms = await timed(work);
      if (time >= 0) took.push(ms);
    }
    return took.sort((a, b) => a - b)[times >> 1];
  };
  const rows = (result) => (Array.isArray(result) ? (Array.isArray(result[0]) ? result[0] : result) : result.rows);
  const raw = async (text, values = []) => rows(await strapi.db.connection.raw(text, values));
  globalThis.bench = { strapi, store, key, many, item, three, four, timed, median, raw, records, words };
}

const steps = [
  [
    'bulk create 10,000 with 3 indexes',
    async () => {
      const { store, key, many, three, timed, strapi } = globalThis.bench;
      await store.count(key('bulk'), three, 'total == 1');
      const ours = [];
      const theirs = [];
      for (let round = 0; round < 3; round++) {
        ours.push(await timed(() => store.createMany(key('bulk'), many(10_000))));
        const article = (at) => ({
          title: 'Bench',
          slug: `bulk-${round}-${at}`,
          summary: 'user',
          body: 'text',
          documentId: `bulk${round}x${at}`,
          publishedAt: new Date(),
        });
        // The database refuses more rows at once; Strapi does not split them.
        theirs.push(
          await timed(async () => {
            for (let start = 0; start < 10_000; start += 100)
              await strapi.db
                .query('api::article.article')
                .createMany({ data: Array.from({ length: 100 }, (_, at) => article(start + at)) });
          }),
        );
      }
      const [a, b] = [ours, theirs].map((list) => list.sort((x, y) => x - y)[1]);
      return [
        `${(1e7 / a).toFixed(0)} records/s; Strapi's createMany ${(1e7 / b).toFixed(0)}/s, ${(b / a).toFixed(1)} times (goal: 10; 15,000/s on SQLite)`,
      ];
    },
  ],
  [
    'make the records',
    async () => {
      const { store, key, many, records, timed, four } = globalThis.bench;
      const small = await timed(() => store.createMany(key('small'), many(10_000)));
      const large = await timed(() => store.createMany(key('large'), many(records)));
      await store.refresh(key('small'), four, { rebuild: true });
      return [`10,000: ${small.toFixed(0)} ms, ${records}: ${(large / 1000).toFixed(1)} s without indexes`];
    },
  ],
  [
    're-index with 3 indexes',
    async () => {
      const { store, key, three, timed, records, raw } = globalThis.bench;
      const [first] = (await store.page(key('large'), { limit: 1 })).records;
      let stop = false;
      let longest = 0;
      let writes = 0;
      const writer = (async () => {
        while (!stop) {
          const took = await globalThis.bench.timed(() =>
            store.transact((unit) => unit.update(key('large'), first.id, { inc: { total: 1 } })),
          );
          longest = Math.max(longest, took);
          writes += 1;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      })();
      const ours = await timed(() => store.refresh(key('large'), three, { rebuild: true }));
      stop = true;
      await writer;
      const json = {
        sqlite: (name) => `json_extract(items, '$.${name}')`,
        postgres: (name) => `items::json->>'${name}'`,
        mysql: (name) => `json_unquote(json_extract(items, '$.${name}'))`,
      }[globalThis.bench.strapi.db.dialect.client];
      const { scope } = (await raw('select scope from apps_records where id = ?', [first.seq]))[0];
      const number = globalThis.bench.strapi.db.dialect.client === 'mysql' ? 'double' : 'double precision';
      const hand = await timed(async () => {
        await raw(
          'create table bench_fields (record integer not null primary key, author varchar(60), total double precision, created double precision)',
        );
        await raw(
          `insert into bench_fields select id, ${json('author')}, cast(${json('total')} as ${number}), cast(${json('created')} as ${number}) from apps_records where scope = '${scope}'`,
        );
        for (const name of ['author', 'total', 'created'])
          await raw(`create index bench_${name} on bench_fields (${name}, record)`);
      });
      return [
        `${(ours / 1000).toFixed(1)} s (${((records / ours) * 1000).toFixed(0)} records/s); INSERT … SELECT and CREATE INDEX by hand ${(hand / 1000).toFixed(1)} s, ${(ours / hand).toFixed(1)} times (goal: 3)`,
        `longest wait of a writer ${longest.toFixed(0)} ms in ${writes} writes (goal: 100 on PostgreSQL, 250 on SQLite)`,
      ];
    },
  ],
  [
    're-index with a fourth index, of 8 words a record',
    async () => {
      const { store, key, four, timed } = globalThis.bench;
      const words = await timed(() => store.refresh(key('large'), four, { rebuild: true }));
      return [`${(words / 1000).toFixed(1)} s`];
    },
  ],
  ...searches,
  [
    'point get and increment',
    async () => {
      const { store, key, median } = globalThis.bench;
      const { records: page } = await store.page(key('large'), { limit: 500 });
      let at = 0;
      const get = await median(() => store.get(key('large'), page[at++ % 500].id), 500);
      const inc = await median(
        () => store.transact((unit) => unit.update(key('large'), page[0].id, { inc: { total: 1 } })),
        100,
      );
      return [`get ${get.toFixed(3)} ms, increment of an indexed item ${inc.toFixed(2)} ms`];
    },
  ],
];

/** Runs the scenarios one after the other, but for those whose name contains one of the texts `without`; yields lines to print. */
export async function* storeScenarios(host, { records, only, without }) {
  if (only && !steps.some(([name]) => name.includes(only)) && !'list all'.includes(only)) return;
  await host.run(prepare, records);
  for (const [name, work] of steps) {
    if (without.some((text) => name.includes(text))) continue;
    const lines = await host.run(work);
    yield `\n${name}`;
    for (const line of lines) yield `  ${line}`;
  }
  yield `\nlist all\n  ${await listAll(host)}`;
  const cleared = await host.run(async () => {
    const { timed, store, key } = globalThis.bench;
    return timed(() => store.clear(key('large')));
  });
  yield `\ndelete all\n  ${(cleared / 1000).toFixed(2)} s`;
}

/** Reads the whole listing slowly enough to measure the server's memory. @returns the growth of its maximum */
async function listAll(host) {
  const before = memoryOf(host.pid);
  const began = performance.now();
  const response = await fetch(`${host.url}/site/@@apps/large/records`, { headers: { accept: 'application/json' } });
  if (!response.ok) throw new Error(await response.text());
  let first = 0;
  let bytes = 0;
  let peak = before;
  for await (const chunk of response.body) {
    first ||= performance.now() - began;
    bytes += chunk.length;
    if (bytes % 64 === 0) peak = Math.max(peak, memoryOf(host.pid));
  }
  peak = Math.max(peak, memoryOf(host.pid));
  const seconds = (performance.now() - began) / 1000;
  return `first byte ${first.toFixed(0)} ms (goal: 50), ${(bytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s, ${(peak - before).toFixed(0)} MB more memory (goal: 40)`;
}
