import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { chunks } from '../../common/collections';
import type { Pictures } from '../pictures';
import type { AppKey, StoredFile, TemporaryFile } from '../types';
import { type OpenedPart, type PartSource, type PrivateStorage, type StoredPart, streamOf } from './storage';

export {
  createPrivateStorage,
  type OpenedPart,
  type PartSource,
  type PrivateStorage,
  type StorageOptions,
  type UploadStorage,
} from './storage';

/** Names in one statement, whose values a database limits. */
const MAX_NAMES = 500;

/** What the plugin's list has of a private file, in one column. */
export interface PrivateContent {
  /** The name of a download, with the ending of its type. */
  name: string;
  /** Pixels of an image; null for other files. */
  width: number | null;
  height: number | null;
  /** Strapi's upload provider that has stored it; null: the folder has it. */
  provider: string | null;
  main: StoredPart;
  thumbnail: StoredPart | null;
}

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

/** Strapi's functions for images, with the answers of the plugin's process during an upload (pictures/image-service.ts). */
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
  storage: PrivateStorage;
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
    ...{ name, mime, hash: documentId, ext: extname(name), filepath: path, tmpWorkingDirectory: work },
    ...{ size: size / 1000, sizeInBytes: size, getStream: () => streamOf(path) },
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
    return {
      ...{ name: given.name, ...measured, provider },
      main: await storage.put(provider, documentId, sourceOf(main, given)),
      thumbnail: thumbnail && (await storage.put(provider, thumbnailOf(documentId), sourceOf(thumbnail, given))),
    };
  };

  return {
    find: ({ site, app }, documentIds) => find({ site, app }, documentIds),
    findAll: (documentIds) => find({}, documentIds),
    async planned(documentId, { name, mime, size }) {
      const provider = await storage.provider();
      const source = { name, mime, size };
      const main = storage.planned(provider, documentId, source);
      // Most have none: a provider removes one that is not there without an error.
      const thumbnail = mime.startsWith('image/') ? storage.planned(provider, thumbnailOf(documentId), source) : null;
      return { name, width: null, height: null, provider, main, thumbnail };
    },
    async store(documentId, file) {
      const provider = await storage.provider();
      await mkdir(temporary, { recursive: true, mode: 0o700 });
      const work = await mkdtemp(join(temporary, 'picture-'));
      try {
        return await pictures.upload(file, () => store(documentId, worked(documentId, file, work), provider));
      } finally {
        await rm(work, { recursive: true, force: true });
      }
    },
    async keep(documentId, size, main, thumbnail) {
      const provider = await storage.provider();
      return {
        ...{ name: main.name, ...size, provider },
        main: await storage.put(provider, documentId, main),
        thumbnail: thumbnail && (await storage.put(provider, thumbnailOf(documentId), thumbnail)),
      };
    },
    async open({ documentId, provider, ...file }, part) {
      const found = file[part];
      return found && storage.open(provider, part === 'main' ? documentId : thumbnailOf(documentId), found);
    },
    async remove({ documentId, provider, main, thumbnail }) {
      await storage.remove(provider, documentId, main);
      if (thumbnail) await storage.remove(provider, thumbnailOf(documentId), thumbnail);
    },
    stored({ id, documentId, name, width, height, main: { mime, size }, site, app }) {
      const url = pathOf({ site, app }, documentId, name);
      return { id, documentId, name, url, mime, size, ...(width && height ? { width, height } : {}) };
    },
  };
}

const sourceOf = ({ size, sizeInBytes, mime, getStream }: Worked, { name }: Worked): PartSource => ({
  ...{ name, mime, getStream },
  size: sizeInBytes ?? Math.round(size * 1000),
});

/** The private file of a row of the list. */
export function privateFile({ id, file, site, app, content }: Record<string, unknown>): PrivateFile {
  const known = (typeof content === 'string' ? JSON.parse(content) : content) as PrivateContent;
  return { ...known, id: Number(id), documentId: String(file), site: String(site), app: String(app) };
}
