import type { AppFolder, ThemeFile } from '../types';
import { revisionOf } from './snapshots';

/**
 * The folder with other texts. Its revision is that of the texts, so that nothing that is compiled or kept of the stored one is
 * used, and equal texts are compiled once.
 */
export function withFiles(folder: AppFolder, files: ReadonlyMap<string, string>): AppFolder {
  const all = new Map<string, ThemeFile>(folder.files);
  let { settings } = folder;
  for (const [path, text] of files) {
    if (path === 'settings.yaml' || path === settings?.path) settings = { path, text };
    else all.set(path, { path, text });
  }
  const edited = revisionOf([...files].map(([path, text]) => ({ path, text })));
  return { ...folder, settings, files: all, revision: `${folder.revision}+edited-${edited}` };
}
