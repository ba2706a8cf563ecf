import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { AppsError } from '../../common/errors';
import { isInside } from './open-inside';

/** A folder that is open: paths below `base` stay in it, whatever its own path leads to meanwhile. */
export interface OpenFolder {
  base: string;
}

const outside = () => new AppsError('ForbiddenError', 'A part of this path is a link, or no folder');

/**
 * Opens the folder `path` (segments below the real path `root`) for `work`. No segment may be a symbolic link. On Linux all
 * work goes through the folder's descriptor, so that a folder that is replaced by a link meanwhile changes nothing; on other
 * systems it is checked right before.
 * @param create whether missing folders are made
 */
export async function withFolder<T>(
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
export async function refuseOtherCase(folder: string, name: string): Promise<void> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const other = names.find((one) => one !== name && one.toLowerCase() === name.toLowerCase());
  if (other === undefined || names.includes(name)) return;
  throw new AppsError('ConflictError', `There is "${other}" already, which differs in case only`);
}
