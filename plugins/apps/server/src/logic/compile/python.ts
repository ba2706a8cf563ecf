import { posix } from 'node:path';
import { rewritePython } from './python-syntax';
import type { SourceFile } from './task';

/**
 * A file of a Python program, and the files of the app's folder that its imports may name. Python itself checks them when
 * it loads them in the sandbox (`sandbox/src/python`).
 */
export function compilePython({ path, text, paths }: SourceFile): { code: string; imports: string[] } {
  return { code: rewritePython(text, path), imports: candidates(path, text, paths) };
}

/** An import statement: the module after `from`, and the imported names, in brackets or up to the end of the line. */
const statement =
  /^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b|import\b)(?:[ \t]*\(([^)]{0,2000})|((?:\\\r?\n|[^#\n])*))/gm;

/** Paths that the imports of a file could mean. Additional ones do no harm. */
function candidates(path: string, text: string, paths: ReadonlySet<string>): string[] {
  const here = posix.dirname(path);
  const maxLength = Math.max(0, ...[...paths].map(({ length }) => length));
  const found = new Set<string>();
  const add = (module: string) => {
    for (const file of filesOf(here, module)) if (paths.has(file)) found.add(file);
  };
  for (const [, from = '', inBrackets, onLine] of text.matchAll(statement)) {
    // No file has a path that long, and the text would be copied for each of the names.
    if (from.length > maxLength) continue;
    if (from !== '') add(from);
    for (const [name] of (inBrackets ?? onLine ?? '').matchAll(/[\w.]+/g)) {
      if (name.length <= maxLength) add(from === '' ? name : joined(from, name));
    }
  }
  return [...found];
}

function joined(from: string, name: string): string {
  return from.endsWith('.') ? from + name : `${from}.${name}`;
}

/** The possible files of a module, relative to the folder `here`, to the app's folder and to its `lib/`. */
function filesOf(here: string, module: string): string[] {
  const [, dots = '', name = ''] = /^(\.*)(.*)$/.exec(module) ?? [];
  const folders = dots === '' ? ['', 'lib', here] : [posix.join(here, '../'.repeat(dots.length - 1))];
  const tail = name.replaceAll('.', '/');
  return folders.flatMap((folder) => [posix.join(folder, `${tail}.py`), posix.join(folder, tail, '__init__.py')]);
}
