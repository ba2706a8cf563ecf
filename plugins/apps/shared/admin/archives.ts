import type { AdminRouteEntry } from './permissions';

/** Routes of themes and apps as files: ZIP, and links to apps of other themes. */
export const archiveRoutes = {
  /** query: `{ app? }` → the ZIP of a theme, or of one of its apps; 404 */
  exportArchive: { method: 'GET', path: '/themes/:theme/archive', needs: 'manage' },
  /** a form with the file `files` and `options`, ArchiveOptions as JSON → ArchiveResult; 403 where editing is switched off */
  importArchive: { method: 'POST', path: '/archives', needs: 'manage' },
  /** LinkInput → 201 LinkInput; 409 where the theme has such an app or link, 400 where the other theme has no such app */
  createLink: { method: 'POST', path: '/themes/:theme/links', needs: 'manage' },
  /** query: `{ app }` → `{ success: 'deleted' }`; 404 without such a link */
  deleteLink: { method: 'DELETE', path: '/themes/:theme/links', needs: 'manage' },
} as const satisfies Record<string, AdminRouteEntry>;

export interface ArchiveOptions {
  /** Name of the file: its id, if its files are in no folder. */
  name: string;
  /** The theme that gets an app. */
  theme?: string;
  /** What is there with other files is replaced. */
  replace?: boolean;
  /** False: it is only checked. */
  write?: boolean;
}

export interface ArchiveResult {
  /** Each a sentence; with any of them nothing is written. */
  problems: string[];
  kind: 'app' | 'theme' | null;
  id: string | null;
  files: number;
  /** `equal`: it is there with equal files; `taken`: with others, which stay; null with problems. */
  state: 'equal' | 'taken' | 'checked' | 'written' | null;
  /** What differs from what is there; null where nothing is. */
  differences: { added: string[]; changed: string[]; removed: string[] } | null;
}

export interface LinkInput {
  app: string;
  /** The theme that holds the app. */
  theme: string;
}
