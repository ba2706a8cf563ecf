/**
 * What a history costs: requests and records a second of an app with `history: true` beside the same app without it, on each database,
 * in one run: `node benchmarks/history.mjs [--databases sqlite,postgres,mysql] [--requests N] [--rounds N] [--clients N]`. Both apps
 * take turns within a round; the median of the rounds counts. Each round creates records one by one, changes each of them once, and creates
 * as many at once.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFiles } from '../scripts/files.mjs';
import { build, writeSecrets } from '../scripts/prepare.mjs';
import { databases } from './records/databases.mjs';
import { startHost } from './support/host.mjs';
import { median } from './support/statistics.mjs';

const { values: options } = parseArgs({
  options: {
    databases: { type: 'string', default: 'sqlite,postgres,mysql' },
    requests: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
    clients: { type: 'string', default: '20' },
  },
});
const [requests, rounds, clients] = [options.requests, options.rounds, options.clients].map(Number);

/** A record with a text of some hundred characters, as a form has them. */
const items = (n) => ({ block: 'entry', title: `Entry ${n}`, total: n, text: 'some words of a visitor '.repeat(20) });

/** Sends requests, several at once. @returns requests a second */
async function rate(count, send) {
  const began = performance.now();
  let next = 0;
  const client = async () => {
    for (let n = next++; n < count; n = next++) await send(n);
  };
  await Promise.all(Array.from({ length: clients }, client));
  return (count * 1_000) / (performance.now() - began);
}

async function measure(name) {
  const themes = mkdtempSync(join(tmpdir(), 'apps-bench-themes-'));
  for (const app of ['kept', 'plain'])
    writeFiles(join(themes, 'bench', 'apps', app), {
      'settings.yaml': `acl: { rights: { editor: ['*'] } }\n${app === 'kept' ? 'history: true\n' : ''}`,
      'blocks/entry.yaml': 'elements: { title: { type: TEXT, index_type: field }, total: NUMBER, text: TEXTAREA }\n',
    });
  const database = await databases[name]();
  const host = await startHost(database.env, themes);
  try {
    const at = (app) => `${host.url}/site/@@apps/${app}`;
    const token = (await fetch(at('plain'), { headers: { accept: 'application/json' } })).headers.get('x-csrf-token');
    const send = async (method, url, body) => {
      const headers = { 'content-type': 'application/json', 'x-csrf-token': token };
      const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
    };
    const rates = {};
    const note = (what, app, value) => {
      rates[what] ??= { kept: [], plain: [] };
      rates[what][app].push(value);
    };
    // The first round warms up.
    for (let round = 0; round <= rounds; round += 1)
      for (const app of round % 2 === 0 ? ['kept', 'plain'] : ['plain', 'kept']) {
        const id = (n) => `${at(app)}/record/r${round}-${n}`;
        const create = await rate(requests, (n) => send('PUT', id(n), items(n)));
        const change = await rate(requests, (n) => send('PATCH', id(n), { total: n + 1 }));
        const began = performance.now();
        await send(
          'POST',
          `${at(app)}/records`,
          Array.from({ length: requests }, (_, n) => ({ title: `Bulk ${n}`, total: n })),
        );
        const bulk = (requests * 1_000) / (performance.now() - began);
        if (round === 0) continue;
        for (const [what, value] of Object.entries({ create, change, bulk })) note(what, app, value);
      }
    for (const [what, { kept, plain }] of Object.entries(rates)) {
      const ratios = kept.map((value, round) => plain[round] / value).sort((one, other) => one - other);
      const [low, middle, high] = [ratios[0], median(ratios), ratios.at(-1)].map((ratio) => ratio.toFixed(2));
      const line = `${name} ${what}: ${Math.round(median(kept))}/s with, ${Math.round(median(plain))}/s without`;
      console.log(`${line}; takes ${middle} times as long (${low} to ${high})`);
    }
  } finally {
    await host.stop();
    await database.drop();
    rmSync(themes, { recursive: true, force: true });
  }
}

writeSecrets();
build('pluginServer', 'host');
for (const name of options.databases.split(',')) await measure(name);
