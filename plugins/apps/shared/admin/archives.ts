import type { CodeProblem } from './code';
import type { AdminRouteEntry } from './permissions';

/** Routes of themes and apps as files: ZIP, and links to apps of other themes. */
export const archiveRoutes = {
  /** query: `{ app? }` → the ZIP of a theme, or of one of its apps; 404 */
  exportArchive: { method: 'GET', path: '/themes/:theme/archive', needs: 'manage' },
  /** a form with the file `files` and `options`, ArchiveOptions as JSON → ArchiveResult; 403 where editing is switched off; 409 while other tests run */
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
  /** Its tests run while it is checked. They are programs with all rights of the server. */
  tests?: boolean;
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
  /** What `lint` finds in its apps: with errors it may be written all the same. Empty where it was not asked for, or with problems. */
  findings: ArchiveFinding[];
  /** Null where it was written, or with problems. */
  tests: ArchiveTests | null;
}

export interface ArchiveFinding extends CodeProblem {
  app: string;
}

export interface ArchiveTests {
  /**
   * `none`: it has no tests; `off`: the configuration lets none run; `ready`: they can run; `ran`: to their end; `broken`: they
   * could not run, or not to their end, for the reason in `message`.
   */
  state: 'none' | 'off' | 'ready' | 'ran' | 'broken';
  /** Number of test files. */
  files: number;
  passed: number;
  failed: number;
  skipped: number;
  failures: { app: string; file: string; title: string; message: string }[];
  message: string | null;
}

export interface LinkInput {
  app: string;
  /** The theme that holds the app. */
  theme: string;
}
