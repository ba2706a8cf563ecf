import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, mkdir, open, readdir, readlink, realpath, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { contentVersion } from '../../common/assets';
import { AppsError, missing, notFound } from '../../common/errors';
import { fileNameProblem, isId, newIdProblem } from '../addresses';
import { findFiles, insideRoot, isInside, namesIn } from './theme-files';
import type { Themes } from './themes';

/** A folder that is open: paths below `base` stay in it, whatever its own path leads to meanwhile. */
interface OpenFolder {
  base: string;
}

const outside = () => new AppsError('ForbiddenError', 'A part of this path is a link, or no folder');

/**
 * Opens the folder `path` (segments below the real path `root`) for `work`. No segment may be a symbolic link. On Linux all
 * work goes through the folder's descriptor, so that a folder that is replaced by a link meanwhile changes nothing; on other
 * systems it is checked right before.
 * @param create whether missing folders are made
 */
async function withFolder<T>(
  root: string,
  path: readonly string[],
  create: boolean,
  work: (folder: OpenFolder) => Promise<T>,
): Promise<T | null> {
  let at = root;
  for (const segment of path) {
    await refuseOtherCase(at, segment);
    at = join(at, segment);
    if (create) await mkdir(at).catch(ignoreExisting);
    const info = await lstat(at).catch(() => null);
    if (!info) return null;
    if (!info.isDirectory()) throw outside();
  }
  const handle = await open(at, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0));
  try {
    const link = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : null;
    const real = link === null ? await realpath(at) : await readlink(link).catch(() => null);
    if (real === null || !isInside(root, real)) throw outside();
    return await work({ base: link ?? real });
  } finally {
    await handle.close();
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/**
 * ConflictError where the folder has the name in another case: some file systems take both for one file, so that a theme
 * with both cannot be copied there.
 */
async function refuseOtherCase(folder: string, name: string): Promise<void> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const other = names.find((one) => one !== name && one.toLowerCase() === name.toLowerCase());
  if (other === undefined || names.includes(name)) return;
  throw new AppsError('ConflictError', `There is "${other}" already, which differs in case only`);
}

/** Names of one part of a path: no hidden files, nothing that a file system may read in another way. */
const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** Characters of a path, of a part of it, and parts. */
const MAX = { path: 255, segment: 100, depth: 8 };

/** Endings of texts that can be edited. */
const ENDINGS = /\.(yaml|yml|html|liquid|js|mjs|ts|py|json|css|md|txt|svg|csv)$/;

/** Folders of an app, and files beside them (docs/reference/theme.md#files). */
const PLACES = /^(?:(?:blocks|lib|partials|locales|assets|tests)\/.+|settings\.yaml|README\.md|LICENSE\.txt)$/;

/** BadRequestError for a path that is not one of an app's own texts; nothing is read for it. */
function checkedPath(path: string): string {
  const problem = pathProblem(path);
  if (problem) throw new AppsError('BadRequestError', `This cannot be a file of an app: ${problem}`);
  return path;
}

function pathProblem(path: string): string | null {
  if (path.length > MAX.path) return `a path has at most ${MAX.path} characters`;
  const segments = path.split('/');
  if (segments.length > MAX.depth) return `there are at most ${MAX.depth - 1} folders`;
  for (const segment of segments) {
    if (segment.length > MAX.segment) return `a name has at most ${MAX.segment} characters`;
    if (!SEGMENT.test(segment))
      return "names have letters, digits, '_', '-' and '.', and begin with none of the last two";
    if (segment.includes('..')) return 'a name has single dots';
    const problem = fileNameProblem(segment);
    if (problem) return `"${segment}" ${problem}`;
  }
  if (!PLACES.test(path)) return 'it is settings.yaml, or in blocks, lib, partials, locales, assets or tests';
  return ENDINGS.test(path) ? null : 'its ending is not that of a text';
}

/** Whether the file of a path is a text that can be edited. */
export const isEditable = (path: string): boolean => pathProblem(path) === null;

/** Bytes of one text, and files of an app. */
const MAX_SIZE = 1024 * 1024;
const MAX_FILES = 1_000;

interface EditableFile {
  path: string;
  text: string;
  /** Hash of its bytes. */
  revision: string;
}

interface ListedFile {
  path: string;
  /** Whether it is a text that can be edited; not so for links and other kinds of files. */
  isEditable: boolean;
}

