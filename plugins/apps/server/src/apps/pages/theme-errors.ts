import { type AppsError, attempt, definitionError, missing } from '../../common/errors';
import { didYouMean } from '../../common/text';
import type { Awaitable } from '../../common/time/awaitable';
import type { Layouts } from '../../layouts/types';
import type { Site, Sites, ThemeFile, ThemeFolder } from '../../sites/types';
import { readThemeInfo } from '../definitions/app';
import { themeSource } from '../definitions/partials';
import { readCatalogue } from '../locales';
import type { App } from '../types';
import { readRules } from './rules';

/** What reads a theme and its apps. */
export interface ThemeServices {
  sites: Pick<Sites, 'apps'>;
  layouts: Layouts;
  loadApp(site: Site, appId: string): Awaitable<App | null>;
}

/** The errors of a theme's own files: theme.yaml, layouts, and rules, those that include no block too. */
export async function themeErrors(services: ThemeServices, site: Site, theme: ThemeFolder): Promise<AppsError[]> {
  const errors: AppsError[] = [];
  for (const file of theme.files.values()) {
    if (file.problem) errors.push(definitionError(file.problem, { file: file.path }));
    else if (file.path === 'rules.yaml') errors.push(...(await ruleErrors(services, site, file)));
    else {
      const { error } = attempt(() => checkFile(services, theme, file));
      if (error) errors.push(error);
    }
  }
  return errors;
}

/** Throws the DefinitionError of a broken file. */
function checkFile({ layouts }: ThemeServices, theme: ThemeFolder, file: ThemeFile): void {
  if (file.path === 'theme.yaml') readThemeInfo(file);
  else if (file.path.startsWith('locales/')) readCatalogue(file);
  else layouts.compile(themeSource(file, theme.files));
}

/** The errors in rules.yaml, and includes of missing blocks. */
async function ruleErrors(services: ThemeServices, site: Site, file: ThemeFile): Promise<AppsError[]> {
  const { rules, errors } = readRules(file);
  const absent: AppsError[] = [];
  for (const { include, position } of rules) {
    const message = await missingBlock(services, site, include);
    if (message !== null) absent.push(definitionError(message, position));
  }
  return [...errors, ...absent];
}

/** Why a reference names no block, with the name that was probably meant; null for a block that exists. */
export async function missingBlock(
  { sites, loadApp }: ThemeServices,
  site: Site,
  reference: { app: string; block: string },
): Promise<string | null> {
  const app = await loadApp(site, reference.app);
  if (!app) return `${missing.app(reference.app)}${didYouMean(reference.app, await sites.apps(site))}`;
  if (app.blocks.has(reference.block)) return null;
  return `${missing.block(reference.block, app.id)}${didYouMean(reference.block, [...app.blocks.keys()])}`;
}
