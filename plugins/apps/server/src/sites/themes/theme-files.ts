import { type BigIntStats, constants, type Dirent } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { LRUCache } from 'lru-cache';
import { contentVersion } from '../../common/assets';
import type { ThemeFile } from '../types';

/** An open regular file. Its reader closes `handle`. */
export interface OpenFile {
  handle: FileHandle;
  /** Where the descriptor leads: a real path. */
  path: string;
  info: BigIntStats;
}

/** macOS: `O_NOFOLLOW_ANY`, by which open() fails where any part of the path is a symbolic link. */
const NOFOLLOW = process.platform === 'darwin' ? 0x20000000 : constants.O_NOFOLLOW;

/** Without O_NONBLOCK, opening a pipe waits for a writer. Windows has none of these flags. */
const READ = [constants.O_NONBLOCK, constants.O_NOCTTY, NOFOLLOW].reduce(
  (flags: number, flag: number | undefined) => flags | (flag ?? 0),
  constants.O_RDONLY,
);

/** Whether a real path is `root` (a real path) or lies inside it. */
export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** The real path of something inside `root` (a real path itself), or null: missing, or a link that leads out of it. */
export async function insideRoot(root: string, path: string): Promise<string | null> {
  const real = await realpath(path).catch(() => null);
  return real !== null && isInside(root, real) ? real : null;
}

/** Attempts to open a file that is replaced between its check and its opening. */
const MAX_ATTEMPTS = 5;

/** Error codes of open() when the path is no longer a file: a link, a pipe, a folder, or nothing. */
const notThere = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK', 'ENXIO', 'EISDIR']);

/**
 * Opens a regular file inside `root` (a real path) for reading; null when there is none, or when it is elsewhere. Rejects
 * with the system's error when there is one that cannot be opened. A path that was checked may lead elsewhere when it is
 * opened, because a user with write access to a folder may replace a part of it with a link at any moment. So the descriptor
 * itself is checked, and what is read must be read from it.
 */
export async function openInside(root: string, path: string): Promise<OpenFile | null> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    // The path is checked first, because opening a device has side effects.
    const real = await insideRoot(root, path);
    if (real === null || !(await lstat(real).catch(() => null))?.isFile()) return null;
    const file = await openChecked(root, real);
    if (file) return file;
  }
  return null;
}

/** Opens a file by its real path; null when the descriptor leads out of `root`, or to no file that has a name. */
async function openChecked(root: string, real: string): Promise<OpenFile | null> {
  const handle = await open(real, READ).catch((error: NodeJS.ErrnoException) => {
    if (notThere.has(String(error.code))) return null;
    throw error;
  });
  if (handle === null) return null;
  let opened: OpenFile | null = null;
  try {
    const info = await handle.stat({ bigint: true });
    const leadsTo = info.isFile() ? await pathOf(handle, real, info) : null;
    if (leadsTo !== null && isInside(root, leadsTo)) opened = { handle, path: leadsTo, info };
  } finally {
    if (opened === null) await handle.close();
  }
  return opened;
}

/** The path of an open file; null when it has been removed or cannot be found. */
async function pathOf(handle: FileHandle, path: string, opened: BigIntStats): Promise<string | null> {
  if (process.platform === 'linux') {
    const link = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => null);
    // Without /proc, as on other systems, below.
    if (link !== null) return opened.nlink === 0n ? null : link;
  }
  const real = await realpath(path).catch(() => null);
  const info = real === null ? null : await lstat(real, { bigint: true }).catch(() => null);
  return info !== null && info.dev === opened.dev && info.ino === opened.ino ? real : null;
}

/** Bytes of one text file of a theme. */
export const MAX_FILE_SIZE = 1024 * 1024;
/** Files of one app or theme; further ones are ignored. */
export const MAX_FILES = 1000;
/** Depth of nested folders. */
export const MAX_DEPTH = 8;

