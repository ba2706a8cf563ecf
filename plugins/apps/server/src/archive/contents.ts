import { isId, newIdProblem } from '../sites';
import type { ArchiveFile } from './entries';

/** What a ZIP holds. */
export interface Contents {
  kind: 'app' | 'theme';
  id: string;
  /** Files by their paths inside the app or theme. */
  files: Map<string, ArchiveFile>;
}

const ofApps = /^(settings\.yaml$|blocks\/|lib\/)/;
const ofThemes = /^(rules\.yaml$|templates\/)/;
/** What only a theme has, beside the apps' folder; its other folders may have any name. */
const onlyOfThemes = /^(theme\.yaml$|layout\.html$)/;

/**
 * The app or theme of a ZIP: the files are in one folder, named by the id, or at the top, then the id is `fallback`.
 * Returns a sentence where the ZIP holds neither.
 */
export function contentsOf(
  files: readonly ArchiveFile[],
  { appsFolder, id: wanted, fallback }: { appsFolder: string; id: string | undefined; fallback: string },
): Contents | string {
  const [root, ...others] = new Set(files.map(({ path }) => path.slice(0, path.indexOf('/') + 1)));
  const prefix = others.length === 0 ? (root ?? '') : '';
  const own = new Map(files.map((file) => [file.path.slice(prefix.length), file]));
  const paths = [...own.keys()];
  const isSurelyTheme = paths.some((path) => onlyOfThemes.test(path) || path.startsWith(`${appsFolder}/`));
  const isApp = !isSurelyTheme && paths.some((path) => ofApps.test(path));
  const isTheme = isSurelyTheme || paths.some((path) => ofThemes.test(path));
  if (isApp === isTheme) {
    return isApp
      ? 'The ZIP has files of an app and of a theme side by side'
      : `The ZIP holds no app (blocks/, settings.yaml) and no theme (theme.yaml, layout.html, ${appsFolder}/)`;
  }
  const id = wanted ?? (prefix === '' ? fallback : prefix.slice(0, -1));
  const problem = isId(id) ? newIdProblem(id) : '';
  if (problem !== null) {
    const why = problem === '' ? '' : `, because it ${problem}`;
    return `"${id}" cannot be the id of ${isApp ? 'an app' : 'a theme'}${why}; choose one with --id`;
  }
  return { kind: isApp ? 'app' : 'theme', id, files: own };
}
