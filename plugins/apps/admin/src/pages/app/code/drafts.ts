import type { AppDetail, CodeFile } from '../../../../../shared/admin-api';

/** A file in the editor. */
export interface OpenedFile {
  file: CodeFile;
  /** What the editor holds. */
  text: string;
}

/** The file of each app that was changed and not saved, until the page is left: other tabs of the app do not lose it. */
const drafts = new Map<string, OpenedFile>();

const keyOf = ({ site, id }: Pick<AppDetail, 'site' | 'id'>): string => JSON.stringify([site, id]);

export const draftOf = (app: Pick<AppDetail, 'site' | 'id'>): OpenedFile | null => drafts.get(keyOf(app)) ?? null;

/** Keeps the file if its text is not saved; else forgets the app's. */
export function keepDraft(app: Pick<AppDetail, 'site' | 'id'>, opened: OpenedFile | null): void {
  if (opened && opened.text !== opened.file.text) drafts.set(keyOf(app), opened);
  else drafts.delete(keyOf(app));
}

/** The unsaved texts of an app by path, as previews and runs take them. */
export function editsOf(opened: OpenedFile | null): Record<string, string> {
  return opened && opened.text !== opened.file.text ? { [opened.file.path]: opened.text } : {};
}
