/**
 * What one call of `api.documents()` takes of the server's main thread, by the shape of its query: a host with related
 * articles, one request after the other, each with one call. `node benchmarks/content-queries.mjs [--shape pattern] [--rounds N]`.
 *
 * Goal: no call that is accepted takes more than some tens of milliseconds.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFiles } from '../scripts/files.mjs';
import { build, root, writeSecrets } from '../scripts/prepare.mjs';
import { startHost } from './support/host.mjs';
import { median } from './support/statistics.mjs';

const { values: options } = parseArgs({
  options: { shape: { type: 'string', default: '' }, rounds: { type: 'string', default: '5' } },
});
const rounds = Number(options.rounds);

/** Milliseconds of a call after which its shape is not tried in larger sizes. */
const MAX_TIME = 300;

const list = (length, make) => Array.from({ length }, (_, at) => make(at));
const nested = (levels, inner, wrap) => list(levels, () => 0).reduce((value) => wrap(value), inner);
const title = (at) => ({ title: { $contains: `x${at}` } });
const related = (inner) => ({ related: inner });
const deep = (levels) => nested(levels, '*', (populate) => ({ related: { populate } }));

/** Parameters of a call by its name and size; the largest sizes that are accepted belong to the limits. */
const shapes = {
  'or of conditions': [[10, 20, 50, 60, 120, 124], (n) => ({ filters: { $or: list(n, title) } })],
  'or of short conditions': [
    [20, 50, 100, 200, 240],
    (n) => ({ filters: { $or: list(n, (at) => ({ title: `x${at}` })) } }),
  ],
  'values of $in': [[50, 100, 200, 500, 999], (n) => ({ filters: { title: { $in: list(n, (at) => `x${at}`) } } })],
  '$in with long texts': [
    [10, 50, 90],
    (n) => ({ filters: { title: { $in: list(n, (at) => `${at}`.padEnd(1000, 'x')) } } }),
  ],
  'nested $not': [[5, 10, 20, 45], (n) => ({ filters: nested(n, { title: 'x' }, ($not) => ({ $not })) })],
  'nested $and': [[5, 10, 22], (n) => ({ filters: nested(n, { title: 'x' }, (one) => ({ $and: [one] })) })],
  'or over a relation': [[1, 2, 3], (n) => ({ filters: { $or: list(n, (at) => related(title(at))) } })],
  'deep relation in filters': [[1, 2, 3], (n) => ({ filters: nested(n, { title: 'x' }, related) })],
  'or over deep relations': [[1], (n) => ({ filters: { $or: list(n, (at) => related(related(title(at)))) } })],
  'deep populate': [[1, 2, 3], (n) => ({ limit: 1, populate: deep(n) })],
  'deep populate, dots': [[1, 2, 3], (n) => ({ limit: 1, populate: [list(n, () => 'related').join('.')] })],
  'populate of many names': [[10, 50, 200], (n) => ({ limit: 1, populate: list(n, () => 'related') })],
  'populate with filters': [
    [5, 20, 60],
    (n) => ({ limit: 10, populate: { related: { filters: { $or: list(n, title) } } } }),
  ],
  'sort by relations': [[1, 2, 3], (n) => ({ limit: 10, sort: list(n, () => 'related.title') })],
  'sort by fields': [[1, 5, 20], (n) => ({ limit: 10, sort: list(n, (at) => ['title', 'slug', 'summary'][at % 3]) })],
  fields: [[5, 50, 250], (n) => ({ limit: 10, fields: list(n, (at) => ['title', 'slug', 'summary', 'body'][at % 4]) })],
  entries: [[1, 10, 25, 50, 100, 250, 1000], (n) => ({ limit: n })],
  'entries with tiles and relations': [[1, 5, 10, 25, 50, 100], (n) => ({ limit: n, populate: '*' })],
  'entries with relations twice': [[1, 5, 10, 25], (n) => ({ limit: n, populate: { related: { populate: '*' } } })],
};