/** Entries of a folder, sorted by name, or none; hidden ones are left out. */
export async function entriesIn(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter(({ name }) => !name.startsWith('.')).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Names in a folder, sorted, or none; hidden ones are left out. */
export const namesIn = async (folder: string): Promise<string[]> => (await entriesIn(folder)).map(({ name }) => name);

/**
 * The real path of an entry of `folder`, a real path inside `root`; null for a link that leads out of it. Only a link is looked up:
 * that costs a system call for each part of its path.
 */
export async function realPathOf(root: string, folder: string, entry: Dirent): Promise<string | null> {
  const path = join(folder, entry.name);
  return entry.isSymbolicLink() ? insideRoot(root, path) : path;
}

/** A file or folder as it was found, by its path relative to the start of the search. */
export interface FoundFile {
  path: string;
  real: string;
  /** Changes whenever the file does; ends with the time of its last change in nanoseconds. */
  signature: string;
}

/** A search for files of one folder, or (`deep`) also of its subfolders. */
export interface Search {
  /** Name of a folder at the start of the search; '' for the start itself. */
  folder: string;
  deep: boolean;
  accepts(name: string): boolean;
}

/**
 * All regular files that are searched for in `base`, a real path inside the real path `root`. No file is opened, and `stat` is called
 * for those only that may be found.
 */
export async function findFiles(root: string, base: string, searches: readonly Search[]): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  const walk = async (
    search: Search,
    path: string,
    folder: string,
    entries: Dirent[],
    depth: number,
  ): Promise<void> => {
    for (const entry of entries) {
      if (found.length >= MAX_FILES) return;
      // Links are neither, and some file systems do not say what an entry is.
      const mayBeFile = !entry.isDirectory() && search.accepts(entry.name);
      const mayBeFolder = !entry.isFile() && search.deep && depth < MAX_DEPTH;
      const real = mayBeFile || mayBeFolder ? await realPathOf(root, folder, entry) : null;
      if (real === null) continue;
      const own = path === '' ? entry.name : `${path}/${entry.name}`;
      const info = entry.isDirectory() ? null : await stat(real, { bigint: true }).catch(() => null);
      if (mayBeFolder && (info?.isDirectory() ?? entry.isDirectory()))
        await walk(search, own, real, await entriesIn(real), depth + 1);
      if (mayBeFile && info?.isFile()) found.push({ path: own, real, signature: signatureOf(real, info) });
    }
  };
  const top = await entriesIn(base);
  for (const search of searches) {
    if (search.folder === '') await walk(search, '', base, top, 0);
    const entry = top.find(({ name }) => name === search.folder);
    const start = entry && (await realPathOf(root, base, entry));
    if (start) await walk(search, search.folder, start, await entriesIn(start), 0);
  }
  return found;
}

/** A file changed twice within this time may keep its time stamp, so that only reading it again can tell. */
const UNSETTLED_MS = 100;

/** Whether a file was changed so lately that another change might leave it with the same signature. */
export function changedLately(files: FoundFile[]): boolean {
  const recent = (BigInt(Date.now()) - BigInt(UNSETTLED_MS)) * 1_000_000n;
  return files.some(({ signature }) => BigInt(signature.slice(signature.lastIndexOf(':') + 1)) > recent);
}

function signatureOf(real: string, { dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [real, dev, ino, size, mtimeNs, ctimeNs].join(':');
}

/** The text of a file inside `root`, or why it has none; null when it is not, or no longer, a file inside `root`. */
export async function readThemeFile(
  root: string,
  { path, real }: Pick<FoundFile, 'path' | 'real'>,
): Promise<ThemeFile | null> {
  let file: OpenFile | null = null;
  try {
    file = await openInside(root, real);
    if (!file) return null;
    const bytes = await readBounded(file.handle, MAX_FILE_SIZE);
    if (!bytes) return { path, text: '', problem: `The file is larger than ${MAX_FILE_SIZE / 1024} kB` };
    return { path, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    // Too many files are open: nothing is wrong with this one, and the next attempt may read it.
    if (/^E[MN]FILE$/.test(String((error as NodeJS.ErrnoException).code))) throw error;
    const problem = error instanceof TypeError ? 'The file is not UTF-8 text' : 'The file cannot be read';
    return { path, text: '', problem };
  } finally {
    await file?.handle.close();
  }
}

/** The bytes of a file, null if there are more than `maxSize`: a file may grow while it is read. */
async function readBounded(handle: FileHandle, maxSize: number): Promise<Buffer | null> {
  const { size } = await handle.stat();
  if (size > maxSize) return null;
  let buffer = Buffer.alloc(size + 1);
  for (let length = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    length += bytesRead;
    if (length > maxSize) return null;
    if (bytesRead === 0) return buffer.subarray(0, length);
    if (length === buffer.length) buffer = Buffer.concat([buffer], maxSize + 1);
  }
}

/** Bytes of the largest public file that has a version: it is read as a whole for each. */
const MAX_VERSIONED = 2 * 1024 * 1024;

/** The content of an open file and its version, or null if the file is too large to have one. Leaves the file open. */
export async function versionedContent({ handle }: OpenFile): Promise<{ bytes: Buffer; version: string } | null> {
  const bytes = await readBounded(handle, MAX_VERSIONED);
  return bytes && { bytes, version: contentVersion(bytes) };
}

interface Kept {
  version: string | null;
  signature: string;
  checkedAt: number;
}

/** Public files whose versions are kept. */
const MAX_KEPT = 2_000;

/**
 * Versions of public files, by a key. A version that is no longer current does no harm: its address is answered with the current
 * file, which is then not cached.
 * @param maxAge milliseconds for which a version is taken for current
 */
export function createAssetVersions(maxAge: number) {
  const kept = new LRUCache<string, Kept>({ max: MAX_KEPT });

  return async (key: string, open: () => Promise<OpenFile | null>): Promise<string | null> => {
    const known = kept.get(key);
    const checkedAt = performance.now();
    if (known && checkedAt - known.checkedAt < maxAge) return known.version;
    const file = await open();
    try {
      const signature = file && contentSignature(file.info);
      if (!signature) return null;
      const version =
        known?.signature === signature ? known.version : ((await versionedContent(file))?.version ?? null);
      kept.set(key, { version, signature, checkedAt });
      return version;
    } finally {
      await file?.handle.close();
    }
  };
}

const contentSignature = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':');
