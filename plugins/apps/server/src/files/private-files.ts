import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { chunks } from '../common/collections';
import type { Pictures } from './pictures';
import { bytesOf, type OpenedPart, opening, type PartSource, type Storage, type StoredPart, streamOf } from './storage';
import type { AppKey, StoredFile, TemporaryFile } from './types';

/** Names in one statement, whose values a database limits. */
const MAX_NAMES = 500;

/** What the plugin's list has of a private file, in one column. */
interface PrivateContent {
  /** The name of a download, with the ending of its type. */
  name: string;
  /** Pixels of an image; null for other files. */
  width: number | null;
  height: number | null;
  /** The store that has it (Storage.current); null: the folder. */
  provider: string | null;
  main: StoredPart;
  thumbnail: StoredPart | null;
  /** What is to be removed from the store where it was before. */
  before?: Placed;
}

/** What is stored of a file, and where. */
type Placed = Pick<PrivateContent, 'provider' | 'main' | 'thumbnail'>;

/** A private file of an app. */
export interface PrivateFile extends PrivateContent, AppKey {
  /** Of its row in the plugin's list. */
  id: number;
  documentId: string;
}

/** The table of the plugin's list of files. */
export interface OwnTable {
  findMany(params: object): Promise<Record<string, unknown>[]>;
  create(params: { data: object }): Promise<Record<string, unknown>>;
  updateMany(params: object): Promise<unknown>;
  deleteMany(params: object): Promise<unknown>;
}

/** Strapi's functions for images, with the answers of the plugin's process during an upload (pictures.ts). */
interface ImageFunctions {
  isImage(file: object): Promise<boolean>;
  isOptimizableImage(file: object): Promise<boolean>;
  isResizableImage(file: object): Promise<boolean>;
  optimize(file: Worked): Promise<Worked>;
  getDimensions(file: object): Promise<{ width: number | null; height: number | null }>;
  generateThumbnail(file: object): Promise<Worked | null>;
}

/** A file as Strapi's functions for images take it. */
interface Worked {
  name: string;
  hash: string;
  ext: string;
  mime: string;
  filepath: string;
  tmpWorkingDirectory: string;
  /** Kilobytes. */
  size: number;
  sizeInBytes: number;
  getStream(): Readable;
}

export interface PrivateOptions {
  table(): OwnTable;
  images(): ImageFunctions;
  /** Strapi's check of the size of a file. */
  checkSize(file: object): Promise<void>;
  pictures: Pick<Pictures, 'upload'>;
  storage: Storage;
  /** Folder for what Strapi makes of an image. */
  temporary: string;
  /** The address of a file below the site's base address. */
  pathOf(key: AppKey, documentId: string, name: string): string;
}

/** A new private file, before it is stored. */
type NewFile = Pick<TemporaryFile, 'site' | 'app' | 'name' | 'mime' | 'size' | 'path'>;

/** Files of records that only the plugin serves, to those who may view the record (docs/decisions/private-files.md). */
export interface PrivateFiles {
  /** Those of the files that are private ones of this app. */
  find(key: AppKey, documentIds: readonly string[]): Promise<PrivateFile[]>;
  /** Those of the files that are private ones of any app. */
  findAll(documentIds: readonly string[]): Promise<PrivateFile[]>;
  /** Stores a file whose row is in the list already. Errors as Files.add. */
  store(documentId: string, file: TemporaryFile): Promise<PrivateContent>;
  /** The column of a file that is being stored: what a process that ends early leaves is removed by it. */
  planned(documentId: string, file: NewFile): Promise<PrivateContent>;
  /** Stores a file of the media library with its bytes unchanged. */
  keep(
    documentId: string,
    size: Pick<PrivateContent, 'width' | 'height'>,
    main: PartSource,
    thumbnail: PartSource | null,
  ): Promise<PrivateContent>;
  /** Null where its bytes are gone, or it has no thumbnail. ServiceUnavailableError where the host has another provider now. */
  open(file: PrivateFile, part: 'main' | 'thumbnail'): Promise<OpenedPart | null>;
  /** Moves a file to the store for new ones: copied, listed there, removed from where it was. What was ended early is completed. */
  toCurrent(file: PrivateFile): Promise<'moved' | 'there' | 'gone'>;
  /** Removes bytes; the row stays. */
  remove(file: PrivateFile): Promise<void>;
  /** A private file as records store it. */
  stored(file: PrivateFile): StoredFile;
}

