import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { runInThisContext } from 'node:vm';
import type { Core } from '@strapi/strapi';
import { transform } from 'sucrase';
import { readConfig } from '../../server/src/config';
import type { AppsConfig } from '../../server/src/config.types';
import { compiledFolder } from '../../shared/host/compiled-host';
import { CannotRun } from './command';

const loaded = new Set<string>();

/** Reads the host's `.env`, as Strapi does: variables that are set already stay. */
function loadEnvironment(root: string): void {
  if (loaded.has(root)) return;
  loaded.add(root);
  try {
    const text = readFileSync(process.env.ENV_PATH ?? join(root, '.env'), 'utf8');
    // Node.js before 20.12 has no parser; Strapi then reads the file when it starts.
    for (const [name, value] of Object.entries(parseEnv?.(text) ?? {})) process.env[name] ??= value;
  } catch {
    // There is no such file.
  }
}

/** The nearest folder at or above `from` whose package.json depends on Strapi; null if there is none. */
function findRoot(from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    if (dependsOnStrapi(join(folder, 'package.json'))) return folder;
    if (dirname(folder) === folder) return null;
  }
}

function dependsOnStrapi(file: string): boolean {
  try {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(file, 'utf8'));
    return '@strapi/strapi' in { ...dependencies, ...devDependencies };
  } catch {
    return false;
  }
}

/** The files `config/plugins` of a host, in the order in which Strapi merges them. */
export const configuredFiles = (root: string): string[] =>
  ['config', join('config', 'env', process.env.NODE_ENV ?? 'development')].flatMap((folder) => {
    const found = ['ts', 'js', 'json'].map((ending) => join(root, folder, `plugins.${ending}`)).find(existsSync);
    return found ? [found] : [];
  });

/**
 * The plugin's configuration of a host, without starting it: its `config/plugins` is run alone. What only a running
 * Strapi knows is replaced by the defaults, with a note. Throws CannotRun for a configuration with mistakes.
 */
function configurationOf(root: string, isHost: boolean, note: (text: string) => void): AppsConfig {
  let raw: unknown = {};
  for (const file of isHost ? configuredFiles(root) : []) {
    try {
      raw = merged(raw, pluginConfiguration(file)?.config);
    } catch (error) {
      note(`${file} cannot be read without starting Strapi (${(error as Error).message}): the defaults are used`);
    }
  }
  try {
    return readConfig(raw, { appRoot: root });
  } catch (error) {
    throw new CannotRun((error as Error).message);
  }
}

/** What a file `config/plugins` says under `apps`; undefined if it says nothing. Throws what the file itself throws. */
export function pluginConfiguration(file: string): { config?: object } | undefined {
  const exported = load(file) as { default?: unknown };
  const value = exported?.default ?? exported;
  // The package is large, and loaded only where it is needed.
  const { env } = require('@strapi/utils') as { env: unknown };
  const plugins = typeof value === 'function' ? value({ env }) : value;
  return (plugins as { apps?: { config?: object } } | undefined)?.apps;
}

