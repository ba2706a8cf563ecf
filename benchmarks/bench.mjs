/**
 * This plugin beside its peers: `npm run bench -- [--quick] [--large] [--parts] [--only a,b] [--servers a,b] [--databases a,b]
 * [--report FOLDER]`. Writes report.md and a picture for each scenario. README.md tells the method and how peers are installed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build, writeSecrets } from '../scripts/prepare.mjs';
import { scenarios } from './scenarios.mjs';
import { servers } from './servers/index.mjs';
import { onCore, pin } from './support/host.mjs';
import { measure, warmUp } from './support/measure.mjs';
import { measureJobs, measureParts } from './support/parts.mjs';
import { startPostgres } from './support/postgres.mjs';
import { treeMemory } from './support/process-tree.mjs';
import { writeReport } from './support/report.mjs';
import { startServers } from './support/start.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const say = (text) => console.log(text);

const { values: given } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    parts: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    servers: { type: 'string', default: Object.keys(servers).join() },
    databases: { type: 'string', default: 'sqlite,postgres' },
    report: { type: 'string', default: here },
  },
});
const options = {
  ...(given.quick
    ? { rounds: 2, seconds: 0.5, warm: 0.3, first: 1, rest: 1 }
    : { rounds: 5, seconds: 0.9, warm: 0.8, first: 4, rest: 15 }),
  arguments: process.argv.slice(2).join(' '),
};

/** The names of a list that is given as an option. @throws for one that does not exist */
function listed(option, allowed) {
  const names = given[option].split(',');
  const wrong = names.find((name) => !allowed.includes(name));
  if (wrong !== undefined) throw new Error(`--${option}: '${wrong}' is none of ${allowed.join(', ')}`);
  return names;
}

const wantedServers = listed('servers', Object.keys(servers));
const databases = listed('databases', ['sqlite', 'postgres']);
const wanted = scenarios.filter(
  ({ id, needs }) => given.only.split(',').some((part) => id.includes(part)) && (needs !== 'large' || given.large),
);
if (wanted.length === 0) throw new Error(`--only: there is no scenario '${given.only}'`);
const names = ['notes', 'created', ...new Set(wanted.flatMap(({ needs }) => needs ?? []))];

/** Measures the scenarios on all servers that start. @returns what writeReport needs of it */
async function compare(work) {
  const command = onCore(0);
  const postgres = databases.includes('postgres')
    ? await startPostgres(command).catch((error) => error.message)
    : 'not asked for';
  const started = await startServers({ servers: wantedServers, databases, names, work, postgres, command, say });
  try {
    for (const server of started.running) server.memory = { start: treeMemory(server.pid) };
    await warmUp(started.running, options.first);
    const results = [];
    for (const scenario of wanted) {
      if (!started.running.some(({ requests }) => requests[scenario.id])) continue;
      say(`\n${scenario.title}`);
      const result = await measure(scenario, started.running, { ...options, postgres });
      results.push(result);
      const unit = scenario.unit ?? 'requests/s';
      for (const { server, rate, reason } of result.rows)
        say(`  ${server.title.padEnd(28)} ${reason ?? `${rate.toFixed(0).padStart(8)} ${unit}`}`);
    }
    for (const server of started.running) server.memory.end = treeMemory(server.pid);
    await new Promise((done) => setTimeout(done, options.rest * 1000));
    for (const server of started.running) server.memory.rest = treeMemory(server.pid);
    return { results, postgres, pinned: command('true')[0] === 'taskset', ...started };
  } finally {
    for (const server of started.running) await server.stop();
    if (typeof postgres !== 'string') await postgres.stop();
  }
}

const began = performance.now();
writeSecrets();
build('pluginServer', 'host');
const work = mkdtempSync(join(tmpdir(), 'apps-bench-'));
// The servers end with this process, however it ends.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
process.once('exit', () => rmSync(work, { recursive: true, force: true }));
pin(process.pid, 1);
const found = await compare(work);
pin(process.pid, `0-${cpus().length - 1}`);
const parts = [...(given.only ? [] : measureJobs(say)), ...(given.parts ? measureParts(say) : [])];
const took = (performance.now() - began) / 1000;
writeReport(given.report, { ...found, options, parts, took, date: new Date().toISOString() });
say(`\n${join(given.report, 'report.md')}: written after ${Math.round(took)} s`);
process.exit(0);
