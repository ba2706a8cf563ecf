/**
 * What a session costs the runner process alone, as the ratio to another runner in the same run: programs and host calls are sent as the
 * server sends them, and the answers are compared with the expected ones. Runners take turns; processor time is that of all threads of
 * a runner, from `/proc`.
 *
 *   node benchmarks/sessions.mjs [--before <revision>] [--rounds N] [--sessions N] [--only none,four]
 *
 *   node benchmarks/sessions.mjs --soak 1000000
 *
 * The last runs as many sessions with a host call in reused contexts, ten seconds without any answer end it.
 *
 * The runners: that of a revision of git (`--before`), and that of the working tree, with a fresh context for each session and with
 * reused ones.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { root } from '../scripts/prepare.mjs';
import { median, range } from './support/statistics.mjs';

const { values: options } = parseArgs({
  options: {
    before: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    sessions: { type: 'string', default: '1500' },
    only: { type: 'string', default: '' },
    soak: { type: 'string' },
  },
});
const [rounds, count] = [options.rounds, options.sessions].map(Number);

/** As `logic/supervisor/runner-process.ts` has them. */
const flags = [
  ...['--no-node-snapshot', '--single-threaded-gc'],
  ...['--min-semi-space-size=8', '--max-semi-space-size=8', '--no-flush-bytecode'],
];

/** Reads of a record, sessions at once, programs in turn. */
const cases = {
  none: { reads: 0, together: 5, programs: 1 },
  one: { reads: 1, together: 5, programs: 1 },
  four: { reads: 4, together: 5, programs: 1 },
  alone: { reads: 0, together: 1, programs: 1 },
  six: { reads: 0, together: 5, programs: 6 },
  // More than an isolate keeps contexts for.
  forty: { reads: 0, together: 5, programs: 40 },
  async: { reads: 1, together: 5, programs: 1, isAsync: true },
  // Each session leaves a built-in changed.
  dirty: { reads: 0, together: 5, programs: 1, more: 'Math.max = () => 1;' },
};

const path = 'blocks/f.js';

function programOf(name, at, { reads, isAsync, more = '' }) {
  const read = isAsync ? '(await context.app.get_record("r1"))' : 'context.app.get_record("r1")';
  const body = `${more} let sum = 0; for (let i = 1; i <= 10; i += 1) sum += i; ${`sum += ${read}.get("n");`.repeat(reads)}`;
  const code = `__offer("total",()=>total);${isAsync ? 'async ' : ''}function total(context) { ${body} return { total: sum }; }`;
  const script = `__define("${path}",{},function(exports,require,__offer){"use strict";${code}\n});`;
  return { language: 'javascript', key: `${name}-${at}`, modules: [{ path, code: script }] };
}

const address = 'http://localhost/site/@@apps/bench';
const context = {
  app: { id: 'bench', url: address, settings: {}, options: {}, blocks: [], indexes: ['title', 'total'] },
  block: { id: 'f', url: `${address}/blocks/f` },
  record: null,
  request: {
    method: 'GET',
    url: `${address}/blocks/f/total`,
    path: '/site/@@apps/bench/blocks/f/total',
    query: {},
    form: {},
    body: null,
    headers: { host: 'localhost', accept: '*/*', 'user-agent': 'x' },
  },
  parent_request: null,
  portal: { id: 'site', title: 'Site', url: 'http://localhost', theme: 'bench', locale: null, time_zone: 'UTC' },
  content: null,
  user: null,
  visitor: null,
  params: {},
  acl: { username: null, groups: [], rights: [], roles: [], held: [], manager: false },
};
const limits = { resultSize: 1_000_000, messageSize: 2_000_000, logEntrySize: 10_000 };
const opening = JSON.stringify({
  op: 'open',
  entry: path,
  context,
  limits,
  calls: [{ name: 'total', contained: false }],
});
const record = {
  id: 'r1',
  url: `${address}/records/r1`,
  items: { n: 1, title: 'One record', text: 'Some words about it' },
};
const recordAnswer = JSON.stringify({ values: [record] });

/** A runner process, spoken to by its protocol (`shared/logic-protocol.ts`). */
class Runner {
  sessions = new Map();
  known = new Set();
  outgoing = [];
  next = 1;

