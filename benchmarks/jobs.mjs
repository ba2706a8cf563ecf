/**
 * Jobs a second on each database, beside pg-boss on the same PostgreSQL:
 * `node benchmarks/jobs.mjs [--databases sqlite,postgres,mysql] [--jobs N] [--rounds N]`. Each round stores the jobs and waits until all
 * are done; the median of the rounds counts. pg-boss (`npm run bench:install`) calls a handler that does nothing, without a sandbox and
 * without a transaction: the row `nothing` is its peer, a function of an app that does nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFiles } from '../scripts/files.mjs';
import { build, writeSecrets } from '../scripts/prepare.mjs';
import { packageFolder } from './peers/places.mjs';
import { databases } from './records/databases.mjs';
import { startHost } from './support/host.mjs';

const { values: options } = parseArgs({
  options: {
    databases: { type: 'string', default: 'sqlite,postgres,mysql' },
    jobs: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '3' },
  },
});
const jobs = Number(options.jobs);
const rounds = Number(options.rounds);

const median = (list) => [...list].sort((one, other) => one - other)[list.length >> 1];

const logic = `export function nothing() {}
export function record(context) { context.app.create_record().save({ n: context.params.n }); }
`;

/** Stores jobs that call a function, a hundred in a transaction, and waits until they are done. @returns seconds */
async function round(strapi, name, jobs) {
  const { enqueue } = strapi.plugin('apps').service('apps');
  const done = () => strapi.db.query('plugin::apps.job').count({ where: { state: 'done' } });
  const before = await done();
  const began = performance.now();
  for (let at = 0; at < jobs; at += 100) {
    const some = Array.from({ length: Math.min(100, jobs - at) }, (_, n) => at + n);
    await strapi.db.transaction(async () => {
      await Promise.all(some.map((n) => enqueue({ app: 'work', block: 'work', function: name, params: { n } })));
    });
  }
  const stored = performance.now();
  for (;;) {
    if ((await done()) >= before + jobs) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { all: (performance.now() - began) / 1_000, storing: (stored - began) / 1_000 };
}

const show = (name, seconds) => console.log(`${name.padEnd(58)} ${Math.round(jobs / seconds)} jobs/s`);

async function measure(name) {
  const themes = mkdtempSync(join(tmpdir(), 'apps-bench-themes-'));
  writeFiles(join(themes, 'bench', 'apps', 'work'), { 'blocks/work.js': logic, 'blocks/work.yaml': 'elements: {}\n' });
  const database = await databases[name]();
  const host = await startHost(database.env, themes);
  try {
    for (const called of ['nothing', 'record']) {
      const taken = [];
      for (let at = 0; at <= rounds; at += 1) taken.push(await host.run(round, called, jobs));
      show(`${name}: ${called}, stored and done`, median(taken.slice(1).map(({ all }) => all)));
      show(`${name}: ${called}, stored`, median(taken.slice(1).map(({ storing }) => storing)));
    }
    if (name === 'postgres') await measureBoss(database.env);
  } finally {
    await host.stop();
    await database.drop();
    rmSync(themes, { recursive: true, force: true });
  }
}

/** pg-boss in two ways: its workers with batches, and two loops that take one job each, as workers here do. */
async function measureBoss(env) {
  let Boss;
  try {
    Boss = createRequire(import.meta.url)(packageFolder('boss', 'pg-boss'));
  } catch (error) {
    return console.log(`pg-boss: ${error.message}`);
  }
  const boss = new Boss({
    host: env.DATABASE_HOST,
    port: Number(env.DATABASE_PORT),
    user: env.DATABASE_USERNAME,
    password: env.DATABASE_PASSWORD,
    database: env.DATABASE_NAME,
  });
  await boss.start();
  const store = async (queue) => {
    for (let at = 0; at < jobs; at += 100)
      await boss.insert(Array.from({ length: 100 }, (_, n) => ({ name: queue, data: { n: at + n } })));
  };
  const byWorkers = async (at) => {
    const queue = `work-${at}`;
    await boss.createQueue(queue);
    const began = performance.now();
    await store(queue);
    let done = 0;
    await new Promise((resolve) => {
      const take = async (batch) => {
        done += batch.length;
        if (done === jobs) resolve();
      };
      for (const _ of [1, 2]) boss.work(queue, { batchSize: 100, pollingIntervalSeconds: 0.5 }, take);
    });
    const seconds = (performance.now() - began) / 1_000;
    await boss.offWork(queue);
    return seconds;
  };
  const byLoops = async (at) => {
    const queue = `loop-${at}`;
    await boss.createQueue(queue);
    const began = performance.now();
    await store(queue);
    const loop = async () => {
      for (let [job] = await boss.fetch(queue); job; [job] = await boss.fetch(queue))
        await boss.complete(queue, job.id);
    };
    await Promise.all([loop(), loop()]);
    return (performance.now() - began) / 1_000;
  };
  try {
    for (const [name, work] of [
      ['two loops that fetch and complete one job', byLoops],
      ['two workers, batches of 100, every 0.5 s', byWorkers],
    ]) {
      const taken = [];
      for (let at = 0; at <= rounds; at += 1) taken.push(await work(at));
      show(`pg-boss: ${name}`, median(taken.slice(1)));
    }
  } finally {
    await boss.stop({ graceful: false });
  }
}

writeSecrets();
build('pluginServer', 'host');
for (const name of options.databases.split(',')) await measure(name);