/** The file is not as it was when it was read; `current` is what it is now, null where it is gone. */
class FileChanged extends AppsError {
  constructor(readonly current: EditableFile | null) {
    super(
      'ConflictError',
      current ? 'The file has changed since it was read' : 'The file has been deleted since it was read',
      {
        details: { current: current as never },
      },
    );
  }
}

/** The files of an app's folder, a real path. Names are checked before anything is opened. */
async function listFiles(folder: string): Promise<ListedFile[]> {
  const found = await findFiles(folder, folder, [{ folder: '', deep: true, accepts: () => true }]);
  return found.map(({ path, real }) => ({ path, isEditable: isEditable(path) && real === join(folder, path) }));
}

/** NotFoundError for a file that is not there, ForbiddenError for a link, UnsupportedMediaTypeError for no UTF-8 text. */
async function readFile(folder: string, path: string): Promise<EditableFile> {
  const found = await inFolder(folder, path, false, (at, name) => read(at, name, path));
  if (!found) throw notFound(`There is no file "${path}"`);
  return found;
}

/**
 * Writes a file, all of it or nothing. FileChanged unless the file has the revision, or, where that is null, does not exist.
 * @returns the file before; null for a new one
 */
async function writeFile(
  folder: string,
  { path, text }: { path: string; text: string },
  revision: string | null,
): Promise<EditableFile | null> {
  checkText(text);
  if (revision === null && (await listFiles(folder)).length >= MAX_FILES)
    throw new AppsError('BadRequestError', `An app has at most ${MAX_FILES} files`);
  return inFolder(folder, path, true, async ({ base }, name) => {
    const temporary = join(base, `.${name.slice(0, 60)}.${randomBytes(6).toString('hex')}`);
    const handle = await open(temporary, 'wx', 0o666);
    try {
      try {
        const mode = (await lstat(join(base, name)).catch(() => null))?.mode;
        if (mode !== undefined) await handle.chmod(mode & 0o777);
        await handle.writeFile(text);
        await handle.sync();
      } finally {
        await handle.close();
      }
      const before = await requireRevision({ base }, name, path, revision);
      // Without a file before, a rename would replace one that was made meanwhile.
      if (before) await rename(temporary, join(base, name));
      else await link(temporary, join(base, name)).catch(taken(path));
      return before;
    } finally {
      await rm(temporary, { force: true });
    }
  });
}

/** Renames a file with the revision; ConflictError where the new name is taken. */
async function renameFile(folder: string, path: string, to: string, revision: string): Promise<EditableFile> {
  checkedPath(to);
  const moved = await inFolder(folder, path, false, (from, name) =>
    opened(folder, to, true, async ({ base }, newName) => {
      const file = await requireRevision(from, name, path, revision);
      await link(join(from.base, name), join(base, newName)).catch(taken(to));
      await unlink(join(from.base, name));
      return file && { ...file, path: to };
    }),
  );
  if (!moved) throw notFound(`There is no file "${path}"`);
  return moved;
}

/** Deletes a file with the revision; returns what it was. */
async function deleteFile(folder: string, path: string, revision: string): Promise<EditableFile> {
  const deleted = await inFolder(folder, path, false, async (at, name) => {
    const file = await requireRevision(at, name, path, revision);
    await unlink(join(at.base, name));
    return file;
  });
  if (!deleted) throw notFound(`There is no file "${path}"`);
  return deleted;
}

/** Writes of one process, one after the other for each file: each compares the revision and replaces the file. */
const queues = new Map<string, Promise<unknown>>();

async function inFolder<T>(
  folder: string,
  path: string,
  create: boolean,
  work: (at: OpenFolder, name: string) => Promise<T>,
): Promise<T | null> {
  checkedPath(path);
  const key = join(folder, path);
  const result = (queues.get(key) ?? Promise.resolve()).then(() => opened(folder, path, create, work));
  const settled = result.catch(() => undefined);
  queues.set(key, settled);
  void settled.finally(() => queues.get(key) === settled && queues.delete(key));
  return result;
}

/** Opens the folder of a file, without waiting for other work on the file. */
async function opened<T>(
  folder: string,
  path: string,
  create: boolean,
  work: (at: OpenFolder, name: string) => Promise<T>,
): Promise<T | null> {
  const segments = checkedPath(path).split('/');
  const name = segments.pop() as string;
  return withFolder(folder, segments, create, async (at) => {
    if (create) await refuseOtherCase(at.base, name);
    return work(at, name);
  });
}

