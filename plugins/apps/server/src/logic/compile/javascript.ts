import { posix } from 'node:path';
import { transform } from 'sucrase';
import { AppsError, logicError } from '../../common/errors';
import { analyse, type ImportSite, type LocalExport } from './analyse';
import { checkScript } from './syntax';
import type { SourceFile } from './task';

/** Endings that are tried in this order after the path itself. */
const endings = ['.js', '.ts', '.json', '/index.js', '/index.ts'];

/**
 * The path, one of `paths`, that `site` in the file `from` imports; all are relative to the app's folder. LogicError if it
 * is not a relative path, leaves the folder, or does not exist.
 */
function resolveImport(paths: ReadonlySet<string>, from: string, site: ImportSite): string {
  const { specifier, line, column } = site;
  const position = { file: from, line, column };
  if (!/^\.\.?\//.test(specifier)) {
    throw logicError(`Cannot import '${specifier}': only relative imports inside the app's folder`, position);
  }
  const path = posix.normalize(posix.join(posix.dirname(from), specifier));
  const found = candidates(path).find((candidate) => paths.has(candidate) && !candidate.endsWith('.py'));
  if (!found) throw logicError(`Cannot import '${specifier}': there is no such file in the app's folder`, position);
  return found;
}

/** TypeScript imports `x.ts` as `x.js`. */
function candidates(path: string): string[] {
  return [path, ...endings.map((ending) => path + ending), path.replace(/\.js$/, '.ts')];
}

/**
 * Compiles a file to a script that defines a module in the sandbox (`prelude/modules.ts`). Keeps line numbers, so that
 * errors have the file's own. LogicError with file, line and column.
 */
export function compileJavaScript(file: SourceFile): { code: string; imports: string[]; changesBuiltIns?: boolean } {
  const { path, text, isEntry, paths } = file;
  if (path.endsWith('.json')) return { code: jsonModule(path, text), imports: [] };
  const code = withoutTypes(path, text);
  return guarded(path, () => {
    const shape = analyse(path, code);
    const imports = Object.fromEntries(shape.imports.map((site) => [site.specifier, resolveImport(paths, path, site)]));
    const own = shape.functions.map((name) => ({ exported: name, local: name }));
    const offered = shape.hasExports || !isEntry ? shape.exports : own;
    const linked = rewrite(path, getters(offered) + shape.code, ['imports']);
    const script = wrap(path, imports, linked);
    checkScript(path, script);
    return { code: script, imports: Object.values(imports), changesBuiltIns: shape.changesBuiltIns };
  });
}

/** The text of a file without TypeScript's types, in the same lines. LogicError where they cannot be read. */
export const withoutTypes = (path: string, text: string): string =>
  path.endsWith('.ts') ? rewrite(path, text, ['typescript']) : text;

/** They precede the code, so that they exist in circular imports. */
function getters(exports: readonly LocalExport[]): string {
  return exports.map(({ exported, local }) => `__offer(${literal(exported)},()=>${local});`).join('');
}

/** Begins on the first line of the code, so that line numbers are the file's own. */
function wrap(path: string, imports: Record<string, string>, code: string): string {
  return `__define(${literal(path)},${literal(imports)},function(exports,require,__offer){"use strict";${code}\n});`;
}

function jsonModule(path: string, text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    throw logicError(`SyntaxError: ${(error as Error).message}`, { file: path });
  }
  return wrap(path, {}, `exports.default=JSON.parse(${literal(text)});`);
}

function rewrite(file: string, code: string, transforms: ('typescript' | 'imports')[]): string {
  return guarded(file, () => {
    const options = { transforms, filePath: file, disableESTransforms: true, preserveDynamicImport: true };
    return transform(code, { ...options, keepUnusedImports: transforms[0] === 'imports' }).code;
  });
}

/** Converts every error of a parser, stack overflow included, to a LogicError of the file. */
function guarded<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof AppsError) throw error;
    if (error instanceof RangeError) throw logicError('SyntaxError: nested too deeply', { file });
    const { message, loc } = error as Error & { loc?: { line: number; column: number } };
    const text = message.replace(/^Error transforming [^:]*: /, '').replace(/ \(\d+:\d+\)$/, '');
    throw logicError(text.startsWith('SyntaxError') ? text : `SyntaxError: ${text}`, { file, ...loc });
  }
}

function literal(value: unknown): string {
  return JSON.stringify(value);
}