/** One block that makes the call of its request's body. */
const files = {
  'one.yaml': 'elements: { f: BASIC }\n',
  'one.js': `export function f({ api, request }) {
  const { method = 'findMany', params } = request.body;
  const found = api.documents('api::article.article')[method](params);
  return Array.isArray(found) ? found.length : found;
}\n`,
};

/** Articles with 20 tiles and 20 related articles each, readable by anyone. */
async function seed(strapi, count) {
  const { performance, monitorEventLoopDelay } = process.getBuiltinModule('node:perf_hooks');
  const delay = monitorEventLoopDelay({ resolution: 2 });
  delay.enable();
  globalThis.begin = () => {
    globalThis.before = performance.eventLoopUtilization();
    delay.reset();
  };
  globalThis.end = () => [performance.eventLoopUtilization(globalThis.before).active, delay.max / 1e6];
  const roles = strapi.db.query('plugin::users-permissions.role');
  const role = await roles.findOne({ where: { type: 'public' } });
  for (const action of ['find', 'findOne'])
    await strapi.db
      .query('plugin::users-permissions.permission')
      .create({ data: { action: `api::article.article.${action}`, role: role.id } });
  const articles = strapi.documents('api::article.article');
  const ids = [];
  for (let at = 0; at < count; at += 1) {
    const tiles = Array.from({ length: 20 }, () => ({ __component: 'tiles.block', block: 'bench/blocks/one' }));
    const data = { title: `Article ${at}`, slug: `a${at}`, summary: 's'.repeat(100), body: 'b'.repeat(1000), tiles };
    data.related = ids.slice(-20);
    const made = await articles.create({ data, status: 'published' });
    ids.push(made.documentId);
  }
}

async function main() {
  writeSecrets();
  build('pluginServer', 'host');
  const themes = mkdtempSync(join(tmpdir(), 'apps-bench-themes-'));
  writeFiles(join(themes, 'bench', 'apps', 'bench', 'blocks'), files);
  const work = mkdtempSync(join(tmpdir(), 'apps-bench-'));
  const host = await startHost(
    {
      DATABASE_CLIENT: 'sqlite',
      DATABASE_FILENAME: join(work, 'data.db'),
      NODE_OPTIONS: `--require ${join(root, 'tests', 'support', 'configure.cjs')}`,
      TEST_RELATED: 'true',
    },
    themes,
  );
  try {
    await host.run(seed, 300);
    const token = (await fetch(`${host.url}/site/@@apps/bench`)).headers.get('x-csrf-token');
    const call = async (params) => {
      await host.run(() => globalThis.begin());
      const answer = await fetch(`${host.url}/site/@@apps/bench/blocks/one/f`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', 'x-csrf-token': token },
        body: JSON.stringify({ params }),
        signal: AbortSignal.timeout(20_000),
      });
      const text = await answer.text();
      const [active, longest] = await host.run(() => globalThis.end());
      return { status: answer.status, text, active, longest };
    };
    for (let at = 0; at < 20; at += 1) await call({ limit: 1 });
    for (const [name, [sizes, make]] of Object.entries(shapes)) {
      if (!new RegExp(options.shape).test(name)) continue;
      for (const size of sizes) {
        const found = [];
        for (let round = 0; round < rounds; round += 1) found.push(await call(make(size)));
        const { status, text } = found.at(-1);
        const ms = (key) => Number(median(found.map((one) => one[key])).toFixed(1));
        const first = Number(found[0].active.toFixed(1));
        const row = {
          shape: name,
          size,
          active: ms('active'),
          first,
          longest: ms('longest'),
          status,
          text: text.slice(0, 60),
        };
        console.log(Object.values(row).join('  '));
        // Larger ones take minutes, where the cost is that of all combinations.
        if (row.active > MAX_TIME) break;
      }
    }
  } finally {
    await host.stop();
    for (const folder of [themes, work]) rmSync(folder, { recursive: true, force: true });
  }
}

await main();
process.exit(0);
