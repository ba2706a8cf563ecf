import { resolve } from 'node:path';
import type { AppsConfig } from '../../../server/src/config.types';
import { CannotRun } from '../exit';
import { loadEnvironment } from './environment';
import { findRoot } from './root';
import { configurationOf } from './settings';

export { type LoadedStrapi, withStrapi } from './strapi';

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
