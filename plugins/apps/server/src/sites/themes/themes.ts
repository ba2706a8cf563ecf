import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import path, { join } from 'node:path';
import type { SetupProblem } from '../../../../shared/admin-api';
import { contentVersion } from '../../common/assets';
import { type Awaitable, isPromise, type KeptAge, keptFor } from '../../common/time/awaitable';
import { coalesceReads } from '../../common/time/coalesce';
import { createKeyedMutex } from '../../common/time/mutex';
import type { AppsConfig } from '../../config.types';
import { isId } from '../addresses';
import type { AppFolder, AppLocation, PublicFile, Site, ThemeFile } from '../types';
import {
  changedLately,
  createAssetVersions,
  entriesIn,
  type FoundFile,
  findFiles,
  insideRoot,
  namesIn,
  type OpenFile,
  openInside,
  readThemeFile,
  realPathOf,
  type Search,
} from './theme-files';
import { DefinitionWords, type WatchedWord } from './watched-apps';

/** Files of a folder at one moment: either all old or all new. */
export interface Snapshot {
  /** Hash of all paths and texts. */
  revision: string;
  files: ReadonlyMap<string, ThemeFile>;
}

/** Reads of a folder while its files change; after the last one its files are used although they may differ in age. */
const MAX_READS = 5;

interface Kept {
  snapshot: Snapshot;
  signature: string;
  /** When it was last known to be current, by `performance.now()`. */
  checkedAt: number;
  /** False when a file had changed right before it was read. */
  settled: boolean;
}

/** Keeps snapshots of folders and renews them when a file has changed; equal content is the same object. */
export class Snapshots {
  private readonly kept = new Map<string, Kept>();
  private readonly checking = new Map<string, Promise<Snapshot>>();

  /** @param age how long a snapshot is used after it was checked; 0: each request checks */
  constructor(
    private readonly searches: readonly Search[],
    private readonly age: KeptAge,
  ) {}

  /** The files of the folder `base`, a real path inside the real path `root`. */
  get(root: string, base: string): Awaitable<Snapshot> {
    // In development a check that began before the last change must not answer for it.
    if (this.age.max === 0) return this.check(root, base);
    const kept = this.kept.get(base);
    const age = kept ? performance.now() - kept.checkedAt : this.age.max;
    if (kept && age < this.age.renewAfter) return kept.snapshot;
    const check = this.sharedCheck(root, base);
    if (!kept || age >= this.age.max) return check;
    check.catch(() => undefined);
    return kept.snapshot;
  }

  private sharedCheck(root: string, base: string): Promise<Snapshot> {
    let check = this.checking.get(base);
    if (!check) {
      check = this.check(root, base).finally(() => this.checking.delete(base));
      this.checking.set(base, check);
    }
    return check;
  }

  private async check(root: string, base: string): Promise<Snapshot> {
    const checkedAt = performance.now();
    let found = await findFiles(root, base, this.searches);
    let signature = signatureOf(found);
    const kept = this.kept.get(base);
    if (kept?.settled && kept.signature === signature) {
      kept.checkedAt = checkedAt;
      return kept.snapshot;
    }
    let files: ThemeFile[] = [];
    let settled = false;
    for (let reading = 0; reading < MAX_READS; reading += 1) {
      const read = await Promise.all(found.map((file) => readThemeFile(root, file)));
      files = read.filter((file) => file !== null);
      // A file that was found and cannot be read was replaced meanwhile, which its signature need not show.
      const whole = files.length === read.length;
      found = await findFiles(root, base, this.searches);
      const after = signatureOf(found);
      settled = whole && after === signature && !changedLately(found);
      if (whole && after === signature) break;
      signature = after;
    }
    return this.keep(base, { files, signature, checkedAt, settled });
  }

  private keep(base: string, { files, ...rest }: Omit<Kept, 'snapshot'> & { files: ThemeFile[] }): Snapshot {
    const revision = revisionOf(files);
    const known = this.kept.get(base)?.snapshot;
    const snapshot =
      known?.revision === revision ? known : { revision, files: new Map(files.map((file) => [file.path, file])) };
    this.kept.set(base, { snapshot, ...rest });
    return snapshot;
  }
}

function signatureOf(files: FoundFile[]): string {
  return files.map(({ path, signature }) => `${path}:${signature}`).join('\n');
}

/** Hash of all paths and texts. */
export function revisionOf(files: ThemeFile[]): string {
  return contentVersion(JSON.stringify(files.map(({ path, text, problem }) => [path, text, problem ?? null])));
}