export function createPrivateFiles(options: PrivateOptions): PrivateFiles {
  const { table, images, checkSize, pictures, storage, temporary, pathOf } = options;
  const find = async (where: object, documentIds: readonly string[]): Promise<PrivateFile[]> => {
    const found: PrivateFile[] = [];
    for (const some of chunks(documentIds, MAX_NAMES)) {
      const rows = await table().findMany({ where: { ...where, private: true, file: { $in: some } } });
      // MariaDB compares texts without their case.
      found.push(...rows.map(privateFile).filter(({ documentId }) => some.includes(documentId)));
    }
    return found;
  };
  const thumbnailOf = (documentId: string) => `thumbnail_${documentId}`;

  const worked = (documentId: string, { name, mime, size, path }: NewFile, work: string): Worked => ({
    name,
    mime,
    hash: documentId,
    ext: extname(name),
    filepath: path,
    tmpWorkingDirectory: work,
    size: size / 1000,
    sizeInBytes: size,
    getStream: () => streamOf(path),
  });

  /** Stores the file as Strapi would: turned, made smaller, with a thumbnail. */
  const store = async (documentId: string, given: Worked, provider: string | null): Promise<PrivateContent> => {
    await checkSize(given);
    const { isImage, isOptimizableImage, optimize, getDimensions, isResizableImage, generateThumbnail } = images();
    const main = (await isOptimizableImage(given)) ? await optimize(given) : given;
    const measured = (await isImage(main)) ? await getDimensions(main) : { width: null, height: null };
    const thumbnail =
      measured.width !== null && (await isResizableImage(main))
        ? await generateThumbnail({ ...main, ...measured })
        : null;
    const target = await storage.store(provider);
    return {
      name: given.name,
      ...measured,
      provider,
      main: await target.put(documentId, sourceOf(main, given)),
      thumbnail: thumbnail && (await target.put(thumbnailOf(documentId), sourceOf(thumbnail, given))),
    };
  };

  const open: PrivateFiles['open'] = async ({ documentId, provider, ...file }, part) => {
    const found = file[part];
    if (!found) return null;
    return (await storage.store(provider)).open(part === 'main' ? documentId : thumbnailOf(documentId), found);
  };

  const removeParts = async (documentId: string, { provider, main, thumbnail }: Placed): Promise<void> => {
    const from = await storage.store(provider);
    await from.remove(documentId, main);
    if (thumbnail) await from.remove(thumbnailOf(documentId), thumbnail);
  };

  const keep: PrivateFiles['keep'] = async (documentId, size, main, thumbnail) => {
    const provider = await storage.current();
    const target = await storage.store(provider);
    return {
      name: main.name,
      ...size,
      provider,
      main: await target.put(documentId, main),
      thumbnail: thumbnail && (await target.put(thumbnailOf(documentId), thumbnail)),
    };
  };

  /** A stored content as one to be stored; null where it is not there. */
  const sourceIn = async (file: PrivateFile, part: 'main' | 'thumbnail'): Promise<PartSource | null> => {
    const opened = await open(file, part);
    const about = file[part];
    if (!opened || !about) return null;
    if ('close' in opened) await opened.close();
    const bytes = async () => {
      const again = await open(file, part);
      return again && bytesOf(again);
    };
    return { name: file.name, mime: about.mime, size: about.size, getStream: () => opening(bytes) };
  };

  /** Copies a file to the store for new ones, and lists it there; null where it is gone. */
  const copied = async (file: PrivateFile): Promise<PrivateFile | null> => {
    const { documentId, width, height, provider, main, thumbnail } = file;
    const source = await sourceIn(file, 'main');
    if (!source) return null;
    const kept = await keep(documentId, { width, height }, source, await sourceIn(file, 'thumbnail'));
    const content = { ...kept, before: { provider, main, thumbnail } };
    await table().updateMany({ where: { file: documentId, private: true }, data: { content } });
    const [now] = await find({}, [documentId]);
    // It was removed with its record meanwhile.
    if (!now) await removeParts(documentId, kept);
    return now ?? null;
  };

  return {
    find: ({ site, app }, documentIds) => find({ site, app }, documentIds),
    findAll: (documentIds) => find({}, documentIds),
    async planned(documentId, { name, mime, size }) {
      const provider = await storage.current();
      const target = await storage.store(provider);
      const source = { name, mime, size };
      const main = target.planned(documentId, source);
      // Most have none: a provider removes one that is not there without an error.
      const thumbnail = mime.startsWith('image/') ? target.planned(thumbnailOf(documentId), source) : null;
      return { name, width: null, height: null, provider, main, thumbnail };
    },
    async store(documentId, file) {
      const provider = await storage.current();
      await mkdir(temporary, { recursive: true, mode: 0o700 });
      const work = await mkdtemp(join(temporary, 'picture-'));
      try {
        return await pictures.upload(file, () => store(documentId, worked(documentId, file, work), provider));
      } finally {
        await rm(work, { recursive: true, force: true });
      }
    },
    keep,
    open,
    async toCurrent(file) {
      const isThere = file.provider === (await storage.current());
      if (isThere && !file.before) return 'there';
      const now = isThere ? file : await copied(file);
      if (!now?.before) return 'gone';
      await removeParts(now.documentId, now.before);
      const { name, width, height, provider, main, thumbnail } = now;
      const content = { name, width, height, provider, main, thumbnail };
      await table().updateMany({ where: { file: now.documentId, private: true }, data: { content } });
      return 'moved';
    },
    async remove({ documentId, before, ...now }) {
      if (before) await removeParts(documentId, before);
      await removeParts(documentId, now);
    },
    stored({ id, documentId, name, width, height, main: { mime, size }, site, app }) {
      const url = pathOf({ site, app }, documentId, name);
      return { id, documentId, name, url, mime, size, ...(width && height ? { width, height } : {}) };
    },
  };
}

const sourceOf = ({ size, sizeInBytes, mime, getStream }: Worked, { name }: Worked): PartSource => ({
  name,
  mime,
  getStream,
  size: sizeInBytes ?? Math.round(size * 1000),
});

/** The private file of a row of the list. */
export function privateFile({ id, file, site, app, content }: Record<string, unknown>): PrivateFile {
  const known = (typeof content === 'string' ? JSON.parse(content) : content) as PrivateContent;
  return { ...known, id: Number(id), documentId: String(file), site: String(site), app: String(app) };
}
