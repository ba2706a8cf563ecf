import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { bytesOf, type Storage, type StoredPart, streamOf } from './storage';
import type { TemporaryFile } from './types';

/** A file that waits for its form's next submission. */
interface KeptFile {
  token: string;
  /** Who has sent it: a name that all requests of a sender have in common. */
  sender: string;
  /** Bytes. */
  size: number;
  /** Milliseconds since the epoch. */
  keptAt: number;
}

/** The part of all kept files that one sender may have: a divisor. */
const SHARE = 8;

/** Up to this part of all, a divisor, a sender's files stay for SAFE_TIME, whatever others send. */
const SAFE_SHARE = 64;

/** Milliseconds. */
const SAFE_TIME = 10 * 60 * 1000;

/** Bytes that a smaller file counts as: so the number of files is bounded too. */
const LEAST = 256 * 1024;

interface Sender {
  size: number;
  /** Oldest first. */
  files: KeptFile[];
}

/**
 * The kept files of one temporary folder, and which of them give way to a new one (docs/decisions/files.md): those that a
 * visitor has left, rather than one who has just sent a form.
 */
export class KeptFiles {
  private readonly files = new Map<string, KeptFile>();

  /** @param total bytes of all files together */
  constructor(private readonly total: number) {}

  has = (token: string): boolean => this.files.has(token);
  get = (token: string): KeptFile | undefined => this.files.get(token);
  add = ({ token, sender, size, keptAt }: KeptFile): void =>
    void this.files.set(token, { token, sender, size, keptAt });
  /** Whether it was there. */
  delete = (token: string): boolean => this.files.delete(token);
  all = (): KeptFile[] => [...this.files.values()];

  /**
   * The files that give way to a new one, which may be none; null where it finds no room.
   * @param stays tokens of files that the same request shows again
   * @param now milliseconds since the epoch
   */
  roomFor({ sender, size }: Pick<KeptFile, 'sender' | 'size'>, stays: ReadonlySet<string>, now: number) {
    const senders = this.bySender();
    const added = counted(size);
    const own = senders.get(sender) ?? { size: 0, files: [] };
    let sum = [...senders.values()].reduce((all, one) => all + one.size, 0);
    const leaving: KeptFile[] = [];
    const leave = (from: Sender, file: KeptFile): void => {
      from.files.splice(from.files.indexOf(file), 1);
      from.size -= counted(file.size);
      sum -= counted(file.size);
      leaving.push(file);
    };
    const freeOf = (from: Sender, isFree: (file: KeptFile) => boolean) =>
      from.files.find((file) => !stays.has(file.token) && isFree(file));
    while (own.size + added > this.total / SHARE) {
      const file = freeOf(own, () => true);
      if (!file) return null;
      leave(own, file);
    }
    while (sum + added > this.total) {
      let largest: { from: Sender; file: KeptFile } | undefined;
      for (const from of senders.values()) {
        if (largest && largest.from.size >= from.size) continue;
        const isSafe = from.size <= this.total / SAFE_SHARE;
        const file = freeOf(from, ({ keptAt }) => !isSafe || now - keptAt >= SAFE_TIME);
        if (file) largest = { from, file };
      }
      if (!largest) return null;
      leave(largest.from, largest.file);
    }
    return leaving;
  }

  private bySender(): Map<string, Sender> {
    const senders = new Map<string, Sender>();
    for (const file of [...this.files.values()].sort((a, b) => a.keptAt - b.keptAt)) {
      const one = senders.get(file.sender) ?? { size: 0, files: [] };
      one.size += counted(file.size);
      one.files.push(file);
      senders.set(file.sender, one);
    }
    return senders;
  }
}

const counted = (size: number): number => Math.max(size, LEAST);

/** A kept file with all that its next submission needs of it. */
export type Description = TemporaryFile & Pick<KeptFile, 'sender' | 'keptAt'>;

/** Where the files that wait for their forms are listed and stored. */
export interface KeptStore {
  /** Those that wait, of all processes. @param known what the caller knows of one: it is not read again */
  list(known: (token: string) => KeptFile | undefined): Promise<KeptFile[]>;
  /** Null where it is gone. */
  find(token: string): Promise<Description | null>;
  /** Stores a file that lies at its `path`. */
  put(file: Description): Promise<void>;
  remove(token: string): Promise<void>;
  /** Does work for which the bytes of a kept file have to be at a path on this machine. Rejects where they are gone. */
  use<T>(file: TemporaryFile, work: (file: TemporaryFile) => Promise<T>): Promise<T>;
}

/** The file of a token in the temporary folder, and the file beside it that describes it. */
const pathOf = (folder: string, token: string): string => join(folder, `upload-${token}`);
const descriptionOf = (folder: string, token: string): string => `${pathOf(folder, token)}.json`;

export const isFile = async (path: string): Promise<boolean> => (await stat(path).catch(() => null)) !== null;

/** The temporary folder itself: a file stays where it was received, and its description is put beside it. */
export function createKeptFolder(folder: string): KeptStore {
  const read = async (token: string): Promise<Description | null> => {
    try {
      const found = JSON.parse(await readFile(descriptionOf(folder, token), 'utf8')) as Description;
      return typeof found.keptAt === 'number' ? { ...found, path: pathOf(folder, token) } : null;
    } catch {
      // It is gone, or the process has ended while it wrote.
      return null;
    }
  };
  return {
    async list(known) {
      const names = await readdir(folder).catch(() => []);
      const tokens = names.flatMap((name) => /^upload-([0-9a-f]{32})\.json$/.exec(name)?.slice(1) ?? []);
      const files: KeptFile[] = [];
      for (const token of tokens) {
        const file = known(token) ?? (await read(token));
        if (file) files.push(file);
      }
      return files;
    },
    async find(token) {
      const file = await read(token);
      return file && (await isFile(file.path)) ? file : null;
    },
    put: (file) => writeFile(descriptionOf(folder, file.token), JSON.stringify(file), { mode: 0o600 }),
    async remove(token) {
      await rm(pathOf(folder, token), { force: true });
      await rm(descriptionOf(folder, token), { force: true });
    },
    use: (file, work) => work(file),
  };
}

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

interface KeptTableTools {
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
        token: String(token),
        sender: String(sender),
        size: Number(size),
        keptAt: Number(keptAt),
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
