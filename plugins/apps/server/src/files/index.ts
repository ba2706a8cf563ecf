import type { Logger } from '../common/log';
import { createKeptTable, type KeptTable } from './kept-files';
import { createLibrary, createRemovals, type LibraryStrapi } from './library';
import { createFileMoves } from './moves';
import type { Pictures } from './pictures';
import { createPrivateFiles, type OwnTable, type PrivateOptions } from './private-files';
import { createOwnProvider, createStorage, loadProvider, type ProviderConfig, type UploadPlugin } from './storage';
import { createAddresses } from './stored';
import { createTemporaryFiles } from './temporary-files';
import type { AppKey, Files } from './types';

export { fileTypes } from './kinds';
export type { LibraryStrapi } from './library';
export { createImageSwap, createPictures, type ImageService, type ImageSwap, pictureLimits } from './pictures';
export { fieldOf, RequestFiles } from './request-files';
export { documentIdsIn, eachFile, filesIn, THUMBNAIL, withoutOthers } from './stored';

/** Milliseconds between two removals of what waits for too long. */
const CLEARING = 10 * 60 * 1000;

export interface FilesOptions {
  strapi: LibraryStrapi;
  /** The site's public address, without a slash at its end. */
  baseUrl(): string;
  /** The temporary folder; several processes may share it. */
  folder: string;
  /** Bytes of all files that wait for their forms. */
  keptSize: number;
  pictures: Pictures;
  /** Pixels of a picture, all its frames together. */
  maxPixels: number;
  /** Those of the files that records of the app name. ServiceUnavailableError while that cannot be told. */
  namedFiles(key: AppKey, documentIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Absolute path of the folder of private files; made when it is needed. */
  privateFolder: string;
  /** The upload provider for private files; null: Strapi's where it is private, else the folder. */
  provider: ProviderConfig | null;
  /** Files from which the package of that provider is looked for. */
  packages: readonly string[];
  /** Absolute path of the folder of the files that Strapi serves. */
  publicFolder: string;
  /** The address of a private file below the site's base address. */
  privatePath(key: AppKey, documentId: string, name: string): string;
  logger: Pick<Logger, 'error' | 'warn'>;
}

export function createFiles(options: FilesOptions): Files {
  const { strapi, baseUrl, folder, keptSize, pictures, maxPixels, namedFiles, logger } = options;
  const { privateFolder, publicFolder, privatePath, provider } = options;
  const upload = () => strapi.plugin('upload') as UploadPlugin | undefined;
  const own = provider && {
    name: provider.provider,
    readOnly: provider.readOnly,
    provider: createOwnProvider(provider, loadProvider(provider, options.packages), logger),
  };
  const storage = createStorage({ folder: privateFolder, upload, own });
  const table = () => strapi.db.query('plugin::apps.kept-file') as KeptTable;
  const inTable = createKeptTable({ table, storage, folder });
  const temporary = createTemporaryFiles(folder, { keptSize, maxPixels }, async (inFolder) =>
    (await storage.current()) === null ? inFolder : inTable,
  );
  const privates = createPrivateFiles({
    table: () => strapi.db.query('plugin::apps.file') as OwnTable,
    images: () => strapi.plugin('upload')?.service('image-manipulation') as ReturnType<PrivateOptions['images']>,
    checkSize: async (file) => upload()?.service('provider').checkFileSize(file),
    pictures,
    storage,
    temporary: folder,
    pathOf: privatePath,
  });
  const library = createLibrary(strapi, { pictures, privates });
  const removals = createRemovals({ library, namedFiles, logger });
  let timer: NodeJS.Timeout | undefined;

  /** A request must not fail for a file that could not be marked or removed, because its records may be stored. */
  const marked = (task: Promise<void>) =>
    task.catch((error) => logger.error(`[apps] files could not be marked: ${String(error)}`));

  const clear = async () => {
    for (const one of await Promise.allSettled([temporary.clear(), library.releaseUnsaved()]))
      if (one.status === 'rejected')
        logger.warn(`[apps] files that nothing needs any more cannot be removed: ${String(one.reason)}`);
    removals.begin();
  };

  return {
    temporary,
    addresses: createAddresses({
      upload: (name) => strapi.plugin(name),
      baseUrl,
      rows: library.rows,
      own: ({ site, app }, documentIds) => library.own(site, app, documentIds),
      pathOf: privatePath,
    }),
    add: (given, { isPublic, folder }) =>
      temporary.use(given, (file) => (isPublic ? library.add(file, folder) : library.addPrivate(file))),
    privateFiles: privates.findAll,
    open: privates.open,
    moves: createFileMoves({ strapi, publicFolder, library, privates }),
    known: ({ site, app }, documentIds) => library.known(site, app, documentIds),
    saved: (documentIds) => marked(library.saved(documentIds)),
    discard: (documentIds) => marked(library.remove(documentIds)),
    async release({ site, app }, documentIds) {
      await marked(library.release(site, app, documentIds));
      removals.begin();
    },
    async start() {
      timer ??= setInterval(() => void clear(), CLEARING).unref();
      void storage.check();
      await clear();
    },
    async destroy() {
      clearInterval(timer);
      await Promise.all([removals.destroy(), pictures.destroy()]);
    },
  };
}

export type {
  FilePlace,
  FileRules,
  FileScope,
  Files,
  RefusedFile,
  ShownFile,
  StoredFile,
  TemporaryFile,
} from './types';
