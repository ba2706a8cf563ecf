import { type BigIntStats, constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { ThemeFile } from './types';

/** Bytes of one file of a theme that is read as text, at most. */
const MAX_FILE_SIZE = 1024 * 1024;
/** Files of one app or theme, at most; further ones are not seen. */
const MAX_FILES = 1000;
/** Folders inside each other, at most. */
const MAX_DEPTH = 8;

/** The real path of something inside `root` (a real path itself), or null: missing, or a link that leads out of it. */
export async function insideRoot(root: string, path: string): Promise<string | null> {
  const real = await realpath(path).catch(() => null);
  return real !== null && (real === root || real.startsWith(root.endsWith(sep) ? root : root + sep)) ? real : null;
}

/** Names in a folder, sorted, or none; hidden ones are left out. */
export async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => !name.startsWith('.')).sort();
}

/** A file or folder as it was found, by its path relative to where the search began. */
export interface FoundFile {
  path: string;
  real: string;
  /** Changes whenever the file does; ends with the time of its last change in nanoseconds. */
  signature: string;
}

/** What to look for: files of a folder itself, by a test of their names, or of all folders in it too. */
export interface Search {
  /** Folder relative to where the search begins; '' for that one. */
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
      const place = join(folder, entry.name);
      const real = entry.isSymbolicLink() ? await insideRoot(root, place) : place;
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

/** The text of a file, or why it has none. */
export async function readThemeFile({ path, real }: Pick<FoundFile, 'path' | 'real'>): Promise<ThemeFile> {
  // A pipe put in the file's place would otherwise keep the reader waiting for ever.
  const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
  if (!handle) return { path, text: '', problem: 'The file cannot be read' };
  try {
    const info = await handle.stat();
    if (!info.isFile()) return { path, text: '', problem: 'This is not a file' };
    if (info.size > MAX_FILE_SIZE)
      return { path, text: '', problem: `The file is larger than ${MAX_FILE_SIZE / 1024} kB` };
    const bytes = await handle.readFile();
    return { path, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    const problem = error instanceof TypeError ? 'The file is not UTF-8 text' : 'The file cannot be read';
    return { path, text: '', problem };
  } finally {
    await handle.close();
  }
}
