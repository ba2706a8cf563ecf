import { createLibrary, type Library, type LibraryStrapi } from './library';
import type { Pictures } from './pictures';
import { documentIdsIn } from './stored';
import { createTemporaryFiles } from './temporary-files';
import type { AppKey, Files } from './types';

export { fileTypes } from './kinds';
export type { LibraryStrapi } from './library';
export { createImageSwap, createPictures, type ImageService, type ImageSwap, pictureLimits } from './pictures';
export { fieldOf, RequestFiles } from './request-files';
export { documentIdsIn, filesIn } from './stored';

export interface FilesOptions {
  strapi: LibraryStrapi;
  folder: string;
  pictures: Pictures;
  /** Pixels of a picture, all its frames together. */
  maxPixels: number;
  /** Records of an app, in batches. */
  records(key: AppKey): AsyncIterable<{ items: object }[]>;
  logger: { error(message: string): void };
}

export function createFiles({ strapi, folder, pictures, maxPixels, records, logger }: FilesOptions): Files {
  const temporary = createTemporaryFiles(folder, maxPixels);
  const library: Library = createLibrary(strapi, pictures);
  let work = Promise.resolve();

  /** Removals run one after the other: each reads all records of an app. */
  const later = (task: () => Promise<void>) => {
    work = work.then(task).catch((error) => logger.error(`[apps] files could not be removed: ${String(error)}`));
  };

  /**
   * A file that could be neither marked nor removed stays unsaved: `clear` looks for its record later. The request must not fail
   * for it, because its records may be stored.
   */
  const marked = (task: Promise<void>) =>
    task.catch((error) => logger.error(`[apps] files could not be marked: ${String(error)}`));

  const removeUnused = async (key: AppKey, documentIds?: readonly string[]) => {
    const left = new Set(await library.removable(key.site, key.app, documentIds));
    if (left.size === 0) return;
    for await (const batch of records(key)) {
      for (const { items } of batch) for (const id of documentIdsIn(items)) left.delete(id);
      if (left.size === 0) return;
    }
    await library.remove([...left]);
  };

  return {
    temporary,
    add: library.add,
    known: ({ site, app }, documentIds) => library.known(site, app, documentIds),
    saved: (documentIds) => marked(library.saved(documentIds)),
    discard: (documentIds) => marked(library.remove(documentIds)),
    release: (key, documentIds) => later(() => removeUnused(key, documentIds)),
    async clear() {
      await temporary.clear();
      for (const { site, app, file } of await library.unsaved()) later(() => removeUnused({ site, app }, [file]));
    },
    settled: () => work,
    destroy: pictures.destroy,
  };
}

export type { FileRules, FileScope, Files, RefusedFile, StoredFile, TemporaryFile } from './types';