/** In production a change is seen within 2 seconds. Between 1 and 1.75 seconds requests do not wait for the check. */
const CHECKED_FOR: KeptAge = { renewAfter: 1_000, max: 1_750 };

const any = () => true;
const endsWith =
  (...endings: string[]) =>
  (name: string) =>
    endings.some((ending) => name.endsWith(ending));
const named =
  (...names: string[]) =>
  (name: string) =>
    names.includes(name);

/** Parts of layouts and translated messages, of an app or a theme. */
const sharedSearches: Search[] = [
  { folder: 'partials', deep: false, accepts: endsWith('.html', '.liquid') },
  { folder: 'locales', deep: false, accepts: endsWith('.yaml', '.yml') },
];

/** The files of an app that are read (docs/reference/theme.md#files). */
const appSearches: Search[] = [
  { folder: '', deep: false, accepts: named('settings.yaml') },
  { folder: 'blocks', deep: true, accepts: any },
  { folder: 'lib', deep: true, accepts: any },
  ...sharedSearches,
];

const themeSearches: Search[] = [
  { folder: '', deep: false, accepts: named('theme.yaml', 'layout.html', 'rules.yaml') },
  { folder: 'templates', deep: false, accepts: endsWith('.html') },
  ...sharedSearches,
];

interface ThemesOptions {
  config: Pick<AppsConfig, 'themesDirectory' | 'appsFolder'>;
  logger: { warn(message: string): void };
  production: boolean;
}

/** Themes on disk (docs/reference/theme.md): nothing outside a theme's folder is ever read. */
export type Themes = ReturnType<typeof createThemes>;

