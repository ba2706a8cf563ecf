/**
 * Searches and listings of own records beside the same without it: `node benchmarks/own.mjs [--database sqlite|postgres|mysql]
 * [--records N] [--rounds N]`. Each row is measured in turn with its peer, a search on the item `author`, which has the same
 * value as the creator: the median milliseconds of both, and the median of their ratios.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFiles } from '../scripts/files.mjs';
import { build, writeSecrets } from '../scripts/prepare.mjs';
import { databases } from './records/databases.mjs';
import { pin, startHost } from './support/host.mjs';

const { values: options } = parseArgs({
  options: {
    database: { type: 'string', default: 'sqlite' },
    records: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '7' },
  },
});

/** Makes the records, and the index of creators; returns lines to print. */
async function make(strapi, records) {
  const store = strapi.plugin('apps').service('records').store();
  const key = { site: 'site', app: 'owned' };
  const indexes = new Map([
    ['author', 'field'],
    ['total', 'field'],
  ]);
  // Half of all, one of a hundred, the last hundredth, and a few each.
  const authorOf = (at) => {
    if (at >= records * 0.99) return 'late';
    if (at % 2) return 'common';
    return at % 100 === 0 ? 'middle' : `user${at % 50_000}`;
  };
  async function* all() {
    for (let at = 0; at < records; at++) {
      const author = authorOf(at);
      yield { items: { author, total: (at * 104_729) % 1_000_003, text: 'lorem ipsum' }, creator: `user:${author}` };
    }
  }
  const timed = async (work) => {
    const began = performance.now();
    await work();
    return performance.now() - began;
  };
  const lines = [`${records} records: ${((await timed(() => store.createMany(key, all()))) / 1000).toFixed(1)} s`];
  lines.push(
    `two indexes: ${((await timed(() => store.refresh(key, indexes, { rebuild: true }))) / 1000).toFixed(1)} s`,
  );
  const first = await timed(async () => {
    for (;;) {
      try {
        return await store.search(key, indexes, { creator: 'user:late', limit: 1 });
      } catch (error) {
        if (error.status !== 503) throw error;
      }
    }
  });
  lines.push(`the first search of own records, which has the indexes built again: ${(first / 1000).toFixed(1)} s`);
  globalThis.own = { store, key, indexes, timed };
  return lines;
}

/** Measures each kind of read, own and by the item; returns lines to print. */
async function measure(_strapi, rounds) {
  const { store, key, indexes, timed } = globalThis.own;
  const middle = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
  const of = async (work) => {
    const took = [];
    for (let time = -2; time < 15; time++) {
      const ms = await timed(work);
      if (time >= 0) took.push(ms);
    }
    return middle(took);
  };
  const by = (author, options) => ({
    own: () => store.search(key, indexes, { limit: 20, ...options, creator: `user:${author}` }),
    item: () =>
      store.search(key, indexes, {
        limit: 20,
        ...options,
        query: [`author == '${author}'`, options.query].filter(Boolean).join(' and '),
      }),
  });
  const rows = [];
  for (const author of ['user2', 'middle', 'late', 'common', 'none']) {
    rows.push([`${author}, in order of creation`, by(author, {})]);
    rows.push([`${author}, newest first`, by(author, { reverse: true })]);
    rows.push([`${author}, sorted`, by(author, { sortIndex: 'total' })]);
    rows.push([`${author}, range and sort`, by(author, { query: 'total > 500000', sortIndex: 'total' })]);
    rows.push([
      `${author}, counted`,
      {
        own: () => store.count(key, indexes, undefined, { creator: `user:${author}` }),
        item: () => store.count(key, indexes, `author == '${author}'`),
      },
    ]);
    rows.push([
      `${author}, a page of 100 beside one of all records`,
      {
        own: () => store.page(key, { limit: 100, own: { creator: `user:${author}`, indexes } }),
        item: () => store.page(key, { limit: 100 }),
      },
    ]);
  }
  const lines = [];
  for (const [name, { own, item }] of rows) {
    const taken = [];
    for (let round = 0; round < rounds; round++) taken.push([await of(own), await of(item)]);
    const [mine, other] = [middle(taken.map(([one]) => one)), middle(taken.map(([, one]) => one))];
    const ratio = middle(taken.map(([one, two]) => one / two));
    lines.push(
      `${name.padEnd(56)} ${mine.toFixed(2).padStart(8)} ms  ${other.toFixed(2).padStart(8)} ms  ${ratio.toFixed(2)} times`,
    );
  }
  return lines;
}

const themes = mkdtempSync(join(tmpdir(), 'apps-bench-themes-'));
writeFiles(join(themes, 'bench', 'apps', 'owned'), { 'settings.yaml': "acl: { rights: { owner: ['*'] } }\n" });
writeSecrets();
build('pluginServer', 'host');
const database = await databases[options.database]();
const host = await startHost(database.env, themes);
pin(host.pid, 0);
try {
  console.log(`${options.database}, Node.js ${process.versions.node}`);
  for (const line of await host.run(make, Number(options.records))) console.log(line);
  for (const line of await host.run(measure, Number(options.rounds))) console.log(line);
} finally {
  await host.stop();
  await database.drop();
  rmSync(themes, { recursive: true, force: true });
}
