import { AppsError } from '../../common/errors';
import { fileNameProblem } from '../addresses/file-names';

/** Names of one part of a path: no hidden files, nothing that a file system may read in another way. */
const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** Characters of a path, of a part of it, and parts. */
const MAX = { path: 255, segment: 100, depth: 8 };

/** Endings of texts that can be edited. */
const ENDINGS = /\.(yaml|yml|html|liquid|js|mjs|ts|py|json|css|md|txt|svg|csv)$/;

/** Folders of an app, and files beside them (docs/reference/theme.md#files). */
const PLACES = /^(?:(?:blocks|lib|partials|locales|assets|tests)\/.+|settings\.yaml|README\.md|LICENSE\.txt)$/;

/** BadRequestError for a path that is not one of an app's own texts; nothing is read for it. */
export function checkedPath(path: string): string {
  const problem = pathProblem(path);
  if (problem) throw new AppsError('BadRequestError', `This cannot be a file of an app: ${problem}`);
  return path;
}

function pathProblem(path: string): string | null {
  if (path.length > MAX.path) return `a path has at most ${MAX.path} characters`;
  const segments = path.split('/');
  if (segments.length > MAX.depth) return `there are at most ${MAX.depth - 1} folders`;
  for (const segment of segments) {
    if (segment.length > MAX.segment) return `a name has at most ${MAX.segment} characters`;
    if (!SEGMENT.test(segment))
      return "names have letters, digits, '_', '-' and '.', and begin with none of the last two";
    if (segment.includes('..')) return 'a name has single dots';
    const problem = fileNameProblem(segment);
    if (problem) return `"${segment}" ${problem}`;
  }
  if (!PLACES.test(path)) return 'it is settings.yaml, or in blocks, lib, partials, locales, assets or tests';
  return ENDINGS.test(path) ? null : 'its ending is not that of a text';
}

/** Whether the file of a path is a text that can be edited. */
export const isEditable = (path: string): boolean => pathProblem(path) === null;
