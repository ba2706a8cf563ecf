/**
 * Jobs a second on each database, beside pg-boss on the same PostgreSQL:
 * `node benchmarks/jobs.mjs [--databases sqlite,postgres,mysql] [--jobs N] [--rounds N]`. Each round stores the jobs, a hundred in a
 * transaction, and waits until all are done; the plugin and pg-boss take turns, and the median of the rounds counts, of their ratio
 * too. Both do two jobs at once. pg-boss (`npm run bench:install`) calls a handler that does nothing, without a sandbox, rights or a
 * transaction: the row `nothing` is its peer, a function of an app that does nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFiles } from '../scripts/files.mjs';
import { build, writeSecrets } from '../scripts/prepare.mjs';
import { startBoss } from './peers/boss.mjs';
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

/** What the plugin is to reach of pg-boss's jobs a second. */
const goal = 1;

const logic = `export function nothing() {}
export function record(context) { context.app.create_record().save({ n: context.params.n }); }
`;

/** Stores jobs that call a function and waits until they are done. Runs in the host. @returns seconds */
async function round(strapi, name, jobs) {
  const { enqueue } = strapi.plugin('apps').service('apps');
  const rows = strapi.db.query('plugin::apps.job');
  // Cheap, however many are done already: counting those would take time from the database that is measured.
  const isBusy = async () => (await rows.findOne({ where: { state: ['waiting', 'running'] } })) !== null;
  const done = () => rows.count({ where: { state: 'done' } });
  const before = await done();
  const began = performance.now();
  for (let at = 0; at < jobs; at += 100) {
    const some = Array.from({ length: Math.min(100, jobs - at) }, (_, n) => at + n);
    const one = (n) => enqueue({ app: 'work', block: 'work', function: name, params: { n } });
    await strapi.db.transaction(() => Promise.all(some.map(one)));
  }
  while (await isBusy()) await new Promise((resolve) => setTimeout(resolve, 20));
  const seconds = (performance.now() - began) / 1_000;
  const made = (await done()) - before;
  if (made !== jobs) throw new Error(`${made} of ${jobs} jobs are done`);
  return seconds;
}

const median = (list) => [...list].sort((one, other) => one - other)[list.length >> 1];

/** The ways to do jobs on a database, each a function from the number of a round to seconds. */
async function waysOn(name, host, env) {
  const own = (called) => ({
    title: `${name}: ${called}, two workers`,
    work: () => host.run(round, called, jobs),
  });
  const nothing = own('nothing');
  const record = own('record');
  if (name !== 'postgres') return { ways: [nothing, record], stop: async () => {} };
  const boss = await startBoss(env, jobs).catch((error) => console.log(`pg-boss: ${error.message}`));
  return { ways: [nothing, ...(boss?.ways ?? []), record], stop: async () => boss?.stop() };
}

async function measure(name) {
  const database = await databases[name]().catch((error) => console.log(`${name}: cannot run: ${error.message}`));
  if (!database) return;
  const themes = mkdtempSync(join(tmpdir(), 'apps-bench-themes-'));
  writeFiles(join(themes, 'bench', 'apps', 'work'), { 'blocks/work.js': logic, 'blocks/work.yaml': 'elements: {}\n' });
  const host = await startHost(database.env, themes);
  const { ways, stop } = await waysOn(name, host, database.env);
  try {
    const taken = ways.map(() => []);
    // The first round warms up.
    for (let at = 0; at <= rounds; at += 1)
      for (const [way, { work }] of ways.entries()) taken[way].push(await work(at));
    const rates = taken.map((seconds) => jobs / median(seconds.slice(1)));
    for (const [way, { title, peer, reason }] of ways.entries()) {
      console.log(`${title.padEnd(58)} ${Math.round(rates[way])} jobs/s`);
      if (!peer) continue;
      const ratio = median(taken[way].slice(1).map((seconds, at) => seconds / taken[0][at + 1]));
      const isMet = ratio >= goal;
      const text = `plugin / pg-boss ${ratio.toFixed(2)}, goal ${goal.toFixed(1)}: ${isMet ? 'met' : 'missed'}`;
      console.log(`  ${peer}: ${text}`);
      if (!isMet) console.log(`  Why: ${reason}`);
    }
  } finally {
    await stop();
    await host.stop();
    await database.drop();
    rmSync(themes, { recursive: true, force: true });
  }
}

writeSecrets();
build('pluginServer', 'host');
for (const name of options.databases.split(',')) await measure(name);
