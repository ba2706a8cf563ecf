import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeFiles } from './files';

/** The root of the repository. */
export const repository = path.resolve(__dirname, '..', '..');

/** A folder of fixtures; read-only for tests. */
export const fixture = (...names: string[]): string => path.resolve(__dirname, '..', 'fixtures', ...names);

/** The themes that a stage has unless its options name others, and those for tests of the site's pages. */
export const fixtureThemes = fixture('themes');
export const siteThemes = fixture('site-themes');

/** Themes in a temporary folder, for tests that change files. */
export interface ThemeCopy {
  directory: string;
  /** Writes a file, by its path below the themes' folder. */
  write(file: string, text: string): Promise<void>;
  remove(file: string): Promise<void>;
  /** Deletes the copy. */
  dispose(): Promise<void>;
}

/** Copies the test themes. */
export async function copyThemes(): Promise<ThemeCopy> {
  const directory = await mkdtemp(path.join(tmpdir(), 'apps-themes-'));
  await cp(fixtureThemes, directory, { recursive: true });
  return {
    directory,
    write: (file, text) => writeFiles(directory, { [file]: text }),
    remove: (file) => rm(path.join(directory, file), { recursive: true }),
    dispose: () => rm(directory, { recursive: true, force: true }),
  };
}
