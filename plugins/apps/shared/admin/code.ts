import type { FileProblem } from './apps';
import type { AdminRouteEntry } from './permissions';

/** Routes of the files of an app of a site's active theme. */
export const codeRoutes = {
  /** → CodeFiles */
  files: { method: 'GET', path: '/sites/:site/apps/:app/files', needs: ['develop'] },
  /** query: `{ path }` → CodeFile; 400 for a path outside of the app, 404 for none, 403 for a link */
  file: { method: 'GET', path: '/sites/:site/apps/:app/file', needs: ['develop'] },
  /** FileWrite → CodeFile; 409 with `details.current` (CodeFile, or null) when the file has changed meanwhile; 403 where editing is off */
  writeFile: { method: 'PUT', path: '/sites/:site/apps/:app/file', needs: ['develop'] },
  /** FileRename → CodeFile; 409 as above, or when the name is taken */
  renameFile: { method: 'POST', path: '/sites/:site/apps/:app/file/rename', needs: ['develop'] },
  /** query: `{ path, revision }` → `{ success: 'deleted' }`; 409 as above */
  deleteFile: { method: 'DELETE', path: '/sites/:site/apps/:app/file', needs: ['develop'] },
  /** query: `{ path }` → FileVersion[], the latest first */
  fileVersions: { method: 'GET', path: '/sites/:site/apps/:app/versions', needs: ['develop'] },
  /** → `{ text }`; 404 for an unknown one */
  fileVersion: { method: 'GET', path: '/sites/:site/apps/:app/versions/:version', needs: ['develop'] },
  /** CodeTexts → `{ problems: CodeProblem[] }`, as `lint` finds them */
  checkFiles: { method: 'POST', path: '/sites/:site/apps/:app/check', needs: ['develop'] },
  /**
   * PreviewRequest → Preview; 403 as somebody whom the administrator must not act for, and with `develop` alone for an unsaved
   * settings.yaml (docs/reference/rights.md#in-the-name-of-others)
   */
  preview: { method: 'POST', path: '/sites/:site/apps/:app/preview', needs: ['develop'] },
  /** `{ block, language }` → 201 `{ paths }`; 409 for a block that exists */
  createBlock: { method: 'POST', path: '/sites/:site/apps/:app/blocks', needs: ['develop'] },
  /** `{ app, template }` → 201 `{ app }`; 409 for an app that exists */
  createApp: { method: 'POST', path: '/sites/:site/apps', needs: ['develop'] },
  /** → CodeHints */
  codeHints: { method: 'GET', path: '/code-hints', needs: ['develop'] },
  /** → string[], the names of the templates of apps */
  appTemplates: { method: 'GET', path: '/app-templates', needs: ['develop'] },
} as const satisfies Record<string, AdminRouteEntry>;

export interface CodeFiles {
  /** Why nothing can be changed: editing is switched off, or another theme holds the app. Null where it can. */
  locked: string | null;
  files: { path: string; isEditable: boolean }[];
}

export interface CodeFile {
  path: string;
  text: string;
  /** Changes with the text. */
  revision: string;
}

export interface FileWrite {
  path: string;
  text: string;
  /** Of the file when it was read; null for a new file. */
  revision: string | null;
}

export interface FileRename {
  path: string;
  to: string;
  revision: string;
}

/** A text of a file before a change. */
export interface FileVersion {
  id: number;
  /** ISO 8601: when it was replaced. */
  at: string;
  /** The administrator who has replaced it. */
  author: string | null;
  /** Characters. */
  size: number;
}

/** Texts that are not saved, by path. */
export interface CodeTexts {
  files?: Record<string, string>;
}

export interface CodeProblem extends FileProblem {
  severity: 'error' | 'warning';
  /** What to do, where it is known. */
  cure: string | null;
}

export interface PreviewRequest extends CodeTexts {
  block: string;
  /** As of WhyQuery. */
  who: string;
  /** Path of a content item below the site; '' is its portal. */
  content?: string;
}

export interface Preview {
  status: number;
  html: string;
  /** The address that the block's logic redirects to. */
  redirect: string | null;
}

/** What an editor completes. */
export interface CodeHints {
  /** Keys and fixed values of definitions, by their JSON Schema. */
  definition: string[];
  /** The same of settings.yaml. */
  settings: string[];
  /** Members of the types of `context`, by the types' names; `Context` is the first. */
  types: Record<string, ContextMember[]>;
}

/** A member of an object of `context`, as `context.d.ts` declares it. */
export interface ContextMember {
  name: string;
  kind: 'method' | 'property';
  /** `: type` of a property, `(parameters): type` of a method; one line for each overload. */
  signature: string;
  doc: string;
  /** Name of the type that it is, or that it returns; null where `types` has none. */
  type: string | null;
}

export const logicLanguages = ['js', 'ts', 'python'] as const;

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
  /**
   * The revision of what is there with other files, and is replaced: where it has changed meanwhile, the answer is `taken` with the
   * new differences. `true`: it is replaced whatever it is.
   */
  replace?: string | boolean | null;
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
  /** Of what was there before; null where nothing was. */
  revision: string | null;
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
