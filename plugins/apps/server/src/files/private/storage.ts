import { createHash, randomBytes } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { unavailable } from '../../common/errors';

/** A file as Strapi's upload provider knows it. */
export interface ProvidedFile {
  name: string;
  hash: string;
  ext: string;
  mime: string;
  /** Of the storage, without a signature. */
  url: string;
  provider_metadata?: unknown;
}

/** One stored content: that of a private file, or its thumbnail. */
export interface StoredPart {
  mime: string;
  /** Bytes. */
  size: number;
  /** As the provider has stored it; null: it is in the folder. */
  provided: ProvidedFile | null;
}

/** What is to be stored. */
export interface PartSource {
  /** The name of the file, with its ending. */
  name: string;
  mime: string;
  /** Bytes. */
  size: number;
  getStream(): Readable;
}

/** Where a stored content can be read: in an open file, which the caller closes, or at an address that holds for a moment. */
export type OpenedPart = { handle: FileHandle; size: number } | { url: string };

/** The parts of Strapi's upload plugin that store bytes. */
export interface UploadStorage {
  provider?: {
    isPrivate?(): boolean | Promise<boolean>;
    getSignedUrl?(file: ProvidedFile): Promise<{ url: string }> | { url: string };
    delete?(file: ProvidedFile): unknown;
  };
  config?(key: string): unknown;
  service(name: 'provider'): { upload(file: object): Promise<void>; checkFileSize(file: object): Promise<void> };
}

export interface StorageOptions {
  /** Absolute path of the plugin's own folder; made when it is needed. */
  folder: string;
  upload(): UploadStorage | undefined;
}

/** The bytes of private files: at Strapi's upload provider where that is private, else in a folder (docs/decisions/private-files.md). */
export interface PrivateStorage {
  /** The provider that stores new files; null: the folder does. */
  provider(): Promise<string | null>;
  /** What the provider gets before it has stored a file: by it an interrupted one can be removed. */
  planned(provider: string | null, key: string, source: Omit<PartSource, 'getStream'>): StoredPart;
  /** Stores bytes under a key; they are on the disk when it resolves. */
  put(provider: string | null, key: string, source: PartSource): Promise<StoredPart>;
  /** Null where the bytes are gone. ServiceUnavailableError where the host has another provider now. */
  open(provider: string | null, key: string, part: StoredPart): Promise<OpenedPart | null>;
  remove(provider: string | null, key: string, part: StoredPart): Promise<void>;
}

/** Keys that are names of files as they are; ids of Strapi's media library may be others. */
const PLAIN = /^(?:thumbnail_)?[a-z0-9]{2,40}$/;

const nameOf = (key: string): string => (PLAIN.test(key) ? key : createHash('sha256').update(key).digest('hex'));

/** Strapi counts in kilobytes. */
const kilobytes = (bytes: number): number => Math.round((bytes / 1000) * 100) / 100;

export function createPrivateStorage({ folder, upload }: StorageOptions): PrivateStorage {
  const pathOf = (key: string): string => {
    const name = nameOf(key);
    return join(folder, name.replace('thumbnail_', '').slice(0, 2), name);
  };

  const planned: PrivateStorage['planned'] = (provider, key, { name, mime, size }) => {
    const hash = `apps_${nameOf(key)}`;
    const provided = provider === null ? null : { name, hash, ext: extname(name), mime, url: '' };
    return { mime, size, provided };
  };

  const providerNow = async (): Promise<string | null> => {
    const plugin = upload();
    const isPrivate = (await plugin?.provider?.isPrivate?.()) === true;
    return isPrivate ? String(plugin?.config?.('provider') ?? 'upload') : null;
  };

  const ofProvider = async (name: string): Promise<UploadStorage> => {
    const plugin = upload();
    if (plugin && (await providerNow()) === name) return plugin;
    throw unavailable(`This file is stored by the upload provider "${name}", which is not in use`, 60);
  };

  return {
    provider: providerNow,
    planned,
    async put(provider, key, source) {
      if (provider === null) return { mime: source.mime, size: await write(pathOf(key), source), provided: null };
      const { mime, size, provided } = planned(provider, key, source);
      const plugin = await ofProvider(provider);
      const file = { ...provided, size: kilobytes(size), sizeInBytes: size, getStream: source.getStream };
      await plugin.service('provider').upload(file);
      const { getStream: _stream, size: _kilobytes, sizeInBytes: _bytes, ...stored } = file;
      return { mime, size, provided: stored as ProvidedFile };
    },
    async open(provider, key, { provided }) {
      if (provider === null) return opened(pathOf(key));
      const plugin = await ofProvider(provider);
      if (!provided) return null;
      return { url: (await plugin.provider?.getSignedUrl?.(provided))?.url ?? provided.url };
    },
    async remove(provider, key, { provided }) {
      if (provider === null) {
        await rm(pathOf(key), { force: true });
        await removePartial(pathOf(key));
      } else if (provided) await (await ofProvider(provider)).provider?.delete?.(provided);
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
async function opened(path: string): Promise<OpenedPart | null> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return null;
    throw error;
  }
  const info = await handle.stat();
  if (info.isFile()) return { handle, size: info.size };
  await handle.close();
  return null;
}

/** A stream of a file on the disk. */
export const streamOf = (path: string): Readable =>
  createReadStream(path, { flags: constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) } as never);
