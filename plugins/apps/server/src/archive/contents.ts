import { brokenCatalogues, loadApp, readRules, readThemeInfo } from '../apps';
import { attempt, errorText } from '../common/errors';
import { createSitesFrom, isId, newIdProblem } from '../sites';
import type { Sites } from '../sites/types';
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

/**
 * Themes on disk, read as the server reads them, without a database and without Strapi. Each theme is the site of its id.
 * @param warn called with what the server would log about links
 */
export function sitesOfThemes(
  { themesDirectory, appsFolder }: { themesDirectory: string; appsFolder: string },
  themes: readonly string[],
  warn: (message: string) => void,
): Sites {
  return createSitesFrom({
    config: {
      themesDirectory,
      appsFolder,
      content: {},
      sites: themes.map((theme) => ({ id: theme, title: theme, theme })),
    },
    baseUrl: () => 'http://localhost',
    readContent: async () => null,
    settingStore: { get: async () => null, set: async () => undefined, inTransaction: () => false },
    contentTypes: () => [],
    logger: { warn },
    production: false,
    readThemeInfo,
  });
}

/**
 * The mistakes in the YAML files of one theme of a themes folder, and of its apps, each with its position: the same that
 * the server reports.
 */
export async function definitionProblems(themeFolder: {
  themesDirectory: string;
  appsFolder: string;
  theme: string;
}): Promise<string[]> {
  const problems: string[] = [];
  const reader = sitesOfThemes(themeFolder, [themeFolder.theme], () => undefined);
  const site = await reader.site(themeFolder.theme);
  if (!site) return problems;
  const own = (await reader.theme(site))?.files;
  const [info, rules] = [own?.get('theme.yaml'), own?.get('rules.yaml')];
  const ofTheme = [
    info ? attempt(() => readThemeInfo(info)).error : null,
    ...(rules ? readRules(rules).errors : []),
    ...(own ? await brokenCatalogues(own) : []),
  ];
  for (const error of ofTheme) if (error) problems.push(errorText(error));
  for (const id of await reader.apps(site)) {
    const folder = await reader.app(site, id);
    if (!folder) continue;
    const app = await loadApp(folder);
    const ofBlocks = [...app.blocks.values()].map(({ error }) => error);
    const errors = [app.error, ...ofBlocks, ...(await brokenCatalogues(folder.files))];
    for (const error of errors) if (error) problems.push(errorText(error, `${themeFolder.appsFolder}/${id}/`));
  }
  return problems;
}
