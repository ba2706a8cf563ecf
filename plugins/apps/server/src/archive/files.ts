import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

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

/**
 * A text that changes with the files of a folder, and with the paths of its links. The server answers others meanwhile, however large
 * the files are.
 */
export async function revisionOf(folder: string): Promise<string> {
  const links: string[] = [];
  const hash = createHash('sha256');
  for (const path of await filesBelow(folder, (path) => links.push(path))) {
    const own = createHash('sha256');
    for await (const piece of createReadStream(join(folder, path))) own.update(piece);
    hash.update(`${path}\n${own.digest('hex')}\n`);
  }
  return hash.update(links.join('\n')).digest('base64url');
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
