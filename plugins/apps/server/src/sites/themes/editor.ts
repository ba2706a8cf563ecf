import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppsError, missing, notFound } from '../../common/errors';
import { isId, newIdProblem } from '../addresses/ids';
import {
  deleteFile,
  type EditableFile,
  type ListedFile,
  listFiles,
  readFile,
  refuseOtherCase,
  renameFile,
  writeFile,
} from './edit-files';
import { insideRoot } from './open-inside';
import { namesIn } from './theme-files';
import type { Themes } from './themes';

/** Reads and writes the texts of an app's folder in a theme. */
export interface AppEditor {
  list(): Promise<ListedFile[]>;
  read(path: string): Promise<EditableFile>;
  write(file: { path: string; text: string }, revision: string | null): Promise<EditableFile | null>;
  rename(path: string, to: string, revision: string): Promise<EditableFile>;
  delete(path: string, revision: string): Promise<EditableFile>;
  /** Absolute path of the folder, for files that are named by it. */
  folder: string;
}

export interface Editor {
  /**
   * The folder of an app of the theme. NotFoundError for an unknown one; ForbiddenError where another theme holds it: it would
   * change there too.
   */
  app(theme: string, appId: string): Promise<AppEditor>;
  /** Makes the empty folder of a new app. ConflictError for an id that is taken. */
  createApp(theme: string, appId: string): Promise<AppEditor>;
}

export function createEditor(themes: Pick<Themes, 'locateApp' | 'rootOf'>, appsFolder: string): Editor {
  return {
    async app(theme, appId) {
      const location = await themes.locateApp(theme, appId);
      if (!location) throw notFound(missing.app(appId));
      if (location.themeId !== theme)
        throw new AppsError(
          'ForbiddenError',
          `This app belongs to the theme "${location.themeId}"; it is changed there`,
        );
      return editorOf(location.folder);
    },

    async createApp(theme, appId) {
      if (!isId(appId)) throw new AppsError('BadRequestError', "An id has letters, digits, '_', '-' and single dots");
      const problem = newIdProblem(appId);
      if (problem) throw new AppsError('BadRequestError', `"${appId}" cannot be the id of an app: it ${problem}`);
      const root = await themes.rootOf(theme);
      if (!root) throw notFound(`There is no theme "${theme}"`);
      await mkdir(join(root, appsFolder), { recursive: true });
      const apps = await insideRoot(root, join(root, appsFolder));
      if (!apps) throw new AppsError('ForbiddenError', 'The folder of the apps is a link that leads out of the theme');
      const names = await namesIn(apps);
      if (names.includes(appId) || names.includes(`${appId}.lnk`))
        throw new AppsError('ConflictError', `The theme has an app "${appId}" already`);
      await refuseOtherCase(apps, appId);
      await mkdir(join(apps, appId));
      return editorOf(join(apps, appId));
    },
  };
}

const editorOf = (folder: string): AppEditor => ({
  folder,
  list: () => listFiles(folder),
  read: (path) => readFile(folder, path),
  write: (file, revision) => writeFile(folder, file, revision),
  rename: (path, to, revision) => renameFile(folder, path, to, revision),
  delete: (path, revision) => deleteFile(folder, path, revision),
});
