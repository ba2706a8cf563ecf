/**
 * What blocks cost a page of the site: the same page without blocks, with three by the tag `block`, with three by theme
 * rules, and a page of the same size by Liquid in bare Koa. One request after the other, alternately; medians of the
 * time that a client measures. `node benchmarks/site.mjs [requests]`.
 *
 * Goal: at most 2 ms a block at the median.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Koa from 'koa';
import { Liquid } from 'liquidjs';
import { writeFiles } from '../scripts/files.mjs';
import { build } from '../scripts/prepare.mjs';
import { startHost } from './support/host.mjs';
import { quantile } from './support/statistics.mjs';

const requests = Number(process.argv[2] ?? 400);
const work = mkdtempSync(join(tmpdir(), 'apps-bench-'));
const ids = ['one', 'two', 'three'];

const text = '<p>The quick brown fox jumps over the lazy dog.</p>\n'.repeat(60);
const layout = `<!doctype html>
<html lang="en"><head><title>{{ context.portal.title }}</title></head>
<body><main>{{ main }}</main><aside></aside></body></html>`;

const files = {
  'layout.html': layout,
  'templates/portal.html': `<h1>{{ context.portal.title }}</h1>{% for n in (1..5) %}<i>{{ n }}</i>{% endfor %}\n${text}
{% if context.request.query.by == 'tag' %}${ids.map((id) => `{% block "bench/blocks/${id}" %}`).join('')}{% endif %}
{% if context.request.query.by == 'rules' %}<b class="rules"></b>{% endif %}`,
  'rules.yaml': ids
    .map((id) => `- { append: aside, include: /@@apps/bench/blocks/${id}, if_content: .rules }\n`)
    .join(''),
  ...Object.fromEntries(
    ids.flatMap((id) => [
      [`apps/bench/blocks/${id}.html`, '<p>{total} {name}</p>'],
      [`apps/bench/blocks/${id}.yaml`, 'elements: { total: BASIC, name: TEXT }\n'],
      [
        `apps/bench/blocks/${id}.js`,
        `export function total({ app }) { return String(app.get_record('${id}')?.get('total', 0) ?? 0); }\n`,
      ],
    ]),
  ),
};

/** The page without blocks, by Liquid in Koa. */
async function startKoa() {
  const liquid = new Liquid({ outputEscape: 'escape' });
  const template = liquid.parse(files['templates/portal.html'].replace(/\{% if[\s\S]*/, ''));
  const frame = liquid.parse(layout.replace('{{ main }}', '{{ main | raw }}'));
  const app = new Koa();
  app.use(async (ctx) => {
    const context = { portal: { title: 'Bench' }, request: { query: ctx.query } };
    ctx.body = await liquid.render(frame, { context, main: await liquid.render(template, { context }) });
  });
  const server = app.listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function timed(url) {
  return new Promise((resolve, reject) => {
    const begin = performance.now();
    get(url, { agent, headers: { accept: 'text/html' } }, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ time: performance.now() - begin, body, status: response.statusCode }));
    }).on('error', reject);
  });
}

/** The median, and the fastest tenth: the time on an otherwise idle machine. */
const parts = { median: 0.5, 'fastest tenth': 0.1 };

async function main() {
  build('pluginServer', 'host');
  writeFiles(join(work, 'themes', 'bench'), files);
  const database = { DATABASE_CLIENT: 'sqlite', DATABASE_FILENAME: join(work, 'data.db') };
  const [host, koa] = [await startHost(database, join(work, 'themes')), await startKoa()];
  const variants = [
    { name: 'Liquid in bare Koa', url: koa.url, blocks: 0 },
    { name: 'site page, no block', url: `${host.url}/site/`, blocks: 0 },
    { name: 'three by the tag', url: `${host.url}/site/?by=tag`, blocks: 3 },
    { name: 'three by rules', url: `${host.url}/site/?by=rules`, blocks: 3 },
  ].map((variant) => ({ ...variant, times: [] }));
  try {
    for (let round = -50; round < requests; round += 1) {
      for (const { url, blocks, times } of variants) {
        const { time, body, status } = await timed(url);
        const found = body.split('class="apps-block"').length - 1;
        if (status !== 200 || found !== blocks) throw new Error(`${url}: ${status}, ${found} blocks`);
        if (round >= 0) times.push(time);
      }
    }
    for (const [what, part] of Object.entries(parts)) {
      console.log(what);
      const base = quantile(variants[1].times, part);
      for (const { name, blocks, times } of variants) {
        const time = quantile(times, part);
        const each = blocks > 0 ? `, ${((time - base) / blocks).toFixed(2)} ms a block` : '';
        console.log(`  ${name.padEnd(20)} ${time.toFixed(2).padStart(6)} ms${each}`);
      }
    }
  } finally {
    await host.stop();
    koa.stop();
    agent.destroy();
    rmSync(work, { recursive: true, force: true });
  }
}

await main();
