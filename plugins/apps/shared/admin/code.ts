import type { AdminRouteEntry } from './permissions';
import type { Problem } from './problems';

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

export interface CodeProblem extends Problem {
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
