import { createHash, randomBytes } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { PartSource, Store, StoredBytes } from './types';

/** Keys that are names of files as they are; ids of Strapi's media library may be others, and the names of kept files are secret. */
const PLAIN = /^(?:thumbnail_)?[a-z0-9]{2,40}$/;

/** The name under which a key is stored. */
export const storedName = (key: string): string =>
  PLAIN.test(key) ? key : createHash('sha256').update(key).digest('hex');

/** A store in a folder. @param folder absolute path; made when it is needed */
export function createFolderStore(folder: string): Store {
  const pathOf = (key: string): string => {
    const name = storedName(key);
    return join(folder, name.replace('thumbnail_', '').slice(0, 2), name);
  };
  return {
    planned: (_key, { mime, size }) => ({ mime, size, provided: null }),
    put: async (key, source) => ({ mime: source.mime, size: await write(pathOf(key), source), provided: null }),
    open: (key) => opened(pathOf(key)),
    async remove(key) {
      await rm(pathOf(key), { force: true });
      await removePartial(pathOf(key));
    },
  };
}

/** Removes what processes that ended early have written of a file. */
async function removePartial(path: string): Promise<void> {
  const folder = dirname(path);
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith(`${basename(path)}.`));
  for (const name of names) await rm(join(folder, name), { force: true });
}

/** Writes a file that is whole under its name, and on the disk; the number of its bytes. */
async function write(path: string, source: PartSource): Promise<number> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const partial = `${path}.${randomBytes(8).toString('hex')}`;
  const file = await open(partial, 'wx', 0o600);
  let size = 0;
  try {
    for await (const chunk of source.getStream()) {
      await file.writeFile(chunk);
      size += chunk.length;
    }
    await file.sync();
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(partial, path);
  await removePartial(path);
  return size;
}

/** A file of the folder; null for none. A link is not followed: only the plugin writes there, and it makes none. */
async function opened(path: string): Promise<StoredBytes | null> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return null;
    throw error;
  }
  const info = await handle.stat();
  if (!info.isFile()) {
    await handle.close();
    return null;
  }
  let isRead = false;
  return {
    size: info.size,
    async read(start, end) {
      isRead = true;
      // The stream closes the file at its end, or when it is destroyed.
      return handle.createReadStream({ start, end });
    },
    close: async () => (isRead ? undefined : handle.close()),
  };
}

/** A stream of a file on the disk. */
export const streamOf = (path: string): Readable =>
  createReadStream(path, { flags: constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) } as never);
