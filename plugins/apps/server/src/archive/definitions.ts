import { brokenCatalogues, loadApp, readRules, readThemeInfo } from '../apps';
import { attempt, errorText } from '../common/errors';
import { sitesOfThemes } from './theme-sites';

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
