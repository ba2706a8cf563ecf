import type { BigIntStats } from 'node:fs';
import { type FileHandle, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { contentVersion } from '../../common/content-version';
import type { ThemeFile } from '../types';
import { insideRoot, type OpenFile, openInside } from './open-inside';

/** Bytes of one text file of a theme. */
export const MAX_FILE_SIZE = 1024 * 1024;
/** Files of one app or theme; further ones are ignored. */
export const MAX_FILES = 1000;
/** Depth of nested folders. */
export const MAX_DEPTH = 8;

/** Names in a folder, sorted, or none; hidden ones are left out. */
export async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => !name.startsWith('.')).sort();
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
  /** Folder relative to the start of the search; '' for the start. */
  folder: string;
  deep: boolean;
  accepts(name: string): boolean;
}

/** All regular files of `base` that are searched for and lie inside `root`, by stat calls only. */
export async function findFiles(root: string, base: string, searches: readonly Search[]): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  const walk = async (search: Search, path: string, folder: string, depth: number): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (found.length >= MAX_FILES) return;
      if (entry.name.startsWith('.')) continue;
      const own = path === '' ? entry.name : `${path}/${entry.name}`;
      const entryPath = join(folder, entry.name);
      const real = entry.isSymbolicLink() ? await insideRoot(root, entryPath) : entryPath;
      const info = real && (await stat(real, { bigint: true }).catch(() => null));
      if (!info) continue;
      if (info.isDirectory() && search.deep && depth < MAX_DEPTH) await walk(search, own, real, depth + 1);
      if (info.isFile() && search.accepts(entry.name))
        found.push({ path: own, real, signature: signatureOf(real, info) });
    }
  };
  for (const search of searches) {
    const start = await insideRoot(root, join(base, search.folder));
    if (start) await walk(search, search.folder, start, 0);
  }
  return found;
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
