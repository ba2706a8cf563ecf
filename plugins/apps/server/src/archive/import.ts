import {
  copyFileSync,
  createWriteStream,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmdirSync,
} from 'node:fs';
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ZipFile } from 'yauzl';
import { brokenCatalogues, loadApp, readRules, readThemeInfo } from '../apps';
import { attempt, errorText } from '../common/errors';
import { createSitesFrom, isId, newIdProblem, sharedFolders } from '../sites';
import type { Sites } from '../sites/types';
import { ArchiveError, type ArchiveFile, filesOf, openArchive } from './entries';
import { type Differences, differences, filesBelow, revisionOf } from './files';

/** What a ZIP holds. */
interface Contents {
  kind: 'app' | 'theme';
  id: string;
  /** Files by their paths inside the app or theme. */
  files: Map<string, ArchiveFile>;
}

const ofApps = /^(settings\.yaml$|blocks\/|lib\/)/;
const ofThemes = /^(rules\.yaml$|templates\/)/;
/** What only a theme has, beside the apps' folder; its other folders may have any name. */
const onlyOfThemes = /^(theme\.yaml$|layout\.html$)/;

/** What files are: both where they are side by side, null where they are neither. */
function kindOf(paths: readonly string[], appsFolder: string): Contents['kind'] | 'both' | null {
  const isSurelyTheme = paths.some((path) => onlyOfThemes.test(path) || path.startsWith(`${appsFolder}/`));
  const isApp = !isSurelyTheme && paths.some((path) => ofApps.test(path));
  const isTheme = isSurelyTheme || paths.some((path) => ofThemes.test(path));
  return isApp ? (isTheme ? 'both' : 'app') : isTheme ? 'theme' : null;
}

/**
 * The app or theme of a ZIP: the files are in one folder, named by the id, or at the top, then the id is `fallback`.
 * Returns a sentence where the ZIP holds neither.
 */
