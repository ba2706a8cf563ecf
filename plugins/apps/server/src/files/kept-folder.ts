import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeptFile } from './kept-files';
import type { TemporaryFile } from './types';

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
