import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { transform } from 'sucrase';
import { readConfig } from '../../../server/src/config';
import type { AppsConfig } from '../../../server/src/config.types';
import { CannotRun } from '../exit';

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
export function configurationOf(root: string, isHost: boolean, note: (text: string) => void): AppsConfig {
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
