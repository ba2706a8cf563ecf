/**
 * What logic costs: blocks with two functions and four host calls, in JavaScript and in Python, against a bare root
 * route of the same Strapi; one after the other and ten at a time, in turn. Then where the time goes, and the memory of
 * the runner process. `npm run bench:logic [seconds]`.
 *
 * Goals: JavaScript at least 0.35 of the bare route's requests a second on two cores; Python at most 3 times the time of
 * JavaScript at the median.
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, root } from '../scripts/prepare.mjs';

const seconds = Number(process.argv[2] ?? 4);
const work = mkdtempSync(join(tmpdir(), 'apps-bench-'));

const calls = (count) => `for (let call = 0; call < ${count}; call += 1) app.get_record('one');`;
const block = (one, two) => `export function one({ app }) { ${one} return 1; }
export function two({ app }) { ${two} return 2; }\n`;

/** Blocks by id, as the text of their logic. */
const blocks = {
  'none.html': '',
  'empty.js': block('', ''),
  'four.js': block(calls(2), calls(2)),
  'many.js': block(calls(50), calls(50)),
  'four-python.py': `def one(context):
    context.app.get_record('one')
    context.app.get_record('one')
    return 1

def two(context):
    context.app.get_record('one')
    context.app.get_record('one')
    return 2\n`,
};

function makeTheme() {
  const folder = join(work, 'themes', 'bench', 'apps', 'bench', 'blocks');
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(blocks)) {
    const id = file.replace(/\..*/, '');
    writeFileSync(join(folder, `${id}.html`), '<p>{one} {two}</p>');
    writeFileSync(join(folder, `${id}.yaml`), 'elements: { one: BASIC, two: BASIC }\n');
    if (text) writeFileSync(join(folder, file), text);
  }
}

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

const secrets = [
  'APP_KEYS',
  'API_TOKEN_SALT',
  'ADMIN_JWT_SECRET',
  'TRANSFER_TOKEN_SALT',
  'JWT_SECRET',
  'ENCRYPTION_KEY',
];

/** The host in a process of its own, with a bare route at `/bare`. */
async function startHost() {
  const env = {
    ...process.env,
    ...Object.fromEntries(secrets.map((name) => [name, randomBytes(16).toString('hex')])),
    NODE_ENV: 'production',
    STRAPI_TELEMETRY_DISABLED: 'true',
    SERVE_ADMIN: 'false',
    APPS_DEMO: 'false',
    APPS_THEMES_DIRECTORY: join(work, 'themes'),
    APPS_THEME: 'bench',
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    DATABASE_CLIENT: 'sqlite',
    DATABASE_FILENAME: join(work, 'data.db'),
  };
  const child = fork(join(root, 'tests', 'support', 'host-process.cjs'), { cwd: root, env, silent: true });
  child.stdout.resume();
  child.stderr.resume();
  const url = await new Promise((resolve, reject) => {
    child.on('message', (message) => message.url && resolve(message.url));
    child.on('exit', () => reject(new Error('The host did not start.')));
  });
  const route = "(strapi) => { strapi.server.router.get('/bare', (ctx) => { ctx.body = '<p>1 2</p>'; }); }";
  await new Promise((resolve) => {
    child.on('message', (message) => message.call === 1 && resolve());
    child.send({ call: 1, source: route, args: [] });
  });
  return { url, id: child.pid, stop: () => child.kill('SIGKILL') };
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 });

function ask(url) {
  return new Promise((resolve, reject) => {
    const begin = performance.now();
    get(url, { agent, headers: { accept: 'text/html' } }, (response) => {
      response.resume();
      response.on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - begin);
        else reject(new Error(`${url} answered ${response.statusCode}`));
      });
    }).on('error', reject);
  });
}

/** Times of the requests of `lanes` clients in `time` milliseconds. */
async function load(url, lanes, time) {
  const end = performance.now() + time;
  const times = [];
  const lane = async () => {
    while (performance.now() < end) times.push(await ask(url));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  times.sort((a, b) => a - b);
  return { rate: (times.length / time) * 1000, median: times[times.length >> 1] };
}

/** Megabytes of the host's runner processes. */
function runnerMemory(parent) {
  const read = (id) => {
    try {
      const status = readFileSync(`/proc/${id}/status`, 'utf8');
      return status.includes(`PPid:\t${parent}\n`) ? Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024 : 0;
    } catch {
      return 0;
    }
  };
  return readdirSync('/proc')
    .filter((id) => /^\d+$/.test(id))
    .reduce((sum, id) => sum + read(id), 0);
}

async function main() {
  build('pluginServer', 'host');
  makeTheme();
  const host = await startHost();
  try {
    const at = (id) => `${host.url}/site/@@apps/bench/blocks/${id}`;
    const ids = Object.keys(blocks).map((file) => file.replace(/\..*/, ''));
    const urls = { bare: `${host.url}/bare`, ...Object.fromEntries(ids.map((id) => [id, at(id)])) };
    for (const url of Object.values(urls)) await load(url, 10, 1000);
    const rows = {};
    for (const [name, url] of Object.entries(urls)) {
      const [alone, ten] = [await load(url, 1, (seconds * 1000) / 2), await load(url, 10, seconds * 1000)];
      rows[name] = { 'ms, median': alone.median, 'requests/s of ten': ten.rate };
    }
    for (const row of Object.values(rows)) {
      row['of bare'] = row['requests/s of ten'] / rows.bare['requests/s of ten'];
      for (const key of Object.keys(row)) row[key] = Number(row[key].toFixed(2));
    }
    console.table(rows);
    const ms = (name) => rows[name]['ms, median'];
    const parts = {
      'a block without logic': ms('none'),
      'runner process and fresh context': ms('empty') - ms('none'),
      'a host call': (ms('many') - ms('empty')) / 100,
      'Python, as a multiple of JavaScript': ms('four-python') / ms('four'),
    };
    console.table(Object.fromEntries(Object.entries(parts).map(([key, value]) => [key, Number(value.toFixed(3))])));
    const busy = runnerMemory(host.id);
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    console.log(`Runner: ${busy.toFixed(0)} MB after the load, ${runnerMemory(host.id).toFixed(0)} MB idle`);
  } finally {
    host.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

await main();
process.exit(0);
