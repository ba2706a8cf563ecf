import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CodeFile } from '../../../plugins/apps/shared/admin-api';
import type { Stage } from '../../support/stage';
import type { ThemeCopy } from '../../support/theme';

const api = '/apps/sites/site/apps/code';

/** The files of the app `code` as a developer sees and changes them in the admin panel, and as they are on the disk. */
export function createEditor(stage: Stage, themes: ThemeCopy) {
  const folder = () => join(themes.directory, 'main', 'apps', 'code');
  const send = <T>(line: string, json?: object) =>
    stage.send<T>({ as: 'developer', send: line, ...(json && { json }) });
  return {
    api,
    folder,
    send,
    at: (path: string) => readFile(join(folder(), path), 'utf8'),
    read: async (path: string) => (await send<CodeFile>(`GET ${api}/file?path=${encodeURIComponent(path)}`)).json,
    write: (path: string, text: string, revision: string | null) =>
      send<CodeFile & { error?: { details: { current: CodeFile | null } } }>(`PUT ${api}/file`, {
        path,
        text,
        revision,
      }),
    /** All files below the themes' folder, to show that nothing else has changed. */
    everything: async () => (await readdir(themes.directory, { recursive: true })).sort(),
  };
}

export type Editor = ReturnType<typeof createEditor>;
