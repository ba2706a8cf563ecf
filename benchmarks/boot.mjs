/**
 * What the plugin adds to Strapi's start and to its memory: the host against the same host without the plugin,
 * alternately, both warm. `npm run bench:boot [runs]`. Prints the medians, their ratio and their spread.
 *
 * Goals: first answered request after at most 1.5 times the time, at most 80 MB more, the sandbox's runner included.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeFiles } from '../scripts/files.mjs';
import { build, root } from '../scripts/prepare.mjs';
import { environment } from './support/host.mjs';
import { median, range, sorted } from './support/statistics.mjs';

const runs = Number(process.argv[2] ?? 5);
const work = mkdtempSync(join(tmpdir(), 'apps-bench-'));

/** A theme with one block, so that the runner process is at work when memory is read. */
function makeTheme() {
  writeFiles(join(work, 'themes', 'bench', 'apps', 'bench', 'blocks'), {
    'block.html': '<p>{value}</p>',
    'block.yaml': 'elements: { value: BASIC }\n',
    'block.js': 'export function value() { return "ok"; }\n',
  });
}

/** The built host in a folder of its own; without the plugin, its custom field is a plain string. */
function makeHost(name, withPlugin) {
  const folder = join(work, name);
  mkdirSync(folder);
  for (const part of ['public', 'database']) cpSync(join(root, part), join(folder, part), { recursive: true });
  for (const part of ['config', 'src'])
    cpSync(join(root, 'dist', part), join(folder, 'dist', part), { recursive: true });
  cpSync(join(root, 'tsconfig.json'), join(folder, 'tsconfig.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  delete manifest.workspaces;
  if (!withPlugin) {
    delete manifest.dependencies['strapi-plugin-apps'];
    const plugins = join(folder, 'dist', 'config', 'plugins.js');
    const source = readFileSync(plugins, 'utf8');
    writeFileSync(
      plugins,
      `${source}\nconst full = exports.default;\nexports.default = (tools) => { const { apps, ...rest } = full(tools); return rest; };\n`,
    );
    const tile = join(folder, 'dist', 'src', 'components', 'tiles', 'block.json');
    const schema = JSON.parse(readFileSync(tile, 'utf8'));
    schema.attributes.block = { type: 'string', required: true };
    writeFileSync(tile, JSON.stringify(schema));
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  return folder;
}

async function answers(url) {
  try {
    return (await fetch(url, { headers: { accept: 'application/json' } })).ok;
  } catch {
    return false;
  }
}

/** Resident megabytes of a process and all its children; of shared pages each counts its part (PSS). */
function memoryOf(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const own = Number(/^Pss:\s+(\d+) kB/m.exec(rollup)[1]) / 1024;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return children.reduce((sum, child) => sum + memoryOf(child), own);
}

/** Starts a host; milliseconds to its first answer, and megabytes after some answers. */
async function measure(folder, address) {
  const env = await environment(join(work, 'themes'));
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [join(root, 'node_modules', '@strapi', 'strapi', 'bin', 'strapi.js'), 'start'],
    {
      cwd: folder,
      stdio: 'ignore',
      env: { ...env, DATABASE_CLIENT: 'sqlite', DATABASE_FILENAME: join(folder, 'data.db') },
    },
  );
  try {
    const url = `http://127.0.0.1:${env.PORT}${address}`;
    while (!(await answers(url))) {
      if (child.exitCode !== null || performance.now() - started > 60_000) throw new Error(`${folder} does not start`);
      await new Promise((done) => setTimeout(done, 10));
    }
    const time = performance.now() - started;
    for (let count = 0; count < 50; count += 1) await answers(url);
    return { time, memory: memoryOf(child.pid) };
  } finally {
    child.kill('SIGKILL');
    await new Promise((done) =>
      child.exitCode === null && child.signalCode === null ? child.once('exit', done) : done(),
    );
  }
}

const spread = (values) =>
  range(values)
    .map((value) => value.toFixed(0))
    .join(' to ');

try {
  build('pluginServer', 'host');
  makeTheme();
  const kinds = {
    plain: { folder: makeHost('plain', false), address: '/_health', results: [] },
    apps: { folder: makeHost('apps', true), address: '/site/@@apps/bench/blocks/block/value', results: [] },
  };
  for (let run = 0; run <= runs; run += 1) {
    for (const kind of Object.values(kinds)) {
      const result = await measure(kind.folder, kind.address);
      // The first start makes the database: it is not a warm one.
      if (run > 0) kind.results.push(result);
    }
  }
  const of = (kind, figure) => kinds[kind].results.map((result) => result[figure]);
  for (const [figure, unit] of [
    ['time', 'ms'],
    ['memory', 'MB'],
  ]) {
    for (const kind of ['plain', 'apps']) {
      console.log(
        `${figure} ${kind.padEnd(5)} ${median(of(kind, figure)).toFixed(0)} ${unit} (${spread(of(kind, figure))})`,
      );
    }
  }
  const ratios = of('apps', 'time').map((time, run) => time / of('plain', 'time')[run]);
  const more = of('apps', 'memory').map((memory, run) => memory - of('plain', 'memory')[run]);
  console.log(
    `first answer: ${median(ratios).toFixed(2)} times Strapi's own (${sorted(ratios)
      .map((r) => r.toFixed(2))
      .join(', ')}); goal 1.5`,
  );
  console.log(`memory: ${median(more).toFixed(0)} MB more (${spread(more)}); goal 80`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
