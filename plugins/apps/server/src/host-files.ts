import { existsSync } from 'node:fs';
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

/** Absolute paths of the files that a tsconfig.json includes; empty where the host has no TypeScript. */
function includedFiles(file: string): string[] {
  try {
    const { readConfigFile, parseJsonConfigFileContent, sys } = createRequire(file)('typescript') as TypeScript;
    return parseJsonConfigFileContent(readConfigFile(file, sys.readFile).config, sys, path.dirname(file)).fileNames;
  } catch {
    return [];
  }
}
