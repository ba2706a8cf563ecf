import type { AppFolder, ThemeFile } from '../types';

let previews = 0;

/** The folder with other texts. Its revision is new, so that nothing that is compiled or kept of the stored one is used. */
export function withFiles(folder: AppFolder, files: ReadonlyMap<string, string>): AppFolder {
  previews += 1;
  const all = new Map<string, ThemeFile>(folder.files);
  let { settings } = folder;
  for (const [path, text] of files) {
    if (path === 'settings.yaml' || path === settings?.path) settings = { path, text };
    else all.set(path, { path, text });
  }
  return { ...folder, settings, files: all, revision: `${folder.revision}+preview-${previews}` };
}
