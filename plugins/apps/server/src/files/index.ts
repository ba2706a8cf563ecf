import type { Logger } from '../common/log';
import { createAddresses } from './addresses';
import { createLibrary, type LibraryStrapi } from './library';
import type { Pictures } from './pictures';
import { createRemovals } from './removals';
import { createTemporaryFiles } from './temporary-files';
import type { AppKey, Files } from './types';

export { fileTypes } from './kinds';
export type { LibraryStrapi } from './library';
export { createImageSwap, createPictures, type ImageService, type ImageSwap, pictureLimits } from './pictures';
export { fieldOf, RequestFiles } from './request-files';
export { documentIdsIn, eachFile, filesIn } from './stored';

/** Milliseconds between two removals of what waits for too long. */
const CLEARING = 10 * 60 * 1000;

export interface FilesOptions {
  strapi: LibraryStrapi;
  /** The site's public address, without a slash at its end. */
  baseUrl(): string;
  /** The temporary folder; several processes may share it. */
  folder: string;
  /** Bytes of all files that wait there for their forms. */
  keptSize: number;
  pictures: Pictures;
  /** Pixels of a picture, all its frames together. */
  maxPixels: number;
  /** Those of the files that records of the app name. ServiceUnavailableError while that cannot be told. */
  namedFiles(key: AppKey, documentIds: readonly string[]): Promise<ReadonlySet<string>>;
  logger: Pick<Logger, 'error' | 'warn'>;
}

export function createFiles(options: FilesOptions): Files {
  const { strapi, baseUrl, folder, keptSize, pictures, maxPixels, namedFiles, logger } = options;
  const temporary = createTemporaryFiles(folder, { keptSize, maxPixels });
  const library = createLibrary(strapi, pictures);
  const removals = createRemovals({ library, namedFiles, logger });
  let timer: NodeJS.Timeout | undefined;

  /** A request must not fail for a file that could not be marked or removed, because its records may be stored. */
  const marked = (task: Promise<void>) =>
    task.catch((error) => logger.error(`[apps] files could not be marked: ${String(error)}`));

  const clear = async () => {
    try {
      await temporary.clear();
      await library.releaseUnsaved();
    } catch (error) {
      logger.warn(`[apps] files that nothing needs any more cannot be removed: ${String(error)}`);
    }
    removals.begin();
  };

  return {
    temporary,
    addresses: createAddresses({
      upload: (name) => strapi.plugin(name),
      baseUrl,
      rows: library.rows,
      own: async ({ site, app }, documentIds) => new Set(await library.own(site, app, documentIds)),
    }),
    add: library.add,
    known: ({ site, app }, documentIds) => library.known(site, app, documentIds),
    saved: (documentIds) => marked(library.saved(documentIds)),
    discard: (documentIds) => marked(library.remove(documentIds)),
    async release({ site, app }, documentIds) {
      await marked(library.release(site, app, documentIds));
      removals.begin();
    },
    async start() {
      timer ??= setInterval(() => void clear(), CLEARING).unref();
      await clear();
    },
    async destroy() {
      clearInterval(timer);
      await Promise.all([removals.destroy(), pictures.destroy()]);
    },
  };
}

export type { FileRules, FileScope, Files, RefusedFile, ShownFile, StoredFile, TemporaryFile } from './types';