export function createThemes({ config, logger, production }: ThemesOptions) {
  const { themesDirectory, appsFolder } = config;
  const age = production ? CHECKED_FOR : { renewAfter: 0, max: 0 };
  const appSnapshots = new Snapshots(appSearches, age);
  const themeSnapshots = new Snapshots(themeSearches, age);
  const versions = createAssetVersions(age.renewAfter);
  const definitions = new DefinitionWords();
  const warned = new Set<string>();

  function warnOnce(message: string): null {
    if (!warned.has(message)) logger.warn(`[apps] ${message}`);
    warned.add(message);
    return null;
  }

  /** Real path of a theme's folder, which may itself be a link; null if there is no such theme. */
  async function findRoot(themeId: string): Promise<string | null> {
    if (!isId(themeId)) return null;
    const root = await realpath(join(themesDirectory, themeId)).catch(() => null);
    return root !== null && (await isFolder(root)) ? root : null;
  }

  const { get: rootOf } = keptFor(age, coalesceReads(findRoot, never), isFound);

  /**
   * Looks for an app in a theme, then follows `.lnk` files from theme to theme
   * (docs/reference/theme.md#where-an-app-is-looked-for).
   */
  async function locate(themeId: string, appId: string): Promise<AppLocation | null> {
    if (!isId(appId)) return null;
    const visited: string[] = [];
    for (let theme = themeId; ; ) {
      const link = `The link ${[...visited, theme].join(' -> ')} for the app "${appId}"`;
      if (visited.includes(theme)) return warnOnce(`${link} comes back to where it was`);
      // `rootOf` is not used: two caches would double the age.
      const root = await findRoot(theme);
      const apps = root && (await insideRoot(root, join(root, appsFolder)));
      // Names are compared with those in the folder, because some file systems ignore case.
      const entries = apps ? await entriesIn(apps) : [];
      const entry = entries.find(({ name }) => name === appId);
      const folder = root && apps && entry ? await appFolder(root, apps, entry) : null;
      if (root && folder) return { themeId: theme, root, folder };
      const hasLink = root && apps && entries.some(({ name }) => name === `${appId}.lnk`);
      const next = hasLink ? await readLink(root, join(apps, `${appId}.lnk`)) : null;
      if (hasLink && next === null) return warnOnce(`${link} does not hold the id of a theme`);
      if (next === null) return visited.length > 0 ? warnOnce(`${link} leads to no such app`) : null;
      visited.push(theme);
      theme = next;
    }
  }

  /** The location of an app for a theme; cached as long as its files. */
  const locateOnce = coalesceReads((key) => locate(...(JSON.parse(key) as [string, string])), never);
  const { get: locateApp } = keptFor(age, (...key: [string, string]) => locateOnce(JSON.stringify(key)), isFound);

  async function asset({ theme, app, path }: PublicFile): Promise<OpenFile | null> {
    const root = await rootOf(theme);
    const folder = root && join(root, ...(app === undefined ? [] : [appsFolder, app]), 'assets');
    const assets = folder && (await insideRoot(root, folder));
    // A link inside the theme must not make other files of it public either.
    return assets ? openInside(assets, join(assets, path)) : null;
  }

  return {
    rootOf,
    locateApp,

    /** A public file; null if there is none. */
    asset,

    /** The version of a public file's content; null if there is no such file, or if it is too large to have one. */
    assetVersion: (file: PublicFile): Promise<string | null> =>
      versions(JSON.stringify([file.theme, file.app, file.path]), () => asset(file)),

    /** The files of an app's folder. */
    appFiles: ({ root, folder }: AppLocation): Awaitable<Snapshot> => appSnapshots.get(root, folder),

    /** The watched words that the definitions of an app have; their texts are not kept. */
    watchedWords: ({ root, folder }: AppLocation): Promise<ReadonlySet<WatchedWord>> => definitions.words(root, folder),

    /** The own files of the theme that holds an app. */
    filesOfTheme: ({ root }: AppLocation): Awaitable<Snapshot> => themeSnapshots.get(root, root),

    /** A theme's own files, or null if there is no such theme. */
    async themeFiles(themeId: string): Promise<Snapshot | null> {
      const root = await rootOf(themeId);
      return root === null ? null : themeSnapshots.get(root, root);
    },

    /** Ids of all themes. */
    async ids(): Promise<string[]> {
      const names = (await namesIn(themesDirectory)).filter(isId);
      const roots = await Promise.all(names.map(rootOf));
      return names.filter((_, index) => roots[index] !== null);
    },

    /** All apps that a theme offers, linked ones included, by id. */
    async apps(themeId: string): Promise<[id: string, location: AppLocation][]> {
      const root = await rootOf(themeId);
      const apps = root && (await insideRoot(root, join(root, appsFolder)));
      if (!root || !apps) return [];
      const entries = new Map((await entriesIn(apps)).map((entry) => [entry.name, entry]));
      const ids = [...new Set([...entries.keys()].map((name) => name.replace(/\.lnk$/, '')).filter(isId))];
      // `locateApp` reads the names of all apps to find one: here they are known.
      const locationOf = async (id: string): Promise<AppLocation | null> => {
        const entry = entries.get(id);
        const folder = entry ? await appFolder(root, apps, entry) : null;
        return folder ? { themeId, root, folder } : locateApp(themeId, id);
      };
      const found = await Promise.all(ids.map(async (id) => [id, await locationOf(id)] as const));
      return found.flatMap(([id, location]) => (location ? [[id, location] satisfies [string, AppLocation]] : []));
    },
  };
}

const isFound = (value: unknown): boolean => value !== null;

/** Files are read outside of every transaction. */
const never = (): boolean => false;

/** The real path of an app's folder, an entry of the real path `apps`; null if it is none, or outside of the theme. */
async function appFolder(root: string, apps: string, entry: Dirent): Promise<string | null> {
  const folder = entry.isFile() ? null : await realPathOf(root, apps, entry);
  return folder && (entry.isDirectory() || (await isFolder(folder))) ? folder : null;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}

/** The theme that a `.lnk` file names, or null. */
async function readLink(root: string, path: string): Promise<string | null> {
  const real = await insideRoot(root, path);
  const file = real && (await readThemeFile(root, { path, real }));
  const theme = file ? file.text.trim() : '';
  return isId(theme) ? theme : null;
}

/** Files of all themes together that are looked at; a change of others is not seen. */
const MAX_FILES = 20_000;

/** Folders inside each other; a link that leads back ends here. */
const MAX_DEPTH = 12;

/**
 * A text that differs when a file of any theme has been added, changed or removed, assets included. Links are followed, as
 * themes and apps may be linked. Asks the disk for each file, so it is for development only.
 * @param directory the themes folder; it may be missing
 */
export async function themesVersion(directory: string): Promise<string> {
  const found: string[] = [];
  await collect(directory, '', 0, found);
  return found.sort().join('\n');
}