  constructor(file, reuse) {
    const given = {
      isolates: 6,
      memory: 64,
      languages: ['javascript'],
      messageSize: 2_000_000,
      alone: false,
      packageManager: 'npm',
      reuseAfter: reuse ? 3 : null,
    };
    const stdio = ['ignore', 'inherit', 'inherit', 'pipe'];
    this.child = spawn(process.execPath, [...flags, file, JSON.stringify(given)], { stdio });
    this.pipe = this.child.stdio[3];
    this.ready = new Promise((resolve) => {
      this.started = resolve;
    });
    let rest = Buffer.alloc(0);
    this.pipe.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const line = rest.indexOf(10);
        if (line < 0) return;
        const [kind, id, length] = rest.toString('latin1', 0, line).split(' ');
        const end = line + 1 + Number(length);
        if (rest.length < end) return;
        this.receive(kind, Number(id), rest.toString('utf8', line + 1, end));
        rest = rest.subarray(end);
      }
    });
  }

  send(message) {
    if (this.outgoing.push(message) > 1) return;
    setImmediate(() => {
      const text = JSON.stringify(this.outgoing);
      this.outgoing = [];
      this.pipe.write(`messages 0 ${Buffer.byteLength(text)}\n${text}`);
    });
  }

  receive(kind, id, text) {
    if (kind === 'ready') this.started();
    else if (kind === 'host') this.send({ type: 'reply', session: id, data: recordAnswer });
    else if (kind === 'done') this.sessions.get(id).resolve(text);
    else if (kind.startsWith('failed')) this.sessions.get(id).reject(new Error(`${kind}: ${text}`));
  }

  /** The answer of one session. */
  async session(program) {
    const id = this.next++;
    const source = this.known.has(program.key) ? undefined : program;
    this.known.add(program.key);
    try {
      return await new Promise((resolve, reject) => {
        this.sessions.set(id, { resolve, reject });
        const time = { remaining: 5000, latest: 10_000 };
        this.send({ type: 'open', session: id, program: program.key, source, data: opening, ...time });
      });
    } finally {
      this.sessions.delete(id);
      this.send({ type: 'close', session: id });
    }
  }

  /** Milliseconds of processor time so far. */
  used() {
    const tasks = `/proc/${this.child.pid}/task`;
    const of = (task) => Number(readFileSync(join(tasks, task, 'schedstat'), 'utf8').split(' ')[0]);
    return readdirSync(tasks).reduce((sum, task) => sum + of(task), 0) / 1e6;
  }

  memory() {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8'))[1]) / 1024;
  }
}

async function measure(runner, name, sessions) {
  const { reads, together, programs } = cases[name];
  const list = Array.from({ length: programs }, (_, at) => programOf(name, at, cases[name]));
  const expected = `{"value":{"functions":["total"],"outcomes":[{"defined":true,"value":{"total":${55 + reads}}}]}}`;
  let left = sessions;
  const [before, begin] = [runner.used(), performance.now()];
  const lane = async () => {
    while (left-- > 0) {
      const answer = await runner.session(list[left % programs]);
      if (answer !== expected) throw new Error(`${name}: ${answer}`);
    }
  };
  await Promise.all(Array.from({ length: together }, lane));
  const time = performance.now() - begin;
  await pause(60);
  return { used: (runner.used() - before) / sessions, rate: (sessions / time) * 1000 };
}

/** Builds the runner of the working tree, or that of a revision, from whose files the build runs. */
async function build(folder, revision) {
  const file = join(root, '.cache', 'bench', `runner-${revision ?? 'now'}.js`);
  mkdirSync(join(root, '.cache', 'bench'), { recursive: true });
  if (revision) {
    const archive = execFileSync('git', ['archive', revision, 'plugins/apps'], { cwd: root, maxBuffer: 1e9 });
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  }
  const source = pathToFileURL(join(revision ? folder : root, 'plugins/apps/sandbox/build.mjs'));
  await (await import(source.href)).buildRunner(file);
  return file;
}

async function main() {
  const folder = mkdtempSync(join(tmpdir(), 'apps-bench-runner-'));
  const now = await build(folder);
  const runners = {
    ...(options.before && { before: new Runner(await build(folder, options.before), false) }),
    fresh: new Runner(now, false),
    reused: new Runner(now, true),
  };
  rmSync(folder, { recursive: true });
  const names = Object.keys(runners);
  const wanted = Object.keys(cases).filter((name) => options.only === '' || options.only.split(',').includes(name));
  const rows = {};
  for (const runner of Object.values(runners)) await runner.ready;
  for (const name of wanted) {
    const found = Object.fromEntries(names.map((one) => [one, []]));
    for (const one of names) await measure(runners[one], name, Math.min(count, 500));
    for (let round = 0; round < rounds; round += 1)
      for (const one of round % 2 ? [...names].reverse() : names)
        found[one].push(await measure(runners[one], name, count));
    const [first] = names;
    for (const one of names) {
      const ratios = found[one].map(({ used }, at) => used / found[first][at].used);
      rows[`${name}, ${one}`] = {
        'ms of processor': Number(median(found[one].map(({ used }) => used)).toFixed(3)),
        [`of ${first}`]: Number(median(ratios).toFixed(2)),
        'lowest, highest': range(ratios)
          .map((ratio) => ratio.toFixed(2))
          .join(' – '),
        'sessions/s': Math.round(median(found[one].map(({ rate }) => rate))),
      };
    }
  }
  console.table(rows);
  for (const [one, runner] of Object.entries(runners)) {
    console.log(`${one}: ${runner.memory().toFixed(0)} MB`);
    runner.child.kill('SIGKILL');
  }
}

/** Runs sessions with a host call in reused contexts; each answer is compared. */
async function soak(wanted) {
  const runner = new Runner(await build(''), true);
  await runner.ready;
  let done = 0;
  let last = 0;
  const watch = setInterval(() => {
    console.log(`${done} sessions, ${runner.memory().toFixed(0)} MB`);
    if (done > last) last = done;
    else {
      console.log(`no answer within 10 seconds: process ${runner.child.pid} is left for a look`);
      process.exit(1);
    }
  }, 10_000);
  for (; done < wanted; done += 5000) await measure(runner, done % 10_000 === 0 ? 'one' : 'async', 5000);
  clearInterval(watch);
  console.log(`${done} sessions with host calls, all answered`);
  runner.child.kill('SIGKILL');
}

if (options.soak) await soak(Number(options.soak));
else await main();
process.exit(0);
