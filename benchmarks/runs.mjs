/**
 * What it costs to keep runs: requests a second of a block with logic, ten at a time, where no run is kept, where the usual
 * number is kept in memory, and where they are in the database; alternately within a round, each on a server of its own.
 * `node benchmarks/runs.mjs [--rounds N] [--seconds N]`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFiles } from '../scripts/files.mjs';
import { build, root, writeSecrets } from '../scripts/prepare.mjs';
import { startHost } from './support/host.mjs';
import { load, requestText } from './support/load.mjs';
import { median, sorted } from './support/statistics.mjs';

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, seconds: { type: 'string', default: '2' } },
});
const [rounds, seconds] = [options.rounds, options.seconds].map(Number);

/** Settings `runs` by their names; the others are compared with the first. */
const settings = {
  'none kept': { keep: 0 },
  'kept in memory': {},
  'kept in the database': { store: 10_000 },
};

const work = mkdtempSync(join(tmpdir(), 'apps-bench-runs-'));

function makeTheme() {
  writeFiles(join(work, 'themes', 'bench', 'apps', 'bench', 'blocks'), {
    'two.yaml': 'elements: { one: BASIC, two: BASIC }\n',
    'two.html': '<p>{one} {two}</p>',
    'two.js': 'export function one() { return 1; }\nexport function two() { console.log("two"); return 2; }\n',
  });
  return join(work, 'themes');
}

function start(themes, [name, runs]) {
  const env = {
    DATABASE_CLIENT: 'sqlite',
    DATABASE_FILENAME: join(work, `${name}.db`),
    NODE_OPTIONS: `--require ${join(root, 'tests', 'support', 'configure.cjs')}`,
    TEST_APPS_CONFIG: JSON.stringify({ runs }),
  };
  return startHost(env, themes);
}

async function rate(host, time) {
  const text = requestText({ path: '/site/@@apps/bench/blocks/two', headers: { Accept: 'text/html' } });
  const { statuses, answered, seconds: took } = await load(host.url, () => text, { connections: 10, seconds: time });
  if (Object.keys(statuses).join() !== '200') throw new Error(`The block answered ${JSON.stringify(statuses)}`);
  return answered / took;
}

writeSecrets();
build('pluginServer', 'host');
const themes = makeTheme();
const hosts = [];
try {
  for (const setting of Object.entries(settings)) hosts.push(await start(themes, setting));
  for (const host of hosts) await rate(host, 1);
  const rates = hosts.map(() => []);
  for (let round = 0; round < rounds; round += 1)
    for (let turn = 0; turn < hosts.length; turn += 1) {
      // Each server is first as often as the others: the first of a round has a quieter machine.
      const at = (round + turn) % hosts.length;
      rates[at].push(await rate(hosts[at], seconds));
    }
  for (const [at, name] of Object.keys(settings).entries()) {
    const ratios = sorted(rates[at].map((one, round) => one / rates[0][round]));
    const spread = `${ratios[0].toFixed(3)} to ${ratios.at(-1).toFixed(3)}`;
    console.log(
      `${name.padEnd(22)} ${median(rates[at]).toFixed(0)} requests/s, ${median(ratios).toFixed(3)} (${spread})`,
    );
  }
} finally {
  for (const host of hosts) await host.stop();
  rmSync(work, { recursive: true, force: true });
}
process.exit(0);
