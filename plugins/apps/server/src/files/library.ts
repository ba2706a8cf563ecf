import { chunks } from '../common/lists';
import type { Pictures } from './pictures';
import type { StoredFile, TemporaryFile } from './types';

const FILE = 'plugin::upload.file';
const OWN = 'plugin::apps.file';

/** The part of Strapi that the media library needs. */
export interface LibraryStrapi {
  plugin(name: string): { service(name: string): unknown } | undefined;
  db: { query(uid: string): Table };
}

interface Table {
  findOne(params: object): Promise<Record<string, unknown> | null>;
  findMany(params: object): Promise<Record<string, unknown>[]>;
  create(params: { data: object }): Promise<Record<string, unknown>>;
  updateMany(params: object): Promise<unknown>;
  deleteMany(params: object): Promise<unknown>;
}

interface UploadService {
  upload(given: object): Promise<Record<string, unknown>[]>;
  remove(file: object): Promise<unknown>;
}

/** Strapi's media library, with a list of the files that forms of apps have put there. */
export interface Library {
  /** Puts a file there; it counts as not saved. @param folder path of folders below the media library, `a/b` */
  add(file: TemporaryFile, folder?: string): Promise<StoredFile>;
  /** The file's record has been saved. */
  saved(documentIds: readonly string[]): Promise<void>;
  /** Those of the files that an app's forms have put there and no content uses. */
  removable(site: string, app: string, documentIds?: readonly string[]): Promise<string[]>;
  /** Those of the files that an app's forms have put there, as records store them. */
  known(site: string, app: string, documentIds: readonly string[]): Promise<StoredFile[]>;
  remove(documentIds: readonly string[]): Promise<void>;
  /** Files that were put there more than an hour ago, and whose records were never saved. */
  unsaved(): Promise<{ site: string; app: string; file: string }[]>;
}

/** Names in one statement, whose values a database limits. */
const MAX_NAMES = 500;

/** Milliseconds after which a file without a saved record was left by a request that ended early. */
const ABANDONED = 60 * 60 * 1000;

export function createLibrary(strapi: LibraryStrapi, pictures: Pick<Pictures, 'upload'>): Library {
  const uploads = () => {
    const service = strapi.plugin('upload')?.service('upload');
    if (!service) throw new Error("Strapi's upload plugin is not installed");
    return service as UploadService;
  };
  const own = () => strapi.db.query(OWN);

  return {
    async add(file, folder) {
      const { site, app, path, name, mime, size } = file;
      const fileInfo = { name, ...(folder ? { folder: await folderId(strapi, folder) } : {}) };
      const files = { filepath: path, originalFilename: name, mimetype: mime, size };
      const [made] = await pictures.upload(file, () => uploads().upload({ data: { fileInfo }, files }));
      if (!made) throw new Error('The media library has not stored the file');
      const { width, height } = made as { width?: number; height?: number };
      await own().create({ data: { file: made.documentId, site, app, saved: false } });
      return {
        id: made.id as number,
        documentId: made.documentId as string,
        name,
        url: made.url as string,
        mime: made.mime as string,
        size,
        ...(width && height ? { width, height } : {}),
      };
    },
    async saved(documentIds) {
      await own().updateMany({ where: { file: { $in: documentIds } }, data: { saved: true } });
    },
    async removable(site, app, documentIds) {
      const rowsOf = (more: object) => own().findMany({ where: { site, app, ...more }, select: ['file'] });
      const rows = documentIds ? await inChunks(documentIds, (file) => rowsOf({ file })) : await rowsOf({});
      const names = rows.map(({ file }) => file as string);
      const found = await inChunks(names, (documentId) =>
        strapi.db.query(FILE).findMany({ where: { documentId }, select: ['documentId'], populate: ['related'] }),
      );
      return found.flatMap(({ documentId, related }) =>
        Array.isArray(related) && related.length > 0 ? [] : [documentId as string],
      );
    },
    async known(site, app, documentIds) {
      const rows = await inChunks(documentIds, (file) =>
        own().findMany({ where: { site, app, file }, select: ['file'] }),
      );
      const names = rows.map(({ file }) => file as string);
      const found = await inChunks(names, (documentId) => strapi.db.query(FILE).findMany({ where: { documentId } }));
      return found.map(storedFile);
    },
    async remove(documentIds) {
      for (const documentId of documentIds) {
        const file = await strapi.db.query(FILE).findOne({ where: { documentId } });
        if (file) await uploads().remove(file);
        await own().deleteMany({ where: { file: documentId } });
      }
    },
    async unsaved() {
      const before = new Date(Date.now() - ABANDONED).toISOString();
      const rows = await own().findMany({ where: { saved: false, createdAt: { $lt: before } } });
      return rows.map(({ site, app, file }) => ({ site: String(site), app: String(app), file: String(file) }));
    },
  };
}

/** A file of the library as records store it; the library has sizes in kB with two decimals. */
function storedFile({ id, documentId, name, url, mime, size, width, height }: Record<string, unknown>): StoredFile {
  return {
    ...{ id, documentId, name, url, mime, size: Math.round(Number(size) * 1000) },
    ...(width && height ? { width, height } : {}),
  } as StoredFile;
}

/** All rows of a query by names. @param read the rows that a condition on their name finds */
async function inChunks<T>(
  names: readonly string[],
  read: (condition: { $in: string[] }) => Promise<T[]>,
): Promise<T[]> {
  const found: T[] = [];
  for (const some of chunks(names, MAX_NAMES)) found.push(...(await read({ $in: some })));
  return found;
}

/** The id of a folder of the media library, made when needed. */
async function folderId(strapi: LibraryStrapi, path: string): Promise<number> {
  const service = strapi.plugin('upload')?.service('folder') as { create(data: object): Promise<{ id: number }> };
  let parent: number | null = null;
  for (const name of path.split('/')) {
    const where = { name, parent };
    const found: Record<string, unknown> | null = await strapi.db.query('plugin::upload.folder').findOne({ where });
    parent = (found?.id as number | undefined) ?? (await service.create({ name, parent })).id;
  }
  return parent as number;
}
