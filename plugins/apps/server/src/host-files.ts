import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { SetupProblem } from '../../shared/admin-api';

/** The used part of Strapi's configuration. */
interface Settings {
  get(key: string, fallback: unknown): unknown;
  set(key: string, value: unknown): unknown;
}

type TypeScript = typeof import('typescript');

/**
 * Keeps `strapi develop` from restarting the server when a file below `folder` (absolute) is saved: the plugin reads themes
 * by itself. Adds to `admin.watchIgnoreFiles`, which Strapi reads when it starts to watch.
 */
export function ignoreChangesIn(folder: string, settings: Settings): void {
  const given = settings.get('admin.watchIgnoreFiles', []);
  const slashed = folder.split(path.sep).join('/');
  settings.set('admin.watchIgnoreFiles', [...(Array.isArray(given) ? given : []), folder, `${slashed}/**`]);
}

/** What tells where the host has its database and its public files. */
interface HostFolders {
  config: { get(key: string, otherwise?: unknown): unknown };
  dirs: { app: { root: string }; static: { public: string } };
}

/** Name of the folder of private files. */
const PRIVATE = 'apps-files';

/**
 * The absolute path of the folder of private files: `filesDirectory` of the configuration, else `apps-files` beside the file of an
 * SQLite database, else `data/apps-files` in the host's folder. Throws for a folder that Strapi serves to all.
 */
export function privateFolder(
  { config, dirs }: HostFolders,
  { filesDirectory }: { filesDirectory: string | null },
): string {
  const file = config.get('database.connection.connection.filename');
  const isFile =
    config.get('database.connection.client') === 'sqlite' && typeof file === 'string' && file !== ':memory:';
  const beside = path.resolve(dirs.app.root, isFile ? path.dirname(file as string) : 'data', PRIVATE);
  const folder = filesDirectory ?? beside;
  const below = path.relative(dirs.static.public, folder);
  if (below !== '..' && !below.startsWith(`..${path.sep}`) && !path.isAbsolute(below))
    throw new Error(
      `[apps] private files must not be in the public folder: set 'filesDirectory' to another one than ${folder}`,
    );
  return folder;
}

/**
 * The problem that the host's tsconfig.json includes TypeScript files below `themes` (absolute paths): Strapi then compiles
 * logic of blocks as its own code, and `strapi develop` and `strapi build` end at its type errors. Null without one, and
 * without TypeScript. Reads the names of all files that the configuration includes.
 */
export function compiledThemes(appRoot: string, themes: string): SetupProblem | null {
  const file = path.join(appRoot, 'tsconfig.json');
  const below = path.relative(appRoot, themes).split(path.sep).join('/');
  if (!existsSync(file) || below.startsWith('..') || path.isAbsolute(below)) return null;
  const names = includedFiles(file);
  const isLogic = (name: string) =>
    !path.relative(themes, path.resolve(name)).startsWith('..') && !name.endsWith('.d.ts');
  if (!names.some(isLogic)) return null;
  return {
    message:
      `The host's tsconfig.json includes the TypeScript of blocks in ${below}: a type error in a block then ends ` +
      '"strapi develop" and "strapi build"',
    cure: `add "${below}/" to "exclude" in tsconfig.json`,
  };
}

/** The configuration of the panel's development server, which does not ignore the themes yet. */
interface WatchingPanel {
  /** Absolute. */
  file: string;
  isThere: boolean;
  /** The pattern of files that it should ignore. */
  ignored: string;
}

/**
 * The file in which the host's panel has to ignore `themes` (absolute paths); null where it has no folder for the panel, or its themes
 * are elsewhere, or the file names them already. A plugin cannot change that server: Strapi makes it of this file alone.
 */
export function watchingPanel(appRoot: string, themes: string): WatchingPanel | null {
  const folder = path.join(appRoot, 'src', 'admin');
  const below = path.relative(appRoot, themes).split(path.sep).join('/');
  if (below.startsWith('..') || path.isAbsolute(below) || !existsSync(folder)) return null;
  const ignored = `**/${below}/**`;
  const inFolder = (ending: string) => path.join(folder, `vite.config.${ending}`);
  const existing = ['ts', 'mts', 'js', 'mjs'].map(inFolder).find((file) => existsSync(file));
  if (existing !== undefined)
    return readFileSync(existing, 'utf8').includes(below) ? null : { file: existing, isThere: true, ignored };
  const isTypeScript = [folder, appRoot].some((one) => existsSync(path.join(one, 'tsconfig.json')));
  return { file: inFolder(isTypeScript ? 'ts' : 'js'), isThere: false, ignored };
}

/** The problem that a saved file of a theme reloads the panel, in development; null without it. */
export function reloadedPanel(appRoot: string, themes: string): SetupProblem | null {
  const found = watchingPanel(appRoot, themes);
  if (!found) return null;
  const file = path.relative(appRoot, found.file).split(path.sep).join('/');
  return {
    message:
      'A saved .html file of a theme reloads every open page of the admin panel under "strapi develop": a form that is half filled in is empty then',
    cure: `let server.watch.ignored in ${file} name '${found.ignored}' (docs/reference/installation.md#typescript-applications)`,
  };
}

/** Absolute paths of the files that a tsconfig.json includes; empty where the host has no TypeScript. */
function includedFiles(file: string): string[] {
  try {
    const { readConfigFile, parseJsonConfigFileContent, sys } = createRequire(file)('typescript') as TypeScript;
    return parseJsonConfigFileContent(readConfigFile(file, sys.readFile).config, sys, path.dirname(file)).fileNames;
  } catch {
    return [];
  }
}
