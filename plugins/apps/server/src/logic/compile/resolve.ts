import { posix } from 'node:path';
import { logicError } from '../../common/errors';
import type { ImportSite } from './analyse';

/** Endings that are tried in this order after the path itself. */
const endings = ['.js', '.ts', '.json', '/index.js', '/index.ts'];

/**
 * The path, one of `paths`, that `site` in the file `from` imports; all are relative to the app's folder. LogicError if it
 * is not a relative path, leaves the folder, or does not exist.
 */
export function resolveImport(paths: ReadonlySet<string>, from: string, site: ImportSite): string {
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
