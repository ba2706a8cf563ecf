/**
 * What the index of files costs and saves (docs/decisions/files.md): `node benchmarks/removals.mjs [--database
 * sqlite|postgres|mysql] [--records N] [--rounds N]`. Two apps have the same records, a hundredth of them with a file; one of them
 * has the index. Writes of both are measured in turn: the median milliseconds, and the median of their ratios.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, writeSecrets } from '../scripts/prepare.mjs';
import { databases } from './records/databases.mjs';
import { pin, startHost } from './support/host.mjs';

const { values: options } = parseArgs({
  options: {
    database: { type: 'string', default: 'sqlite' },
    records: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '300' },
  },
});

/** Makes the records of both apps, and the index of one; returns lines to print. */
async function make(strapi, records) {
  const store = strapi.plugin('apps').service('records').store();
  const keys = { plain: { site: 'site', app: 'plain' }, indexed: { site: 'site', app: 'indexed' } };
  const indexes = new Map([['total', 'field']]);
  const file = (at) => ({ id: at, documentId: `file${at}`, name: 'a.png', url: '/a.png', mime: 'image/png', size: 1 });
  async function* all() {
    for (let at = 0; at < records; at++)
      yield { items: { total: at, text: 'lorem ipsum', ...(at % 100 === 0 && { cv: file(at) }) }, creator: null };
  }
  const timed = async (work) => {
    const began = performance.now();
    await work();
    return performance.now() - began;
  };
  for (const key of Object.values(keys)) {
    await store.createMany(key, all());
    await store.refresh(key, indexes, { rebuild: true });
  }
  const first = await timed(async () => {
    for (;;) {
      try {
        return await store.namedFiles(keys.indexed, ['file0']);
      } catch (error) {
        if (error.status !== 503) throw error;
      }
    }
  });
  const read = await timed(async () => {
    for await (const _ of store.stream(keys.plain));
  });
  globalThis.removals = { store, keys, timed };
  return [
    `the first question, which has the index built: ${first.toFixed(0)} ms`,
    `to read all ${records} records: ${read.toFixed(0)} ms`,
  ];
}

/** Measures questions and writes; returns lines to print. */
async function measure(_strapi, rounds) {
  const { store, keys, timed } = globalThis.removals;
  const middle = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
  const names = (from, count) => Array.from({ length: count }, (_, at) => `file${from + at * 100}`);
  const asked = async (files) => {
    const took = [];
    for (let time = 0; time < 20; time++) took.push(await timed(() => store.namedFiles(keys.indexed, files)));
    return `${middle(took).toFixed(2)} ms`;
  };
  const lines = [
    `which of 100 files records name, none: ${await asked(names(50, 100))}; all: ${await asked(names(0, 100))}`,
  ];
  const writes = {
    'a record without files, created': (key, at) =>
      store.transact((unit) => unit.create(key, { id: `n${at}`, items: { total: at, text: 'lorem' }, creator: null })),
    'the same record, changed': (key, at) =>
      store.transact((unit) => unit.update(key, `n${at}`, { set: { total: -at } })),
    'a record with a file, created': (key, at) => {
      const cv = { id: at, documentId: `new${at}`, name: 'a.png', url: '/a.png', mime: 'image/png', size: 1 };
      return store.transact((unit) => unit.create(key, { id: `f${at}`, items: { total: at, cv }, creator: null }));
    },
  };
  for (const [name, write] of Object.entries(writes)) {
    const taken = [];
    for (let at = 0; at < rounds; at++) {
      const turn = at % 2 ? ['plain', 'indexed'] : ['indexed', 'plain'];
      const took = {};
      for (const app of turn) took[app] = await timed(() => write(keys[app], at));
      taken.push(took);
    }
    const [plain, indexed] = ['plain', 'indexed'].map((app) => middle(taken.map((took) => took[app])));
    const ratio = middle(taken.map((took) => took.indexed / took.plain));
    lines.push(`${name}: ${plain.toFixed(2)} ms, with the index ${indexed.toFixed(2)} ms, ${ratio.toFixed(2)} times`);
  }
  return lines;
}

const themes = mkdtempSync(join(tmpdir(), 'apps-bench-themes-'));
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
