import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import { sep } from 'node:path';

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