/** As lodash's `merge`, by which Strapi does it: mappings by key and lists by index; undefined changes nothing. */
function merged(base: unknown, over: unknown): unknown {
  if (over === undefined) return base;
  if (Array.isArray(base) && Array.isArray(over))
    return Array.from({ length: Math.max(base.length, over.length) }, (_, at) => merged(base[at], over[at]));
  if (!isMapping(base) || !isMapping(over)) return over;
  const keys = new Set([...Object.keys(base), ...Object.keys(over)]);
  return Object.fromEntries([...keys].map((key) => [key, merged(base[key], over[key])]));
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function load(file: string): unknown {
  const hostRequire = createRequire(file);
  if (!file.endsWith('.ts')) return hostRequire(file);
  const { code } = transform(readFileSync(file, 'utf8'), { transforms: ['typescript', 'imports'], filePath: file });
  const module = { exports: {} };
  const body = runInThisContext(`(function (exports, require, module, __filename, __dirname) {${code}\n})`, {
    filename: file,
  });
  body(module.exports, hostRequire, module, file, dirname(file));
  return module.exports;
}

/** A Strapi application, and where its themes are. */
export interface Host {
  /** Absolute path of its folder; null where there is none: themes can be checked without a host. */
  readonly root: string | null;
  /** Absolute path of the themes folder; it may not exist. */
  readonly themes: string;
  /** The plugin's configuration with its defaults; the host's own where it can be read without starting it. */
  readonly config: AppsConfig;
  /** Absolute path of the host's folder. Throws CannotRun where there is none. */
  requireRoot(): string;
}

interface FindOptions {
  cwd: string;
  /** `--dir`: the host's folder, or one inside it. */
  dir?: string;
  /** `--themes`. */
  themes?: string;
  /** Prints what could not be read and is replaced by defaults. */
  note(text: string): void;
}

/**
 * The host of a folder, and its themes folder: `--themes`, else `APPS_THEMES_DIRECTORY`, else that of the configuration,
 * else `./themes` (docs/reference/command-line.md#the-host). Throws CannotRun when `--dir` is inside no Strapi application.
 */
export function findHost({ cwd, dir, themes, note }: FindOptions): Host {
  const from = resolve(cwd, dir ?? '.');
  const root = findRoot(from);
  if (root === null && dir !== undefined) throw noHost(from);
  if (root !== null) loadEnvironment(root);
  const config = configurationOf(root ?? cwd, root !== null, note);
  const folder = themes !== undefined ? resolve(cwd, themes) : config.themesDirectory;
  return {
    root,
    themes: folder,
    config: { ...config, themesDirectory: folder },
    requireRoot() {
      if (root === null) throw noHost(from);
      return root;
    },
  };
}

const noHost = (from: string) =>
  new CannotRun(
    `There is no Strapi application in ${from} or a folder above it`,
    'Run it in the folder whose package.json depends on @strapi/strapi, or name that folder with --dir.',
  );

export type LoadedStrapi = Core.Strapi;

type StrapiPackage = {
  createStrapi(options: { appDir: string; distDir: string; serveAdminPanel: boolean }): Core.Strapi;
  compileStrapi(options: { appDir: string }): Promise<{ appDir: string; distDir: string }>;
};

/**
 * Runs `work` with the host's Strapi, loaded without listening on a port, and ends Strapi after it. From then on standard
 * output belongs to the command: Strapi's log, also of what ends late, goes to standard error. Throws CannotRun when there is
 * no host, when it has no Strapi, when it does not start, or when it has no plugin `apps`.
 */
export async function withStrapi<T>(host: Host, work: (strapi: LoadedStrapi) => Promise<T>): Promise<T> {
  const root = host.requireRoot();
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
  const strapi = await start(root, packageOf(root));
  try {
    if (!strapi.plugins.apps) {
      throw new CannotRun(
        'The plugin "apps" is not enabled in this host',
        'Add `apps: { enabled: true }` to config/plugins.',
      );
    }
    return await work(strapi);
  } finally {
    await strapi.destroy();
  }
}

function packageOf(root: string): StrapiPackage {
  try {
    return createRequire(join(root, 'package.json'))('@strapi/strapi') as StrapiPackage;
  } catch (error) {
    throw new CannotRun(`Strapi cannot be loaded in ${root}: ${(error as Error).message}`, 'Run `npm install` there.');
  }
}

async function start(root: string, { createStrapi, compileStrapi }: StrapiPackage): Promise<Core.Strapi> {
  // Strapi reads its `.env`, and some of its folders, from the current one.
  process.chdir(root);
  const distDir = compiledFolder(root) ?? (await compiled(root, compileStrapi)).distDir;
  try {
    const strapi = createStrapi({ appDir: root, distDir, serveAdminPanel: false });
    // The messages of a start are not printed.
    strapi.log.level = 'warn';
    return await strapi.load();
  } catch (error) {
    throw new CannotRun(`Strapi does not start in ${root}: ${(error as Error).message}`);
  }
}

/** Compiles a host in TypeScript. Strapi prints the errors of its files, and would end the process. */
async function compiled(root: string, compile: StrapiPackage['compileStrapi']) {
  const { exit } = process;
  process.exit = () => {
    throw new CannotRun(`The host in ${root} does not compile`, 'Correct the errors above.');
  };
  try {
    return await compile({ appDir: root });
  } finally {
    process.exit = exit;
  }
}