async function requireRevision(
  at: OpenFolder,
  name: string,
  path: string,
  revision: string | null,
): Promise<EditableFile | null> {
  const current = await read(at, name, path);
  if ((current?.revision ?? null) !== revision) throw new FileChanged(current);
  return current;
}

async function read({ base }: OpenFolder, name: string, path: string): Promise<EditableFile | null> {
  // The folder's own spelling of the name: some file systems ignore case.
  if (!(await readdir(base)).includes(name)) return null;
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const handle = await open(join(base, name), flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    if (error.code === 'ELOOP' || error.code === 'EMLINK' || error.code === 'ENXIO')
      throw new AppsError('ForbiddenError', `"${path}" is a link, or no file`);
    throw error;
  });
  if (!handle) return null;
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw new AppsError('ForbiddenError', `"${path}" is no file`);
    if (info.size > MAX_SIZE)
      throw new AppsError('PayloadTooLargeError', `"${path}" is larger than ${MAX_SIZE / 1024} kB`);
    const bytes = await handle.readFile();
    return { path, text: textOf(bytes, path), revision: contentVersion(bytes) };
  } finally {
    await handle.close();
  }
}

function textOf(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new AppsError('UnsupportedMediaTypeError', `"${path}" is not UTF-8 text`);
  }
}

/** Throws for what no file of an app can hold: PayloadTooLargeError, or BadRequestError for no text. */
export function checkText(text: string): void {
  if (Buffer.byteLength(text) > MAX_SIZE)
    throw new AppsError('PayloadTooLargeError', `A file has at most ${MAX_SIZE / 1024} kB`);
  if (/[\0\p{Surrogate}]/u.test(text)) throw new AppsError('BadRequestError', 'This is not a text');
}

const taken = (path: string) => (error: NodeJS.ErrnoException) => {
  if (error.code === 'EEXIST') throw new AppsError('ConflictError', `There is a file "${path}" already`);
  throw error;
};

/** Reads and writes the texts of an app's folder in a theme. */
interface AppEditor {
  list(): Promise<ListedFile[]>;
  read(path: string): Promise<EditableFile>;
  write(file: { path: string; text: string }, revision: string | null): Promise<EditableFile | null>;
  rename(path: string, to: string, revision: string): Promise<EditableFile>;
  delete(path: string, revision: string): Promise<EditableFile>;
  /** Absolute path of the folder, for files that are named by it. */
  folder: string;
}

export interface Editor {
  /**
   * The folder of an app of the theme. NotFoundError for an unknown one; ForbiddenError where another theme holds it: it would
   * change there too.
   */
  app(theme: string, appId: string): Promise<AppEditor>;
  /** Makes the empty folder of a new app. ConflictError for an id that is taken. */
  createApp(theme: string, appId: string): Promise<AppEditor>;
}

export function createEditor(themes: Pick<Themes, 'locateApp' | 'rootOf'>, appsFolder: string): Editor {
  return {
    async app(theme, appId) {
      const location = await themes.locateApp(theme, appId);
      if (!location) throw notFound(missing.app(appId));
      if (location.themeId !== theme)
        throw new AppsError(
          'ForbiddenError',
          `This app belongs to the theme "${location.themeId}"; it is changed there`,
        );
      return editorOf(location.folder);
    },

    async createApp(theme, appId) {
      if (!isId(appId)) throw new AppsError('BadRequestError', "An id has letters, digits, '_', '-' and single dots");
      const problem = newIdProblem(appId);
      if (problem) throw new AppsError('BadRequestError', `"${appId}" cannot be the id of an app: it ${problem}`);
      const root = await themes.rootOf(theme);
      if (!root) throw notFound(`There is no theme "${theme}"`);
      await mkdir(join(root, appsFolder), { recursive: true });
      const apps = await insideRoot(root, join(root, appsFolder));
      if (!apps) throw new AppsError('ForbiddenError', 'The folder of the apps is a link that leads out of the theme');
      const names = await namesIn(apps);
      if (names.includes(appId) || names.includes(`${appId}.lnk`))
        throw new AppsError('ConflictError', `The theme has an app "${appId}" already`);
      await refuseOtherCase(apps, appId);
      await mkdir(join(apps, appId));
      return editorOf(join(apps, appId));
    },
  };
}

const editorOf = (folder: string): AppEditor => ({
  folder,
  list: () => listFiles(folder),
  read: (path) => readFile(folder, path),
  write: (file, revision) => writeFile(folder, file, revision),
  rename: (path, to, revision) => renameFile(folder, path, to, revision),
  delete: (path, revision) => deleteFile(folder, path, revision),
});
