/** Fresh Strapi applications for the test of the packed plugin: made, installed, started and asked. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../server-process.mjs';

const makeOptions = '--non-interactive --skip-cloud --no-run --no-install --no-git-init --skip-db --no-example'.split(
  ' ',
);

const environment = { ...process.env, STRAPI_TELEMETRY_DISABLED: 'true', BROWSER: 'none', CI: 'true' };

/** Runs a command to its end; throws with its output when it fails. @returns what it has printed */
export function run(folder, command, args, env = {}) {
  const options = { cwd: folder, encoding: 'utf8', env: { ...environment, ...env }, maxBuffer: 64 * 1024 * 1024 };
  const { status, stdout, stderr, error } = spawnSync(command, args, options);
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${(stdout + stderr).slice(-4000)}`);
  return stdout + stderr;
}

/** Makes an application with Strapi's own tool, without installing it. @param language `typescript` or `javascript` */
export function makeHost(parent, { name, language, tool }) {
  run(parent, 'npx', ['--yes', `create-strapi-app@${tool}`, name, `--${language}`, ...makeOptions]);
  return join(parent, name);
}

/** Changes the application's package.json. */
export function changeManifest(folder, change) {
  const file = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  change(manifest);
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

export const npm = (folder, args, env) =>
  run(folder, 'npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], env);

/** Sets variables of `.env`. */
export function setEnv(folder, values) {
  const file = join(folder, '.env');
  const names = Object.keys(values);
  const kept = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !names.some((name) => line.startsWith(`${name}=`)));
  writeFileSync(file, [...kept, ...names.map((name) => `${name}=${values[name]}`), ''].join('\n'));
}

/**
 * Starts `strapi develop` or `strapi start` and waits until it answers.
 * @returns its `url`; `output()`; `starts()`, how often it has started; `time`, milliseconds to the first answer; `stop()`
 */
export async function startHost(folder, command, env = {}) {
  const port = await freePort();
  const begin = performance.now();
  const program = join(folder, 'node_modules', '@strapi', 'strapi', 'bin', 'strapi.js');
  // A group of its own: `strapi develop` starts further processes.
  const child = spawn(process.execPath, [program, command], {
    cwd: folder,
    detached: true,
    env: { ...environment, NODE_ENV: command === 'start' ? 'production' : 'development', ...env, PORT: String(port) },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text));
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    const ended = child.exitCode !== null || new Promise((done) => child.once('exit', done));
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
    await ended;
  };
  while (!(await answers(url))) {
    if (child.exitCode !== null || performance.now() - begin > 300_000) {
      await stop();
      throw new Error(`strapi ${command} did not start:\n${printed.slice(-4000)}`);
    }
    await pause(200);
  }
  return {
    url,
    time: performance.now() - begin,
    output: () => printed,
    starts: () => printed.split('Strapi started successfully').length - 1,
    stop,
  };
}

const answers = (url) =>
  fetch(`${url}/_health`).then(
    ({ ok }) => ok,
    () => false,
  );

/** The installed version of a package of the application, or null. */
export function versionOf(folder, name) {
  const file = join(folder, 'node_modules', name, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : null;
}
