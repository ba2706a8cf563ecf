import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { brokenCatalogues, loadApp, readRules, readThemeInfo } from '../apps';
import { attempt, errorText } from '../common/errors';
import { createSitesFrom, isId, newIdProblem } from '../sites';
import type { Sites } from '../sites/types';
import type { ArchiveFile } from './entries';

/** What a ZIP holds. */
export interface Contents {
  kind: 'app' | 'theme';
  id: string;
  /** Files by their paths inside the app or theme. */
  files: Map<string, ArchiveFile>;
}

const ofApps = /^(settings\.yaml$|blocks\/|lib\/)/;
const ofThemes = /^(rules\.yaml$|templates\/)/;
/** What only a theme has, beside the apps' folder; its other folders may have any name. */
const onlyOfThemes = /^(theme\.yaml$|layout\.html$)/;

/**
 * The app or theme of a ZIP: the files are in one folder, named by the id, or at the top, then the id is `fallback`.
 * Returns a sentence where the ZIP holds neither.
 */
export function contentsOf(
  files: readonly ArchiveFile[],
  { appsFolder, id: wanted, fallback }: { appsFolder: string; id: string | undefined; fallback: string },
): Contents | string {
  const [root, ...others] = new Set(files.map(({ path }) => path.slice(0, path.indexOf('/') + 1)));
  const prefix = others.length === 0 ? (root ?? '') : '';
  const own = new Map(files.map((file) => [file.path.slice(prefix.length), file]));
  const paths = [...own.keys()];
  const isSurelyTheme = paths.some((path) => onlyOfThemes.test(path) || path.startsWith(`${appsFolder}/`));
  const isApp = !isSurelyTheme && paths.some((path) => ofApps.test(path));
  const isTheme = isSurelyTheme || paths.some((path) => ofThemes.test(path));
  if (isApp === isTheme) {
    return isApp
      ? 'The ZIP has files of an app and of a theme side by side'
      : `The ZIP holds no app (blocks/, settings.yaml) and no theme (theme.yaml, layout.html, ${appsFolder}/)`;
  }
  const id = wanted ?? (prefix === '' ? fallback : prefix.slice(0, -1));
  const problem = isId(id) ? newIdProblem(id) : '';
  if (problem !== null) {
    const why = problem === '' ? '' : `, because it ${problem}`;
    return `"${id}" cannot be the id of ${isApp ? 'an app' : 'a theme'}${why}; choose one with --id`;
  }
  return { kind: isApp ? 'app' : 'theme', id, files: own };
}

/**
 * Themes on disk, read as the server reads them, without a database and without Strapi. Each theme is the site of its id.
 * @param warn called with what the server would log about links
 */
export function sitesOfThemes(
  { themesDirectory, appsFolder }: { themesDirectory: string; appsFolder: string },
  themes: readonly string[],
  warn: (message: string) => void,
): Sites {
  return createSitesFrom({
    config: {
      themesDirectory,
      appsFolder,
      content: {},
      sites: themes.map((theme) => ({ id: theme, title: theme, theme })),
    },
    baseUrl: () => 'http://localhost',
    readContent: async () => null,
    settingStore: { get: async () => null, set: async () => undefined, inTransaction: () => false },
    contentTypes: () => [],
    logger: { warn },
    production: false,
    readThemeInfo,
  });
}

/**
 * The mistakes in the YAML files of one theme of a themes folder, and of its apps, each with its position: the same that
 * the server reports.
 */
export async function definitionProblems(themeFolder: {
  themesDirectory: string;
  appsFolder: string;
  theme: string;
}): Promise<string[]> {
  const problems: string[] = [];
  const reader = sitesOfThemes(themeFolder, [themeFolder.theme], () => undefined);
  const site = await reader.site(themeFolder.theme);
  if (!site) return problems;
  const own = (await reader.theme(site))?.files;
  const [info, rules] = [own?.get('theme.yaml'), own?.get('rules.yaml')];
  const ofTheme = [
    info ? attempt(() => readThemeInfo(info)).error : null,
    ...(rules ? readRules(rules).errors : []),
    ...(own ? await brokenCatalogues(own) : []),
  ];
  for (const error of ofTheme) if (error) problems.push(errorText(error));
  for (const id of await reader.apps(site)) {
    const folder = await reader.app(site, id);
    if (!folder) continue;
    const app = await loadApp(folder);
    const ofBlocks = [...app.blocks.values()].map(({ error }) => error);
    const errors = [app.error, ...ofBlocks, ...(await brokenCatalogues(folder.files))];
    for (const error of errors) if (error) problems.push(errorText(error, `${themeFolder.appsFolder}/${id}/`));
  }
  return problems;
}

