import { randomBytes } from 'node:crypto';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { testDatabase } from '../../scripts/prepare.mjs';
import { freePort } from '../../scripts/server-process.mjs';
import { configuration } from './configure';
import { hostProcess, type Run } from './host-process';

export interface HostOptions {
  /** Folder of the themes; the repository's own without it. */
  themesDirectory?: string;
  /** More environment; `APPS_DEMO` is `false` and `NODE_ENV` is `test` unless said otherwise. Logic has more time than on a site (configure.cjs). */
  env?: Record<string, string>;
  /** SQLite file to use, e.g. another host's; a new one, deleted at the end, without it. `env` may name another database. */
  database?: string;
}

/** A real Strapi with the plugin, in a process and with a database of its own. The process may have had another host before. */
export interface Host {
  /** Origin, without a slash at the end. */
  readonly url: string;
  /** SQLite file, to start a second process on the same data. */
  readonly database: string;
  /** Output of the process that has come over the pipe. */
  output(): string;
  /** Everything that the process has printed up to now. */
  printed(): Promise<string>;
  readonly run: Run;
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
    NODE_OPTIONS: configuration,
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

/** Whether the host may begin with the tables of a first start; the demo makes its content only at the first one. */
const isAfterFirstStart = ({ database, env = {} }: HostOptions) =>
  !database && !Object.keys(env).some((name) => name === 'APPS_DEMO' || name.startsWith('DATABASE_'));

/** Starts a host and waits until it listens; otherwise its output is in the error. */
export async function startHost(options: HostOptions = {}): Promise<Host> {
  const folder = await mkdtemp(path.join(tmpdir(), 'apps-host-'));
  const database = options.database ?? path.join(folder, 'data.db');
  if (isAfterFirstStart(options)) await copyFile(testDatabase, database);
  const env = await environment(options, database);
  const { start, output, printed, run, ...process } = hostProcess(env);
  let ended: Promise<void> | undefined;
  // Once: the process may have another host then.
  const stop = () => {
    ended ??= process.stop().then(() => rm(folder, { recursive: true, force: true }));
    return ended;
  };
  try {
    return { url: await start(env), database, output, printed, run, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
