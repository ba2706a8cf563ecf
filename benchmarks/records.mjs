/**
 * Records and search against their peers: `npm run bench:records -- [--database sqlite|postgres|mysql] [--records N]
 * [--rounds N] [--seconds N] [--only TEXT] [--without TEXT,TEXT]`. The server runs on one core, the load on the other; peers are measured
 * alternately within a round. Prints, for each scenario, the median ratio to its peer with its spread, the goal, and beside it
 * the server's processor time and SQL statements a request.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFiles } from '../scripts/files.mjs';
import { build, writeSecrets } from '../scripts/prepare.mjs';
import { databases } from './records/databases.mjs';
import { httpScenarios, seedHttp } from './records/http.mjs';
import { storeScenarios } from './records/store.mjs';
import { pin, processorTime, startHost } from './support/host.mjs';
import { load } from './support/load.mjs';
import { median, range } from './support/statistics.mjs';

const { values: options } = parseArgs({
  options: {
    database: { type: 'string', default: 'sqlite' },
    records: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    without: { type: 'string', default: '' },
  },
});
const without = options.without.split(',').filter(Boolean);
const [records, rounds, seconds] = [options.records, options.rounds, options.seconds].map(Number);

function makeTheme() {
  const themes = mkdtempSync(join(tmpdir(), 'apps-bench-themes-'));
  const app = (id, elements) =>
    writeFiles(join(themes, 'bench', 'apps', id), {
      'settings.yaml': "acl: { rights: { editor: ['*'] } }\n",
      'blocks/block.yaml': elements,
    });
  app('plain', 'elements: {}\n');
  for (const id of ['three', 'large'])
    app(
      id,
      'elements:\n  author: { type: TEXT, index_type: field }\n  total: { type: NUMBER, index_type: field }\n  created: { type: NUMBER, index_type: field }\n',
    );
  const validating = (text) => `export function validate({ app, request }) {\n  ${text}\n}\n`;
  writeFiles(join(themes, 'bench', 'apps', 'places', 'blocks'), {
    'counted.yaml': 'elements:\n  total: { type: NUMBER, index_type: field }\n',
    'counted.js': validating("app.count('total == wanted', { names: { wanted: Number(request.form.total) } });"),
    'plain.yaml': 'elements:\n  total: { type: NUMBER, index_type: field }\n',
    'plain.js': validating('Number(request.form.total);'),
  });
  writeFiles(join(themes, 'bench', 'apps', 'places'), {
    'settings.yaml': "acl: { rights: { editor: ['*'] } }\n",
  });
  return themes;
}

/** Measures the peers of a scenario alternately, and prints how they compare. */
async function compare(host, { name, peers, goal, unit = 'requests/s', better = 'more' }) {
  if (!name.includes(options.only)) return;
  const rates = peers.map(() => []);
  const costs = peers.map(() => ({ cpu: 0, statements: 0, requests: 0 }));
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, peer] of peers.entries()) {
      await peer.before?.();
      const [cpu, statements] = [processorTime(host.pid), await host.run(() => globalThis.benchStatements)];
      const { rate, requests } = await peer.measure({ seconds, load });
      rates[at].push(rate);
      costs[at].cpu += processorTime(host.pid) - cpu;
      costs[at].statements += (await host.run(() => globalThis.benchStatements)) - statements;
      costs[at].requests += requests;
    }
  }
  console.log(`\n${name}`);
  for (const [at, peer] of peers.entries()) {
    const { cpu, statements, requests } = costs[at];
    const each = `${((cpu / requests) * 1e3).toFixed(2)} ms CPU, ${(statements / requests).toFixed(1)} SQL`;
    const ratios = rates[at].map((rate, round) =>
      better === 'more' ? rate / rates[0][round] : rates[0][round] / rate,
    );
    const [low, high] = range(ratios);
    const ratio =
      at === 0
        ? ''
        : `  ours/this: ${(1 / median(ratios)).toFixed(2)} (${(1 / high).toFixed(2)} to ${(1 / low).toFixed(2)})`;
    const wanted = peer.goal ?? goal;
    const value = median(rates[at]);
    console.log(
      `  ${peer.name.padEnd(38)} ${value.toFixed(value < 100 ? 2 : 0).padStart(9)} ${unit}  ${each}${ratio}${at && wanted ? `  goal: ${wanted}` : ''}`,
    );
  }
}

const themes = makeTheme();
writeSecrets();
build('pluginServer', 'host');
pin(process.pid, 1);
const database = await databases[options.database]();
const host = await startHost(database.env, themes);
pin(host.pid, 0);
try {
  await host.run((strapi) => {
    globalThis.benchStatements = 0;
    strapi.db.connection.on('query', () => {
      globalThis.benchStatements += 1;
    });
  });
  console.log(
    `${options.database}, ${records} records, ${rounds} rounds of ${seconds} s, Node.js ${process.versions.node}`,
  );
  const seed = await seedHttp(host);
  for (const scenario of httpScenarios(host, seed)) await compare(host, scenario);
  for await (const line of storeScenarios(host, { records, client: options.database, only: options.only, without }))
    console.log(line);
} finally {
  await host.stop();
  await database.drop();
  rmSync(themes, { recursive: true, force: true });
}
