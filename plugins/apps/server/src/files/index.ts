import type { Logger } from '../common/log';
import { createLibrary, type Library, type LibraryStrapi } from './library';
import { documentIdsIn } from './stored';
import { createTemporaryFiles } from './temporary-files';
import type { AppKey, Files } from './types';

export { fileTypes } from './kinds';
export type { LibraryStrapi } from './library';
export { fieldOf, RequestFiles } from './request-files';
export { documentIdsIn, filesIn } from './stored';

/** Milliseconds between two removals of what waits for too long. */
const CLEARING = 10 * 60 * 1000;

export interface FilesOptions {
  strapi: LibraryStrapi;
  /** The temporary folder; several processes may share it. */
  folder: string;
  /** Bytes of all files that wait there for their forms. */
  keptSize: number;
  /** Records of an app, in batches. */
  records(key: AppKey): AsyncIterable<{ items: object }[]>;
  logger: Pick<Logger, 'error' | 'warn'>;
}

export function createFiles({ strapi, folder, keptSize, records, logger }: FilesOptions): Files {
  const temporary = createTemporaryFiles(folder, keptSize);
  const library: Library = createLibrary(strapi);
  let work = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

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

  const clear = async () => {
    try {
      await temporary.clear();
      for (const { site, app, file } of await library.unsaved()) later(() => removeUnused({ site, app }, [file]));
    } catch (error) {
      logger.warn(`[apps] files that nothing needs any more cannot be removed: ${String(error)}`);
    }
  };

  return {
    temporary,
    add: library.add,
    known: ({ site, app }, documentIds) => library.known(site, app, documentIds),
    saved: (documentIds) => marked(library.saved(documentIds)),
    discard: (documentIds) => marked(library.remove(documentIds)),
    release: (key, documentIds) => later(() => removeUnused(key, documentIds)),
    async start() {
      timer ??= setInterval(() => void clear(), CLEARING).unref();
      await clear();
    },
    async destroy() {
      clearInterval(timer);
      await work;
    },
  };
}

export type { FileRules, FileScope, Files, RefusedFile, StoredFile, TemporaryFile } from './types';
