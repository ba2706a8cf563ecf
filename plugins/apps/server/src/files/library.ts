import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { chunks, grouped } from '../common/collections';
import { isAppsError } from '../common/errors';
import type { Logger } from '../common/log';
import type { Pictures } from './pictures';
import { type PrivateFile, type PrivateFiles, privateFile } from './private-files';
import type { AppKey, StoredFile, TemporaryFile } from './types';

export const FILE = 'plugin::upload.file';
export const OWN = 'plugin::apps.file';

/** The part of Strapi that the media library needs. */
export interface LibraryStrapi {
  plugin(name: string): { service(name: string): unknown } | undefined;
  db: {
    query(uid: string): Table;
    lifecycles: {
      subscribe(subscriber: {
        models: string[];
        beforeCreate(event: { params: { data: Record<string, unknown> } }): void;
      }): unknown;
    };
  };
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

/** A file that a record may no longer name: see `release`. */
export interface ReleasedFile {
  /** Of its row in the plugin's list: they grow. */
  id: number;
  site: string;
  app: string;
  /** Its document id in the media library. */
  file: string;
  /** The mark that `release` has set. */
  released: string;
}

/** What the list has of a file: the private one, or null where the media library has it. */
export type OwnFiles = ReadonlyMap<string, PrivateFile | null>;

/** The list of the files that forms of apps have stored, in Strapi's media library or privately. */
export interface Library {
  /** Puts a file into the media library; it counts as not saved. @param folder path of folders below the media library, `a/b` */
  add(file: TemporaryFile, folder?: string): Promise<StoredFile>;
  /** Stores a file privately; it counts as not saved. */
  addPrivate(file: TemporaryFile): Promise<StoredFile>;
  /** The file's record has been saved. */
  saved(documentIds: readonly string[]): Promise<void>;
  /** Marks those of the files that an app's forms have put there, to be looked at. @param documentIds absent: all of the app */
  release(site: string, app: string, documentIds?: readonly string[]): Promise<void>;
  /** Marks files that were put there more than an hour ago, and whose records were never saved. */
  releaseUnsaved(): Promise<void>;
  /** The marked files whose rows come after the one with this id, in their order. */
  released(after: number, limit: number): Promise<ReleasedFile[]>;
  /** Takes the mark away, unless the file was marked again meanwhile. */
  keep(files: readonly ReleasedFile[]): Promise<void>;
  /** Those of the files that content of Strapi uses. */
  inContent(documentIds: readonly string[]): Promise<Set<string>>;
  /** Those of the files that an app's forms have put there, as records store them. */
  known(site: string, app: string, documentIds: readonly string[]): Promise<StoredFile[]>;
  /** Those of the files that an app's forms have stored, by document id. */
  own(site: string, app: string, documentIds: readonly string[]): Promise<OwnFiles>;
  /** The library's rows of files. */
  rows(documentIds: readonly string[]): Promise<Record<string, unknown>[]>;
  remove(documentIds: readonly string[]): Promise<void>;
  /** The id of a folder of the media library, made when needed. @param path `a/b` */
  folderId(path: string): Promise<number>;
}

/** Names in one statement, whose values a database limits. */
const MAX_NAMES = 500;

/** Milliseconds after which a file without a saved record was left by a request that ended early. */
const ABANDONED = 60 * 60 * 1000;

/** The document id of the file that the running upload makes. */
const naming = new AsyncLocalStorage<string>();

/** A document id as Strapi makes them: a letter and 23 letters and digits. */
const newDocumentId = (): string =>
  [...randomBytes(24)]
    .map((byte, at) => ((byte % (at === 0 ? 26 : 36)) + 10) % 36)
    .map((digit) => digit.toString(36))
    .join('');

interface LibraryTools {
  pictures: Pick<Pictures, 'upload'>;
  privates: Pick<PrivateFiles, 'findAll' | 'planned' | 'store' | 'remove' | 'stored'>;
}

export function createLibrary(strapi: LibraryStrapi, { pictures, privates }: LibraryTools): Library {
  strapi.db.lifecycles.subscribe({
    models: [FILE],
    beforeCreate({ params }) {
      const documentId = naming.getStore();
      if (documentId !== undefined) params.data.documentId = documentId;
    },
  });
  const uploads = () => {
    const service = strapi.plugin('upload')?.service('upload');
    if (!service) throw new Error("Strapi's upload plugin is not installed");
    return service as UploadService;
  };
  const own = () => strapi.db.query(OWN);

  const remove: Library['remove'] = async (documentIds) => {
    for (const documentId of documentIds) {
      for (const one of await privates.findAll([documentId])) await privates.remove(one);
      const file = await strapi.db.query(FILE).findOne({ where: { documentId } });
      if (file) await uploads().remove(file);
      await own().deleteMany({ where: { file: documentId } });
    }
  };

  /**
   * Puts the file into the list before `upload` makes it, under the document id that it gets: a process that ends between
   * them leaves no file that the list does not have.
   */
  const listed = async ({ site, app }: TemporaryFile, upload: () => Promise<Record<string, unknown>[]>) => {
    const documentId = newDocumentId();
    await own().create({ data: { file: documentId, site, app, saved: false } });
    try {
      const [made] = await naming.run(documentId, upload);
      if (!made) throw new Error('The media library has not stored the file');
      // Where Strapi's hooks are off, it has chosen one itself.
      if (made.documentId !== documentId)
        await own().updateMany({ where: { file: documentId }, data: { file: made.documentId } });
      return made;
    } catch (error) {
      await remove([documentId]).catch(() => undefined);
      throw error;
    }
  };

  const rows: Library['rows'] = (documentIds) =>
    inChunks(documentIds, (documentId) => strapi.db.query(FILE).findMany({ where: { documentId } }));
  const ownOf: Library['own'] = async (site, app, documentIds) => {
    const found = await inChunks(documentIds, (file) =>
      own().findMany({ where: { site, app, file }, select: ['id', 'file', 'site', 'app', 'private', 'content'] }),
    );
    return new Map(found.map((row) => [String(row.file), row.private ? privateFile(row) : null]));
  };

  return {
    async add(file, folder) {
      const { path, name, mime, size } = file;
      const fileInfo = { name, ...(folder ? { folder: await folderId(strapi, folder) } : {}) };
      const files = { filepath: path, originalFilename: name, mimetype: mime, size };
      const made = await listed(file, () =>
        pictures.upload(file, () => uploads().upload({ data: { fileInfo }, files })),
      );
      const { width, height } = made as { width?: number; height?: number };
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
    async addPrivate(file) {
      const { site, app } = file;
      const documentId = newDocumentId();
      const content = await privates.planned(documentId, file);
      const data = { file: documentId, site, app, saved: false, private: true, content };
      const { id } = await own().create({ data });
      try {
        const stored = await privates.store(documentId, file);
        await own().updateMany({ where: { file: documentId }, data: { content: stored } });
        return privates.stored({ ...stored, id: Number(id), documentId, site, app });
      } catch (error) {
        await remove([documentId]).catch(() => undefined);
        throw error;
      }
    },
    async saved(documentIds) {
      await own().updateMany({ where: { file: { $in: documentIds } }, data: { saved: true } });
    },
    async release(site, app, documentIds) {
      const data = { released: newMark() };
      // Files that are not saved yet belong to a form that is being saved.
      if (!documentIds) await own().updateMany({ where: { site, app, saved: true }, data });
      for (const some of chunks(documentIds ?? [], MAX_NAMES))
        await own().updateMany({ where: { site, app, file: { $in: some } }, data });
    },
    async releaseUnsaved() {
      const before = new Date(Date.now() - ABANDONED).toISOString();
      const where = { saved: false, released: null, createdAt: { $lt: before } };
      await own().updateMany({ where, data: { released: newMark() } });
    },
    async released(after, limit) {
      const where = { released: { $notNull: true }, id: { $gt: after } };
      return (await own().findMany({ where, orderBy: 'id', limit })) as unknown as ReleasedFile[];
    },
    async keep(files) {
      for (const [released, some] of grouped(files, (file) => file.released)) {
        const ids = some.map(({ id }) => id);
        await own().updateMany({ where: { id: { $in: ids }, released }, data: { released: null, saved: true } });
      }
    },
    async inContent(documentIds) {
      const found = await inChunks(documentIds, (documentId) =>
        strapi.db.query(FILE).findMany({ where: { documentId }, select: ['documentId'], populate: ['related'] }),
      );
      const used = found.filter(({ related }) => Array.isArray(related) && related.length > 0);
      return new Set(used.map(({ documentId }) => documentId as string));
    },
    async known(site, app, documentIds) {
      const found = await ownOf(site, app, documentIds);
      const shared = await rows([...found].flatMap(([id, one]) => (one ? [] : [id])));
      return [...shared.map(storedFile), ...[...found.values()].flatMap((one) => (one ? [privates.stored(one)] : []))];
    },
    own: ownOf,
    rows,
    remove,
    folderId: (path) => folderId(strapi, path),
  };
}

/** A mark that tells two calls of `release` from each other. */
const newMark = (): string => randomBytes(12).toString('hex');

/** A file of the library as records store it; the library has sizes in kB with two decimals. */
function storedFile({ id, documentId, name, url, mime, size, width, height }: Record<string, unknown>): StoredFile {
  return {
    id,
    documentId,
    name,
    url,
    mime,
    size: Math.round(Number(size) * 1000),
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

/** Files that are looked at together: one search, and one statement of the media library. */
const BATCH = 100;

/** Milliseconds until the records are asked again while their index is being built. */
const WAIT = 1_000;

interface RemovalTools {
  library: Pick<Library, 'released' | 'inContent' | 'keep' | 'remove'>;
  /** Those of the files that records of the app name. ServiceUnavailableError while that cannot be told. */
  namedFiles(key: AppKey, documentIds: readonly string[]): Promise<ReadonlySet<string>>;
  logger: Pick<Logger, 'error'>;
}

/** Removes released files that nothing uses any more. What waits is in the database only. */
interface Removals {
  /** Looks at all released files; one after the other, in batches, whatever else runs. */
  begin(): void;
  /** Waits until the current batch is done, and begins no other. */
  destroy(): Promise<void>;
}

export function createRemovals({ library, namedFiles, logger }: RemovalTools): Removals {
  const stop = new AbortController();
  let isAsked = false;
  let running: Promise<void> | undefined;

  const failed = (error: unknown): void => {
    if (!stop.signal.aborted) logger.error(`[apps] files could not be removed: ${String(error)}`);
  };

  const named = async (key: AppKey, files: readonly string[]): Promise<ReadonlySet<string>> => {
    for (;;) {
      try {
        return await namedFiles(key, files);
      } catch (error) {
        if (!isAppsError(error, 'ServiceUnavailableError')) throw error;
        await pause(WAIT, undefined, { signal: stop.signal });
      }
    }
  };

  const removeUnused = async (released: readonly ReleasedFile[]): Promise<void> => {
    const [first] = released;
    if (!first) return;
    const files = released.map(({ file }) => file);
    const inContent = await library.inContent(files);
    const asked = files.filter((file) => !inContent.has(file));
    const used = new Set([...inContent, ...(await named({ site: first.site, app: first.app }, asked))]);
    await library.keep(released.filter(({ file }) => used.has(file)));
    for (const file of asked) if (!used.has(file)) await library.remove([file]).catch(failed);
  };

  /** Files that could not be removed stay released, for the next time. */
  const lookAtAll = async (): Promise<void> => {
    for (let after = 0; !stop.signal.aborted; ) {
      const released = await library.released(after, BATCH);
      after = released.at(-1)?.id ?? 0;
      if (after === 0) return;
      for (const ofApp of grouped(released, ({ site, app }) => `${site}\n${app}`).values())
        await removeUnused(ofApp).catch(failed);
    }
  };

  const run = async (): Promise<void> => {
    while (isAsked && !stop.signal.aborted) {
      isAsked = false;
      await lookAtAll().catch(failed);
    }
    running = undefined;
  };

  return {
    begin() {
      isAsked = true;
      running ??= run();
    },
    async destroy() {
      stop.abort();
      await running;
    },
  };
}
