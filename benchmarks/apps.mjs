/**
 * What many apps cost a theme: a host with 2,000 apps of 20 blocks beside the same host with one app, alternately.
 * `node benchmarks/apps.mjs [--apps N] [--blocks N] [--runs N]`. Prints, for each, the time to the first answer of the site, the
 * memory then, the files of the theme that were opened until then, the same for the first page of one app's block, and when the definitions
 * of all apps are read, with the longest answer of that page meanwhile: a schedule runs although no visitor has asked for its app. At last
 * the part of a processor that the server needs without requests.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { writeFiles } from '../scripts/files.mjs';
import { build, writeSecrets } from '../scripts/prepare.mjs';
import { startHost } from './support/host.mjs';
import { treeMemory, treeTime } from './support/process-tree.mjs';
import { median } from './support/statistics.mjs';

const { values: options } = parseArgs({
  options: {
    apps: { type: 'string', default: '2000' },
    blocks: { type: 'string', default: '20' },
    runs: { type: 'string', default: '3' },
  },
});
const [apps, blocks, runs] = [options.apps, options.blocks, options.runs].map(Number);
const work = mkdtempSync(join(tmpdir(), 'apps-bench-'));

/** A theme with this many apps, whose blocks have a layout, a definition and logic. */
function makeTheme(name, count) {
  const folder = join(work, name, 'bench');
  writeFiles(folder, {
    'layout.html': '<!doctype html><title>Bench</title><main>{{ main }}</main>',
    'templates/portal.html': '<h1>Bench</h1>',
  });
  for (let app = 0; app < count; app += 1) {
    const files = { 'settings.yaml': "acl: { rights: { editor: ['*'] } }\n" };
    for (let at = 0; at < blocks; at += 1) {
      files[`blocks/block${at}.html`] = `<p>{value} {title} of block ${at}, {_save}</p>`;
      files[`blocks/block${at}.yaml`] =
        'elements:\n  value: BASIC\n  title: { type: TEXT, index_type: field, required: true }\n';
      files[`blocks/block${at}.js`] = `export function value() { return 'app ${app}'; }\n`;
    }
    writeFiles(join(folder, 'apps', `app${app}`), files);
  }
  return join(work, name);
}

/** Loaded into the host before anything else: counts the files of the theme that are opened, by all functions of `fs`. */
const counter = join(work, 'count-files.cjs');
writeFileSync(
  counter,
  `const fs = require('node:fs');
globalThis.benchOpened = 0;
const themes = process.env.APPS_THEMES_DIRECTORY;
const isCounted = (path) => String(path).startsWith(themes) && /\\.(?:html|yaml|js)$/.test(String(path));
for (const [object, names] of [
  [fs, ['open', 'openSync', 'readFile', 'readFileSync', 'createReadStream']],
  [fs.promises, ['open', 'readFile']],
])
  for (const name of names) {
    const work = object[name];
    object[name] = function (path, ...rest) {
      if (isCounted(path)) globalThis.benchOpened += 1;
      return work.call(this, path, ...rest);
    };
  }
`,
);

async function timed(url) {
  const began = performance.now();
  const answer = await fetch(url, { headers: { accept: 'text/html' } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text.slice(0, 300)}`);
  return performance.now() - began;
}

/** Milliseconds for which a server has no requests. */
const IDLE = 15_000;

/** Milliseconds for which no file is opened when all are read that the server reads by itself. */
const QUIET = 4_000;

/** Asks for a page until the server opens no more files. */
async function untilRead(address, opened, began) {
  let [files, since, longest] = [await opened(), performance.now(), 0];
  while (performance.now() - since < QUIET) {
    longest = Math.max(longest, await timed(address));
    const now = await opened();
    if (now !== files) [files, since] = [now, performance.now()];
  }
  return { files, longest, time: since - began };
}

/** The part of a processor that the server needs without requests. */
async function idleShare(pid) {
  const before = treeTime([pid]);
  await pause(IDLE);
  return ((treeTime([pid]) - before) * 1_000) / IDLE;
}

/** One start of a host with a theme. */
async function measure(themes, app) {
  const database = mkdtempSync(join(work, 'data-'));
  const env = {
    DATABASE_CLIENT: 'sqlite',
    DATABASE_FILENAME: join(database, 'data.db'),
    NODE_OPTIONS: `--require ${counter}`,
  };
  const began = performance.now();
  const host = await startHost(env, themes);
  const opened = () => host.run(() => globalThis.benchOpened);
  try {
    await timed(`${host.url}/site/`);
    const start = performance.now() - began;
    const atStart = { memory: treeMemory(host.pid), files: await opened() };
    const address = `${host.url}/site/@@apps/${app}/blocks/block7`;
    const first = await timed(address);
    const atFirst = { memory: treeMemory(host.pid), files: await opened() };
    const again = [];
    for (let at = 0; at < 20; at += 1) again.push(await timed(address));
    const read = await untilRead(address, opened, began);
    const atEnd = { ...read, memory: treeMemory(host.pid), idle: await idleShare(host.pid) };
    return { start, atStart, first, atFirst, again: median(again), atEnd };
  } finally {
    await host.stop();
    rmSync(database, { recursive: true, force: true });
  }
}

try {
  writeSecrets();
  build('pluginServer', 'host');
  const kinds = [
    { title: '1 app', themes: makeTheme('one', 1), app: 'app0', results: [] },
    { title: `${apps} apps`, themes: makeTheme('many', apps), app: `app${apps >> 1}`, results: [] },
  ];
  console.log(`${blocks} blocks an app, ${runs} starts of each, Node.js ${process.versions.node}`);
  for (let run = 0; run < runs; run += 1)
    for (const kind of kinds) kind.results.push(await measure(kind.themes, kind.app));
  for (const { title, results } of kinds) {
    const of = (figure) => median(results.map(figure));
    console.log(
      [
        title.padEnd(12),
        `start ${of(({ start }) => start).toFixed(0)} ms,`,
        `${of(({ atStart }) => atStart.memory).toFixed(0)} MB, ${of(({ atStart }) => atStart.files)} files opened;`,
        `first page of a block ${of(({ first }) => first).toFixed(0)} ms, then ${of(({ again }) => again).toFixed(1)} ms,`,
        `${of(({ atFirst }) => atFirst.memory).toFixed(0)} MB, ${of(({ atFirst }) => atFirst.files)} files opened;`,
        `all definitions after ${(of(({ atEnd }) => atEnd.time) / 1_000).toFixed(1)} s, ${of(({ atEnd }) => atEnd.files)} files opened,`,
        `${of(({ atEnd }) => atEnd.memory).toFixed(0)} MB, longest answer meanwhile ${of(({ atEnd }) => atEnd.longest).toFixed(0)} ms;`,
        `without requests ${(of(({ atEnd }) => atEnd.idle) * 100).toFixed(1)} % of a processor`,
      ].join(' '),
    );
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