async function collect(directory: string, path: string, depth: number, found: string[]): Promise<void> {
  const names = await readdir(join(directory, path)).catch(() => []);
  for (const name of names) {
    if (name.startsWith('.') || name === 'node_modules' || found.length >= MAX_FILES) continue;
    const file = join(path, name);
    const info = await stat(join(directory, file), { bigint: true }).catch(() => null);
    if (info?.isDirectory() && depth < MAX_DEPTH) await collect(directory, file, depth + 1, found);
    else if (info?.isFile()) found.push(`${file}:${info.size}:${info.mtimeNs}`);
  }
}

/** Writes a first theme and names it in the configuration. */
const starter = 'npx strapi-plugin-apps init';

/**
 * What is missing on the disk for these sites, each with its cure (docs/reference/installation.md#checks-at-the-start).
 * @param directory absolute path of the folder of all themes; messages show it relative to the working folder
 * @param themes ids of the themes in it
 */
export function themeProblems(directory: string, themes: readonly string[], sites: readonly Site[]): SetupProblem[] {
  const folder = path.relative(process.cwd(), directory) || directory;
  if (themes.length === 0) {
    return [
      { message: `There is no theme in the folder ${folder}: the sites have no pages and no apps`, cure: starter },
    ];
  }
  return sites
    .filter(({ theme }) => !themes.includes(theme))
    .map(({ id, theme }) => ({
      message:
        `The site "${id}" uses the theme "${theme}", which the folder ${folder} does not have. Choose one that it has ` +
        "on the plugin's page of the admin panel, or name it in config/plugins",
      cure: `theme: '${themes[0]}'`,
    }));
}

/**
 * The folder with other texts. Its revision is that of the texts, so that nothing that is compiled or kept of the stored one is
 * used, and equal texts are compiled once.
 */
export function withFiles(folder: AppFolder, files: ReadonlyMap<string, string>): AppFolder {
  const all = new Map<string, ThemeFile>(folder.files);
  let { settings } = folder;
  for (const [path, text] of files) {
    if (path === 'settings.yaml' || path === settings?.path) settings = { path, text };
    else all.set(path, { path, text });
  }
  const edited = revisionOf([...files].map(([path, text]) => ({ path, text })));
  return { ...folder, settings, files: all, revision: `${folder.revision}+edited-${edited}` };
}

/** Where choices made in the admin panel are kept: shared by all server processes. */
export interface SettingStore {
  /** The keys of all that was ever chosen, or more. */
  keys(): Promise<ReadonlySet<string>>;
  get(key: string): Promise<unknown>;
  set(key: string, value: string): Promise<void>;
  /** Whether the calling code is inside a transaction, which its reads join. */
  inTransaction(): boolean;
}

/** Texts that administrators have chosen, by keys; null, or '' in the store: nothing. */
interface Choices {
  get(key: string): Awaitable<string | null>;
  /** Sets what `next` makes of the text that the store has now; one change of a key after the other in this process. */
  change(key: string, next: (stored: string | null) => string | null): Promise<void>;
  set(key: string, value: string | null): Promise<void>;
}

/** Milliseconds between reads of the store: another process's choice is seen within 2 seconds. */
const CHOICES_INTERVAL = 1000;

export function createChoices(store: SettingStore): Choices {
  const inTransaction = () => store.inTransaction();
  const readNow = async (key: string) => {
    const stored = await store.get(key);
    return typeof stored === 'string' && stored !== '' ? stored : null;
  };
  // Code inside a transaction must not wait for a read outside of it, which may wait for the transaction's connection.
  const read = coalesceReads(readNow, inTransaction);
  const known = keptFor(CHOICES_INTERVAL, read, () => !inTransaction());
  // Most sites and apps have none: one read of the keys says so for all of them.
  const readKeys = coalesceReads(() => store.keys(), inTransaction);
  const keys = keptFor(
    CHOICES_INTERVAL,
    () => readKeys(''),
    () => !inTransaction(),
  );
  /** Keys that this process has set, which a read that had begun before may lack. */
  const own = new Set<string>();
  const changes = createKeyedMutex();
  const set = async (key: string, value: string | null) => {
    await store.set(key, value ?? '');
    own.add(key);
    known.set(value, key);
  };
  const chosen = (all: ReadonlySet<string>, key: string) => (all.has(key) || own.has(key) ? known.get(key) : null);

  return {
    get(key) {
      const all = keys.get();
      return isPromise(all) ? all.then((read) => chosen(read, key)) : chosen(all, key);
    },

    async change(key, next) {
      const unlock = await changes.lock([key]);
      try {
        await set(key, next(await readNow(key)));
      } finally {
        unlock();
      }
    },
    set,
  };
}
