/**
 * What logic costs: blocks with two functions and four host calls, in JavaScript and in Python, against a bare root
 * route of the same Strapi; one request after the other and ten at a time, alternately within a round. Then the
 * processor time by process, and the memory of the runner processes. `npm run bench:logic -- [--rounds N] [--seconds N]`.
 *
 * Goals: JavaScript at least 0.35 of the bare route's requests a second on two cores; Python at most 3 times the time of
 * JavaScript at the median, and at most twice where it reads 7,500 records.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFiles } from '../scripts/files.mjs';
import { build, writeSecrets } from '../scripts/prepare.mjs';
import { memoryOf, processorTime, startHost } from './support/host.mjs';
import { load, requestText } from './support/load.mjs';
import { median, range } from './support/statistics.mjs';

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '2' } },
});
const [rounds, seconds] = [options.rounds, options.seconds].map(Number);

const calls = (ids) => ids.map((id) => `app.get_record('${id}');`).join(' ');
const block = (one, two) => `export function one({ app }) { ${one} return 1; }
export function two({ app }) { ${two} return 2; }\n`;
const fifty = "for (let call = 0; call < 50; call += 1) app.get_record('one');";

/** Blocks by id, as the text of their logic. */
const blocks = {
  'none.html': '',
  'empty.js': block('', ''),
  'four.js': block(calls(['one', 'two']), calls(['three', 'four'])),
  'hundred.js': block(fifty, fifty),
  'four-python.py': `def one(context):
    context.app.get_record('one')
    context.app.get_record('two')
    return 1

def two(context):
    context.app.get_record('three')
    context.app.get_record('four')
    return 2\n`,
};
/** Blocks that read MANY records, one request at a time. */
const MANY = 7500;
const many = {
  'many.js': 'export const sum = ({ app }) => app.records().reduce((sum, { tags }) => sum + tags.length, 0);\n',
  'many-python.py':
    'def sum(context):\n    return len([tag for record in context.app.records() for tag in record["tags"]])\n',
};
const idOf = (file) => file.replace(/\..*/, '');

function makeTheme() {
  const themes = mkdtempSync(join(tmpdir(), 'apps-bench-themes-'));
  const folder = join(themes, 'bench', 'apps', 'bench', 'blocks');
  for (const [file, text] of Object.entries(blocks))
    writeFiles(folder, {
      [`${idOf(file)}.yaml`]: 'elements: { one: BASIC, two: BASIC }\n',
      [`${idOf(file)}.html`]: '<p>{one} {two}</p>',
      ...(text && { [file]: text }),
    });
  for (const [file, text] of Object.entries(many))
    writeFiles(folder, {
      [`${idOf(file)}.yaml`]: 'elements: { sum: BASIC }\n',
      [`${idOf(file)}.html`]: '<p>{sum}</p>',
      [file]: text,
    });
  return themes;
}

/** A bare route, and the records that the blocks read. */
async function seed(strapi, many) {
  strapi.server.router.get('/bare', (ctx) => {
    ctx.body = '<p>1 2</p>';
  });
  const store = strapi.plugin('apps').service('records').store();
  await store.transact(async (unit) => {
    for (const id of ['one', 'two', 'three', 'four'])
      await unit.create({ site: 'site', app: 'bench' }, { id, items: { total: 1, tags: [] }, creator: null });
  });
  const items = { tags: ['a', 'b'], text: 'some words of a visitor' };
  const records = Array.from({ length: many }, (_, total) => ({ items: { total, ...items }, creator: null }));
  await store.createMany({ site: 'site', app: 'bench' }, { read: () => [records] });
}

/** The host's runner processes. */
function runnersOf(pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
}

/** One measurement: requests a second, and milliseconds of processor time a request, by process. */
async function measure(host, path, connections, time) {
  const text = requestText({ path, headers: { Accept: 'text/html' } });
  const cpu = () => ({
    server: processorTime(host.pid),
    runners: runnersOf(host.pid).reduce((sum, pid) => sum + processorTime(pid), 0),
    load: processorTime(process.pid),
  });
  const before = cpu();
  const { statuses, answered, seconds: took } = await load(host.url, () => text, { connections, seconds: time });
  if (Object.keys(statuses).join() !== '200') throw new Error(`${path} answered ${JSON.stringify(statuses)}`);
  const after = cpu();
  const each = (who) => ((after[who] - before[who]) / answered) * 1000;
  return { rate: answered / took, server: each('server'), runners: each('runners'), load: each('load') };
}

async function main() {
  writeSecrets();
  build('pluginServer', 'host');
  const themes = makeTheme();
  const work = mkdtempSync(join(tmpdir(), 'apps-bench-'));
  const database = { DATABASE_CLIENT: 'sqlite', DATABASE_FILENAME: join(work, 'data.db') };
  const host = await startHost(database, themes);
  try {
    await host.run(seed, MANY);
    const at = (id) => `/site/@@apps/bench/blocks/${id}`;
    const paths = {
      bare: '/bare',
      ...Object.fromEntries(Object.keys(blocks).map((file) => [idOf(file), at(idOf(file))])),
    };
    for (const path of Object.values(paths)) await measure(host, path, 10, 1);
    const found = Object.fromEntries(Object.keys(paths).map((name) => [name, { alone: [], ten: [], ratios: [] }]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, path] of Object.entries(paths)) {
        found[name].alone.push((await measure(host, path, 1, seconds / 2)).rate);
        found[name].ten.push(await measure(host, path, 10, seconds));
        found[name].ratios.push(found[name].ten[round].rate / found.bare.ten[round].rate);
      }
    }
    report(found);
    const took = {};
    for (const file of Object.keys(many))
      took[file] = 1000 / (await measure(host, at(idOf(file)), 1, seconds * 2)).rate;
    console.log(
      `${MANY} records with lists: JavaScript ${took['many.js'].toFixed(0)} ms, Python ${took['many-python.py'].toFixed(0)} ms`,
    );
    const memory = () =>
      runnersOf(host.pid)
        .reduce((sum, pid) => sum + memoryOf(pid), 0)
        .toFixed(0);
    const busy = memory();
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    console.log(`Runners: ${busy} MB after the load, ${memory()} MB idle`);
  } finally {
    await host.stop();
    for (const folder of [themes, work]) rmSync(folder, { recursive: true, force: true });
  }
}

function report(found) {
  const row = ({ alone, ten, ratios }) => ({
    'ms, alone': 1000 / median(alone),
    'requests/s of ten': Math.round(median(ten.map(({ rate }) => rate))),
    'of bare': median(ratios),
    lowest: range(ratios)[0],
    highest: range(ratios)[1],
    ...Object.fromEntries(
      ['server', 'runners', 'load'].map((who) => [`${who}, ms CPU`, median(ten.map((one) => one[who]))]),
    ),
  });
  const rounded = (values) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Number(value.toFixed(3))]));
  const rows = Object.fromEntries(Object.entries(found).map(([name, one]) => [name, row(one)]));
  console.table(Object.fromEntries(Object.entries(rows).map(([name, one]) => [name, rounded(one)])));
  const ms = (name) => rows[name]['ms, alone'];
  console.table(
    rounded({
      'a block without logic, ms': ms('none'),
      'runner process and fresh context, ms': ms('empty') - ms('none'),
      'a host call, ms': (ms('hundred') - ms('empty')) / 100,
      'Python, as a multiple of JavaScript': ms('four-python') / ms('four'),
    }),
  );
}

await main();
process.exit(0);
