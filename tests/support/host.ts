import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Core } from '@strapi/strapi';
import { testDatabase } from '../../scripts/prepare.mjs';
import { freePort } from '../../scripts/server-process.mjs';

const root = path.resolve(__dirname, '..', '..');

export interface HostOptions {
  /** Folder of the themes; the repository's own without it. */
  themesDirectory?: string;
  /** More environment; `APPS_DEMO` is `false` and `NODE_ENV` is `test` unless said otherwise. */
  env?: Record<string, string>;
  /** SQLite file to use, e.g. another host's; a new one, deleted at the end, without it. `env` may name another database. */
  database?: string;
}

/** A real Strapi with the plugin, in a process and with a database of its own. */
export interface Host {
  /** Origin, without a slash at the end. */
  readonly url: string;
  /** SQLite file, to start a second process on the same data. */
  readonly database: string;
  /** Output of the process that has come over the pipe. */
  output(): string;
  /** Everything that the process has printed up to now. */
  printed(): Promise<string>;
  /**
   * Runs a function in the host's process and returns its result as JSON. Only its source is sent: it can use its
   * parameters and Node.js, but no variables of its surroundings.
   */
  run<A extends unknown[], R>(work: (strapi: Core.Strapi, ...args: A) => R, ...args: A): Promise<Awaited<R>>;
  stop(): Promise<void>;
}

const secret = () => randomBytes(16).toString('hex');

/** The same for all hosts of a test run, so that two processes on one database accept each other's tokens. */
const secrets = {
  APP_KEYS: `${secret()},${secret()}`,
  API_TOKEN_SALT: secret(),
  ADMIN_JWT_SECRET: secret(),
  TRANSFER_TOKEN_SALT: secret(),
  JWT_SECRET: secret(),
  ENCRYPTION_KEY: secret(),
};

async function environment(options: HostOptions, database: string): Promise<NodeJS.ProcessEnv> {
  return {
    ...process.env,
    NODE_ENV: 'test',
    STRAPI_TELEMETRY_DISABLED: 'true',
    SERVE_ADMIN: 'false',
    APPS_DEMO: 'false',
    ...secrets,
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    DATABASE_CLIENT: 'sqlite',
    DATABASE_FILENAME: database,
    ...(options.themesDirectory ? { APPS_THEMES_DIRECTORY: options.themesDirectory } : {}),
    ...options.env,
  };
}

interface Reply {
  url?: string;
  call?: number;
  result?: unknown;
  error?: { name: string; message: string; details?: unknown };
}

/** Sends functions to the process and returns their results. */
function caller(child: ChildProcess): Host['run'] {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let calls = 0;
  child.on('message', ({ call, result, error }: Reply) => {
    const pending = call === undefined ? undefined : waiting.get(call);
    if (call === undefined || !pending) return;
    waiting.delete(call);
    if (error) pending.reject(Object.assign(new Error(error.message), error));
    else pending.resolve(result);
  });
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('The host has ended.'));
    waiting.clear();
  });
  return (work, ...args) =>
    new Promise((resolve, reject) => {
      calls += 1;
      waiting.set(calls, { resolve: resolve as (value: unknown) => void, reject });
      child.send({ call: calls, source: work.toString(), args });
    });
}

/** Whether the host may begin with the tables of a first start; the demo makes its content only at the first one. */
const isAfterFirstStart = ({ database, env = {} }: HostOptions) =>
  !database && !Object.keys(env).some((name) => name === 'APPS_DEMO' || name.startsWith('DATABASE_'));

/** Starts a host and waits until it listens; otherwise its output is in the error. */
export async function startHost(options: HostOptions = {}): Promise<Host> {
  const folder = await mkdtemp(path.join(tmpdir(), 'apps-host-'));
  const database = options.database ?? path.join(folder, 'data.db');
  if (isAfterFirstStart(options)) await copyFile(testDatabase, database);
  const env = await environment(options, database);
  const child = fork(path.join(__dirname, 'host-process.cjs'), { cwd: root, env, silent: true, execArgv: [] });
  const printed: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => printed.push(String(text)));
  const ended = new Promise<void>((done) => child.once('exit', () => done()));

  const stop = async () => {
    child.kill('SIGTERM');
    const killTimer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(killTimer);
    await rm(folder, { recursive: true, force: true });
  };
  const url = await new Promise<string>((resolve, reject) => {
    child.on('message', (reply: Reply) => reply.url && resolve(reply.url));
    ended.then(() => reject(new Error(`The host did not start:\n${printed.join('')}`)));
  }).catch(async (error) => {
    await stop();
    throw error;
  });
  const output = () => printed.join('');
  const run = caller(child);
  const everything = async () => {
    // Output before a mark comes over the pipe before it.
    const mark = `${randomUUID()}\n`;
    await run((_strapi, mark) => {
      for (const stream of [process.stdout, process.stderr]) stream.write(mark);
    }, mark);
    while (output().split(mark).length < 3) await pause(5);
    return output().replaceAll(mark, '');
  };
  // The start's output is complete before the tests read it.
  await everything();
  return { url, database, output, printed: everything, run, stop };
}