function contentsOf(
  files: readonly ArchiveFile[],
  { appsFolder, id: wanted, fallback }: { appsFolder: string; id: string | undefined; fallback: string },
): Contents | string {
  const [root = '', ...others] = new Set(files.map(({ path }) => path.slice(0, path.indexOf('/') + 1)));
  const kindBelow = (prefix: string) =>
    kindOf(
      files.map(({ path }) => path.slice(prefix.length)),
      appsFolder,
    );
  // A single folder may also be the only one of an app or theme, such as `blocks/`.
  const prefix = others.length === 0 && kindBelow(root) !== null ? root : '';
  const kind = kindBelow(prefix);
  if (kind === null)
    return `The ZIP holds no app (blocks/, settings.yaml) and no theme (theme.yaml, layout.html, ${appsFolder}/)`;
  if (kind === 'both') return 'The ZIP has files of an app and of a theme side by side';
  const id = wanted ?? (prefix === '' ? fallback : prefix.slice(0, -1));
  const problem = isId(id) ? newIdProblem(id) : '';
  if (problem !== null) {
    const why = problem === '' ? '' : `, because it ${problem}`;
    return `"${id}" cannot be the id of ${kind === 'app' ? 'an app' : 'a theme'}${why}; choose one with --id`;
  }
  return { kind, id, files: new Map(files.map((file) => [file.path.slice(prefix.length), file])) };
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
    settingStore: {
      keys: async () => new Set(),
      get: async () => null,
      set: async () => undefined,
      inTransaction: () => false,
    },
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
async function definitionProblems(themeFolder: {
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

/** Whether there is a file, a folder or a link, also one that leads nowhere. */
const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/**
 * Renames the folder `fresh` to `target`. What is there is replaced; its hidden files stay
 * (docs/reference/import-export.md#apps-and-themes-as-zip). Throws ArchiveError; the old folder is then at `target` or where
 * the message says, and is never deleted.
 * @param base folder for the old folder meanwhile, on the same file system
 */
export async function putInPlace(fresh: string, target: string, base: string): Promise<void> {
  mkdirSync(dirname(target), { recursive: true });
  if (!exists(target)) {
    renameSync(fresh, target);
    return;
  }
  const holder = mkdtempSync(join(base, '.replaced-'));
  const aside = join(holder, 'old');
  try {
    renameSync(target, aside);
    renameSync(fresh, target);
    await keepHidden(aside, target);
  } catch (error) {
    throw new ArchiveError(
      `${target} cannot be replaced: ${(error as Error).message}`,
      restored(aside, target, holder),
    );
  }
  await rm(holder, { recursive: true, force: true });
}

/** Moves hidden files and folders, such as those of a version control: they are in no ZIP. */
async function keepHidden(from: string, to: string): Promise<void> {
  if (!(await lstat(from)).isDirectory()) return;
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [old, kept] = [join(from, entry.name), join(to, entry.name)];
    if (entry.name.startsWith('.')) {
      await mkdir(to, { recursive: true });
      await rename(old, kept);
    } else if (entry.isDirectory()) await keepHidden(old, kept);
  }
}

/** Puts the old folder back, else beside the new one. Returns a sentence where it is not at `target`. */
function restored(aside: string, target: string, holder: string): string | undefined {
  if (!exists(aside)) {
    rmdirSync(holder);
    return undefined;
  }
  for (const place of [target, `${target}.old`]) {
    if (exists(place)) continue;
    try {
      renameSync(aside, place);
      rmdirSync(holder);
      return place === target ? undefined : `The old folder is ${place}.`;
    } catch {
      // The next one, or it stays aside.
    }
  }
  return `The old folder is ${aside}.`;
}

/**
 * Writes the files of a ZIP into a new folder. The reader stops at a file that is larger than it says; throws its Error.
 * @param show gets the number of files
 */
async function unpack(
  zip: ZipFile,
  files: Contents['files'],
  folder: string,
  show: (done: number) => void,
): Promise<void> {
  let done = 0;
  mkdirSync(folder, { recursive: true });
  for (const [path, { entry }] of files) {
    const target = join(folder, ...path.split('/'));
    mkdirSync(dirname(target), { recursive: true });
    await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(target, { flags: 'wx', mode: 0o644 }));
    done += 1;
    show(done);
  }
}

/** The folder of a theme, and that of its apps. */
export interface ThemeFolders {
  id: string;
  folder: string;
  apps: string;
}

interface ImportRequest {
  /** Path of the ZIP. */
  file: string;
  themesDirectory: string;
  appsFolder: string;
  /** The id that the app or theme gets instead of its own. */
  id: string | undefined;
  /** The id where the files are in no folder. */
  fallback: string;
  /** The theme that gets an app, or refuses it by throwing. */
  themeOf(contents: Contents): ThemeFolders;
  /** A theme is refused: the caller has named the theme that gets an app. */
  requireApp?: boolean;
  /** Whether what is there with other files is replaced; else with the files of this revision alone. */
  replace: boolean | { revision: string };
  /** False: it is only checked. */
  write: boolean;
  /** Looks at the unpacked files where they are only checked. */
  inspect?(unpacked: Unpacked): Promise<void>;
  /** Gets the number of unpacked files, and of all. */
  onProgress?(done: number, total: number): void;
}

/** Files that were unpacked to be checked: a themes folder of its own, outside of all themes. */
export interface Unpacked {
  themesDirectory: string;
  /** Id of the theme in it. */
  theme: string;
  /** Folder of the app or theme. */
  folder: string;
  contents: Contents;
  /** The theme that gets an app. */
  into: ThemeFolders | null;
}

/** Problems, for which nothing was written; else what is, or would be, at `target`. */
export type Imported =
  | { problems: string[] }
  | {
      problems: null;
      contents: Contents;
      target: string;
      /** `equal`: it is there with the same files; `taken`: with others, which stay. */
      state: 'equal' | 'taken' | 'written' | 'checked';
      /** Null where nothing is there. */
      differences: Differences | null;
      /** Of the files that were there before; null where nothing was. */
      revision: string | null;
    };

/** Where an app or theme is put. */
interface ImportTarget {
  path: string;
  /** Folder of the temporary files, on the same file system. */
  base: string;
  /** The theme that gets an app. */
  theme: ThemeFolders | null;
}

/**
 * Reads an app or a theme from a ZIP (docs/reference/import-export.md#apps-and-themes-as-zip). It is checked before it is
 * written, written to a temporary folder, and renamed at the end. ArchiveError for a file that is no ZIP, and for a target
 * that cannot take it.
 */
export async function importArchive(request: ImportRequest): Promise<Imported> {
  const { appsFolder, id, fallback, file } = request;
  const zip = await openArchive(file);
  try {
    const { files, problems } = await filesOf(zip).catch((error: Error) => {
      throw new ArchiveError(`${file} cannot be read as a ZIP: ${error.message}`);
    });
    if (problems.length > 0) return { problems };
    const contents = contentsOf(files, { appsFolder, id, fallback });
    if (typeof contents === 'string') return { problems: [contents] };
    const target = targetOf(request, contents);
    // What is only checked never comes near a theme; what is written is renamed, which needs the same file system.
    const temporary = mkdtempSync(join(request.write ? target.base : tmpdir(), '.import-'));
    try {
      const fresh = await unpackInto(request, zip, contents, target, temporary);
      if (fresh.problems.length > 0) return { problems: fresh.problems };
      if (!request.write) {
        const { folder, theme } = fresh;
        if (target.theme) await copyShared(target.theme.folder, join(temporary, theme));
        await request.inspect?.({ themesDirectory: temporary, theme, folder, contents, into: target.theme });
      }
      return await settle(request, contents, target, fresh.folder);
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  } finally {
    zip.close();
  }
}

function targetOf({ themesDirectory, themeOf, requireApp = false }: ImportRequest, contents: Contents): ImportTarget {
  const { kind, id } = contents;
  if (kind === 'theme') {
    if (requireApp) throw new ArchiveError('The ZIP holds a theme, not an app', 'Leave out --theme; --id names it.');
    mkdirSync(themesDirectory, { recursive: true });
    return { path: join(themesDirectory, id), base: themesDirectory, theme: null };
  }
  const theme = themeOf(contents);
  const link = join(theme.apps, `${id}.lnk`);
  if (existsSync(link))
    throw new ArchiveError(`The app "${id}" of the theme "${theme.id}" is a link: ${link}`, 'Delete it first.');
  return { path: join(theme.apps, id), base: theme.folder, theme };
}

/** Unpacks into a themes folder of its own, in which the definitions are checked as the server reads them. */
async function unpackInto(
  { appsFolder, onProgress = () => undefined }: ImportRequest,
  zip: Parameters<typeof unpack>[0],
  { kind, id, files }: Contents,
  { theme }: ImportTarget,
  temporary: string,
): Promise<{ folder: string; theme: string; problems: string[] }> {
  const themeId = kind === 'theme' ? id : 'theme';
  const themeFolder = join(temporary, themeId);
  const folder = kind === 'theme' ? themeFolder : join(themeFolder, appsFolder, id);
  try {
    await unpack(zip, files, folder, (done) => onProgress(done, files.size));
  } catch (error) {
    return {
      folder,
      theme: themeId,
      problems: [`The ZIP is damaged, or not what it says: ${(error as Error).message}`],
    };
  }
  // It says how the definitions of the theme's apps are read.
  const info = theme && join(theme.folder, 'theme.yaml');
  if (info && existsSync(info)) copyFileSync(info, join(themeFolder, 'theme.yaml'));
  const problems = await definitionProblems({ themesDirectory: temporary, appsFolder, theme: themeId });
  return { folder, theme: themeId, problems };
}

/** Copies what the apps of a theme use of it. */
async function copyShared(from: string, to: string): Promise<void> {
  for (const shared of sharedFolders) {
    if (!lstatSync(join(from, shared), { throwIfNoEntry: false })?.isDirectory()) continue;
    for (const path of await filesBelow(join(from, shared))) {
      mkdirSync(dirname(join(to, shared, path)), { recursive: true });
      copyFileSync(join(from, shared, path), join(to, shared, path));
    }
  }
}

/** Puts the new folder in its place, if nothing is there or it may be replaced. */
async function settle(
  { replace, write }: ImportRequest,
  contents: Contents,
  { path: target, base }: ImportTarget,
  fresh: string,
): Promise<Imported> {
  const found = exists(target) ? await differences(target, fresh) : null;
  const revision = found && (await revisionOf(target));
  const isEqual = found !== null && Object.values(found).every((paths: string[]) => paths.length === 0);
  const mayReplace = typeof replace === 'object' ? replace.revision === revision : replace;
  const result = { problems: null, contents, target, differences: found, revision } as const;
  if (isEqual) return { ...result, state: 'equal' };
  if (found && !mayReplace) return { ...result, state: 'taken' };
  if (!write) return { ...result, state: 'checked' };
  await putInPlace(fresh, target, base);
  return { ...result, state: 'written' };
}
