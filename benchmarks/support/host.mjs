/** The benchmarks' host: a real Strapi of its own that runs functions sent to it and counts its work. */
import { fork, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/prepare.mjs';
import { freePort } from '../../scripts/server-process.mjs';

/** Pins a process to a core, if the system can. */
export function pin(pid, core) {
  spawnSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' });
}

/** Seconds of processor time that a process has used so far, all of its threads together. */
export function processorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Megabytes of memory of a process. */
export function memoryOf(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
}

/** A command and its arguments that run a program on one core, with all processes that it starts; any core without taskset. */
export function onCore(core) {
  const works = spawnSync('taskset', ['-c', String(core), 'true'], { stdio: 'ignore' }).status === 0;
  return (program, args = []) => (works ? ['taskset', '-c', String(core), program, ...args] : [program, ...args]);
}

/** What the environment of a benchmark's host says of all but its database. */
export const environment = async (themes) => ({
  ...process.env,
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PORT: String(await freePort()),
  SERVE_ADMIN: 'false',
  STRAPI_TELEMETRY_DISABLED: 'true',
  APPS_DEMO: 'false',
  APPS_THEMES_DIRECTORY: themes,
  APPS_THEME: 'bench',
  APP_KEYS: 'one,two',
  API_TOKEN_SALT: 'salt',
  ADMIN_JWT_SECRET: 'secret',
  TRANSFER_TOKEN_SALT: 'salt',
  JWT_SECRET: 'secret',
  ENCRYPTION_KEY: 'key',
});

/**
 * Starts a host on the given database environment.
 * @param options `folder` of another built Strapi application than this repository's; `command` to start it (`onCore`)
 */
export async function startHost(env, themes, { folder = root, command = (program) => [program] } = {}) {
  const [execPath, ...execArgv] = command(process.execPath);
  const child = fork(join(root, 'tests', 'support', 'host-process.cjs'), {
    cwd: folder,
    silent: true,
    execPath,
    execArgv,
    env: { ...(await environment(themes)), ...env },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      printed = (printed + text).slice(-5_000);
    });
  const waiting = new Map();
  let calls = 0;
  const url = await new Promise((done, failed) => {
    child.on('message', ({ url, call, result, error }) => {
      if (url) done(url);
      if (!waiting.has(call)) return;
      const { resolve, reject } = waiting.get(call);
      waiting.delete(call);
      if (error) reject(new Error(error.message));
      else resolve(result);
    });
    child.once('exit', () => failed(new Error(`The host does not start:\n${printed}`)));
  });
  const run = (work, ...args) =>
    new Promise((resolve, reject) => {
      calls += 1;
      waiting.set(calls, { resolve, reject });
      child.send({ call: calls, source: work.toString(), args });
    });
  return {
    url,
    run,
    pid: child.pid,
    printed: () => printed,
    async stop() {
      child.kill('SIGKILL');
      await new Promise((done) =>
        child.exitCode === null && child.signalCode === null ? child.once('exit', done) : done(),
      );
    },
  };
}
