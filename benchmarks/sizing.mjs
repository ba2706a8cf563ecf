/**
 * Requests a second on half a processor, on one and on two, measured, and predicted by a queueing model that was given one point
 * of the measured curve: `node benchmarks/sizing.mjs [--only get,create] [--seconds N] [--rounds N]`. PostgreSQL, on the
 * processors of the server, as on a small machine; nothing is kept (`exactCache: false`).
 *
 * One processor: server, runner and PostgreSQL on core 0, the load on core 1. Half a processor: the same beside a busy loop on core
 * 0. Two processors: two server processes and PostgreSQL on both cores, and the load too; the model counts it.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, writeSecrets } from '../scripts/prepare.mjs';
import { plugin } from './servers/plugin.mjs';
import { load } from './support/autocannon.mjs';
import { onCore, pin } from './support/host.mjs';
import { startPostgres } from './support/postgres.mjs';
import { timeOf, treeOf, treeTime } from './support/process-tree.mjs';
import { simulate } from './support/queueing.mjs';
import { median } from './support/statistics.mjs';

const { values: given } = parseArgs({
  options: {
    only: { type: 'string', default: 'get,create,function-one,page-logic' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
  },
});
const scenarios = given.only.split(',');
const seconds = Number(given.seconds);
const rounds = Number(given.rounds);

/** Connections at which the model is calibrated, on one processor. */
const calibrated = 8;
const curve = [1, 2, 4, 8, 16, 32, 64];

/** The weight of a runner for the scheduler: it has three steps of priority less than the server. */
const runnerWeight = 526 / 1024;

const allCores = `0-${cpus().length - 1}`;

/** Requests a second and milliseconds at the median over some connections, to each of the servers. */
async function loadOn(servers, id, connections) {
  const some = servers.slice(0, connections);
  const each = await Promise.all(
    some.map(({ url }, at) => {
      const share = Math.floor((connections + at) / some.length);
      return load(url, servers[0].requests[id], { connections: share, seconds });
    }),
  );
  return {
    rate: each.reduce((sum, { rate }) => sum + rate, 0),
    p50: median(each.map(({ p50 }) => p50)),
    answers: each.reduce((sum, { answers }) => sum + answers, 0),
  };
}

/** The curve of a scenario: medians of the rounds, by connections. */
async function measureCurve(servers, id, points) {
  const found = new Map();
  for (const connections of points) {
    const turns = [];
    for (let round = 0; round < rounds; round += 1) turns.push(await loadOn(servers, id, connections));
    found.set(connections, { rate: median(turns.map(({ rate }) => rate)), p50: median(turns.map(({ p50 }) => p50)) });
  }
  return found;
}

/** Milliseconds of processor time that a request takes in each process, at the calibrated number of connections. */
async function demandsOf(server, postgres, id) {
  const children = () => treeOf(server.pid).slice(1);
  const times = () => ({
    server: timeOf(server.pid),
    runner: sum(children().map(timeOf)),
    database: treeTime([postgres.pid]),
  });
  const [before, ownBefore] = [times(), process.cpuUsage()];
  const { answers } = await loadOn([server], id, calibrated);
  const [after, own] = [times(), process.cpuUsage(ownBefore)];
  const each = (name) => ((after[name] - before[name]) / answers) * 1000;
  return {
    server: each('server'),
    runner: each('runner'),
    database: each('database'),
    client: (own.user + own.system) / 1000 / answers,
  };
}

const sum = (list) => list.reduce((total, one) => total + one, 0);

/** Predicts requests a second. @param setup `half`, `one` or `two`, as measured */
function predict(demands, wait, setup, clients) {
  const count = setup === 'two' ? 2 : 1;
  const pools = {
    servers: { processors: count, ...(setup === 'half' && { others: [1] }) },
    network: { processors: Number.POSITIVE_INFINITY },
    ...(setup !== 'two' && { client: { processors: 1 } }),
  };
  const many = Number.POSITIVE_INFINITY;
  const stations = {
    client: { pool: setup === 'two' ? 'servers' : 'client', threads: 1, weight: 1 },
    database: { pool: 'servers', threads: many, weight: 1 },
    network: { pool: 'network', threads: many, weight: 1 },
  };
  const routes = [];
  for (let at = 0; at < count; at += 1) {
    stations[`server${at}`] = { pool: 'servers', threads: 1, weight: 1 };
    stations[`runner${at}`] = { pool: 'servers', threads: many, weight: runnerWeight };
    const steps = [
      ['client', demands.client],
      ['network', wait],
      [`server${at}`, demands.server / 2],
      [`runner${at}`, demands.runner],
      ['database', demands.database],
      [`server${at}`, demands.server / 2],
    ];
    routes.push(steps.filter(([, time]) => time > 0.001).map(([station, milliseconds]) => ({ station, milliseconds })));
  }
  return simulate({ clients, pools, stations, routes, seconds: 30 }).rate;
}

function printRows(id, setup, measured, demands, wait) {
  for (const [connections, { rate, p50 }] of measured) {
    const predicted = predict(demands, wait, setup, connections);
    const error = ((predicted / rate - 1) * 100).toFixed(0);
    const cells = [id, setup, connections, rate.toFixed(0), p50.toFixed(1), predicted.toFixed(0), `${error} %`];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

/** A loop on core 0 that never ends. */
function startBusyLoop() {
  const [program, ...args] = onCore(0)(process.execPath, ['-e', 'for (;;);']);
  const child = spawn(program, args, { stdio: 'ignore' });
  process.once('exit', () => child.kill('SIGKILL'));
  return () => child.kill('SIGKILL');
}

writeSecrets();
build('pluginServer', 'host');
const work = mkdtempSync(join(tmpdir(), 'apps-bench-'));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
process.once('exit', () => rmSync(work, { recursive: true, force: true }));
pin(process.pid, 1);
const postgres = await startPostgres(onCore(0));
const folder = join(work, 'plugin');
mkdirSync(folder);
const database = await postgres.create('bench');
const first = await plugin.start({ database, folder, command: onCore(0), names: ['notes', 'created'] });
const everywhere = (core) => {
  for (const pid of [first.pid, postgres.pid].flatMap(treeOf)) pin(pid, core);
};

const models = {};
console.log('| scenario | processors | connections | requests/s | ms at the median | predicted | error |');
console.log('|---|---|---|---|---|---|---|');
for (const id of scenarios) {
  await load(first.url, first.requests[id], { connections: 10, seconds: 3 });
  const measured = await measureCurve([first], id, curve);
  const demands = await demandsOf(first, postgres, id);
  // What one client waits for besides processors: wake-ups, the loopback, writing to disk.
  const wait = Math.max(0, measured.get(1).p50 - sum(Object.values(demands)));
  models[id] = { demands, wait };
  printRows(id, 'one', measured, demands, wait);
  const stopLoop = startBusyLoop();
  printRows(id, 'half', await measureCurve([first], id, [4, 16]), demands, wait);
  stopLoop();
}
const second = await first.another();
everywhere(allCores);
pin(second.pid, allCores);
pin(process.pid, allCores);
for (const id of scenarios) {
  const { demands, wait } = models[id];
  await load(second.url, first.requests[id], { connections: 10, seconds: 3 });
  printRows(id, 'two', await measureCurve([first, second], id, [2, 8, 32]), demands, wait);
}
console.log(JSON.stringify(models));
await second.stop();
await first.stop();
await postgres.stop();
process.exit(0);
