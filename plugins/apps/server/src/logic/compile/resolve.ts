import { posix } from 'node:path';
import type { LogicProgram } from '../types';
import type { ImportSite } from './analyse';
import { logicError } from './errors';

/** Tried in this order after the path as written. */
const endings = ['.js', '.ts', '.json', '/index.js', '/index.ts'];

/**
 * The path of the file that `site` in the file `from` imports, relative to the app's folder. LogicError if it is not
 * a relative path, leaves the folder, or leads nowhere.
 */
export function resolveImport(files: LogicProgram['files'], from: string, site: ImportSite): string {
  const { specifier, line, column } = site;
  const position = { file: from, line, column };
  if (!/^\.\.?\//.test(specifier)) {
    throw logicError(`Cannot import '${specifier}': only relative imports inside the app's folder`, position);
  }
  const path = posix.normalize(posix.join(posix.dirname(from), specifier));
  const found = candidates(path).find((candidate) => files.has(candidate) && !candidate.endsWith('.py'));
  if (!found) throw logicError(`Cannot import '${specifier}': there is no such file in the app's folder`, position);
  return found;
}

/** TypeScript's way to import `x.ts` is to write `x.js`. */
function candidates(path: string): string[] {
  return [path, ...endings.map((ending) => path + ending), path.replace(/\.js$/, '.ts')];
}