/** Bytes of a file that are compared at once: other requests are answered between two of them. */
const PIECE = 1024 * 1024;

/** Paths of the regular files below a folder, with `/`, sorted. Hidden files, and links, are left out. */
export async function filesBelow(folder: string, skipped: (path: string) => void = () => undefined): Promise<string[]> {
  const found: string[] = [];
  const walk = async (path: string): Promise<void> => {
    for (const name of (await readdir(join(folder, path))).sort()) {
      if (name.startsWith('.')) continue;
      const own = path === '' ? name : `${path}/${name}`;
      const info = await lstat(join(folder, own));
      if (info.isDirectory()) await walk(own);
      else if (info.isFile()) found.push(own);
      else skipped(own);
    }
  };
  await walk('');
  return found;
}

/** How the files of a folder differ from those of another one. */
export interface Differences {
  added: string[];
  changed: string[];
  removed: string[];
}

/**
 * What changes when the folder `before` becomes the folder `after`, which has no links. A link in `before` counts as another file.
 * The server answers others meanwhile, however large the files are.
 */
export async function differences(before: string, after: string): Promise<Differences> {
  const links: string[] = [];
  const regular = new Set(await filesBelow(before, (path) => links.push(path)));
  const fresh = await filesBelow(after);
  const known = new Set([...regular, ...links].sort());
  const kept = new Set(fresh);
  const changed: string[] = [];
  for (const path of fresh) {
    if (!known.has(path)) continue;
    if (!(regular.has(path) && (await areEqual(join(before, path), join(after, path))))) changed.push(path);
  }
  return {
    added: fresh.filter((path) => !known.has(path)),
    changed,
    removed: [...known].filter((path) => !kept.has(path)),
  };
}

async function areEqual(one: string, other: string): Promise<boolean> {
  const first = await open(one);
  try {
    const second = await open(other);
    try {
      return await haveEqualBytes(first, second);
    } finally {
      await second.close();
    }
  } finally {
    await first.close();
  }
}

async function haveEqualBytes(one: FileHandle, other: FileHandle): Promise<boolean> {
  const { size } = await one.stat();
  if (size !== (await other.stat()).size) return false;
  const length = Math.min(size, PIECE);
  const [mine, theirs] = [Buffer.allocUnsafe(length), Buffer.allocUnsafe(length)];
  for (let at = 0; at < size; ) {
    const [{ bytesRead }, own] = await Promise.all([one.read(mine, 0, length, at), other.read(theirs, 0, length, at)]);
    // Fewer bytes than asked for: one of the files was cut meanwhile, or the pieces no longer match.
    if (bytesRead === 0 || bytesRead !== own.bytesRead) return false;
    if (!mine.subarray(0, bytesRead).equals(theirs.subarray(0, bytesRead))) return false;
    at += bytesRead;
  }
  return true;
}

/** The time of every file of a ZIP, so that equal files make equal ZIPs. */
const mtime = new Date(2000, 0, 1);

/**
 * A ZIP of files of a folder, below the folder `root`. A file that cannot be read ends the stream with its error.
 * @param paths as `filesBelow` gives them
 */
export function packed(folder: string, root: string, paths: readonly string[]): Readable {
  const zip = new ZipFile();
  const stream = zip.outputStream as Readable;
  // Errors of the files that are read are events of the ZIP, not of its stream.
  zip.once('error', (error: Error) => stream.destroy(error));
  for (const path of paths)
    zip.addFile(join(folder, path), `${root}/${path}`, { mtime, mode: 0o100644, forceDosTimestamp: true });
  zip.end();
  return stream;
}
