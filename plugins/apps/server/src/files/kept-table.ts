import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Description, isFile, type KeptStore } from './kept-folder';
import { bytesOf, type Storage, type StoredPart, streamOf } from './storage';

/** The table of kept files. */
export interface KeptTable {
  findOne(params: object): Promise<Record<string, unknown> | null>;
  findMany(params: object): Promise<Record<string, unknown>[]>;
  create(params: { data: object }): Promise<unknown>;
  updateMany(params: object): Promise<unknown>;
  deleteMany(params: object): Promise<unknown>;
}

/** The column of a row with all but what the others have. */
interface Content extends Omit<Description, 'path'> {
  provider: string;
  part: StoredPart;
}

export interface KeptTableTools {
  table(): KeptTable;
  storage: Storage;
  /** The temporary folder of this machine. */
  folder: string;
}

/**
 * Kept files in the store for private files, which processes share without sharing a disk, and a row of the database for each: providers
 * list nothing. A row is there before its object and until after it, so that what a process that ended early has left is removed in time.
 */
export function createKeptTable({ table, storage, folder }: KeptTableTools): KeptStore {
  const fresh = () => join(folder, `upload-${randomBytes(16).toString('hex')}`);
  /** Its hash names the object: who sees the names of objects can claim none. */
  const keyOf = (token: string) => `kept:${token}`;
  const contentOf = async (token: string): Promise<Content | null> => {
    const row = await table().findOne({ where: { token } });
    const content = row?.content;
    return (typeof content === 'string' ? JSON.parse(content) : content) ?? null;
  };

  const remove = async (token: string): Promise<void> => {
    const content = await contentOf(token);
    if (!content) return;
    await (await storage.store(content.provider)).remove(keyOf(token), content.part);
    await table().deleteMany({ where: { token } });
  };

  /** Copies an object to this machine. */
  const copy = async (token: string, path: string): Promise<void> => {
    const content = await contentOf(token);
    const opened = content && (await (await storage.store(content.provider)).open(keyOf(token), content.part));
    const stream = opened && (await bytesOf(opened));
    if (!stream) throw new Error('The kept file is gone');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await pipeline(stream, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  };

  return {
    async list() {
      const rows = await table().findMany({ select: ['token', 'sender', 'size', 'keptAt'] });
      return rows.map(({ token, sender, size, keptAt }) => ({
        ...{ token: String(token), sender: String(sender), size: Number(size), keptAt: Number(keptAt) },
      }));
    },
    async find(token) {
      const content = await contentOf(token);
      if (!content) return null;
      const { provider: _provider, part: _part, ...file } = content;
      return { ...file, path: join(folder, `upload-${token}`) };
    },
    async put({ path, ...file }) {
      const { token, name, mime, sender, size, keptAt } = file;
      const provider = await storage.current();
      const target = await storage.store(provider);
      const source = { name, mime, size, getStream: () => streamOf(path) };
      const content = { ...file, provider, part: target.planned(keyOf(token), source) };
      await table().create({ data: { token, sender, size, keptAt, content } });
      try {
        const part = await target.put(keyOf(token), source);
        await table().updateMany({ where: { token }, data: { content: { ...content, part } } });
      } catch (error) {
        await remove(token).catch(() => undefined);
        throw error;
      }
      await rm(path, { force: true });
    },
    remove,
    async use(file, work) {
      if (await isFile(file.path)) return work(file);
      const path = fresh();
      try {
        await copy(file.token, path);
        return await work({ ...file, path });
      } finally {
        await rm(path, { force: true });
      }
    },
  };
}
