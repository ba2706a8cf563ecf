import type { Core } from '@strapi/strapi';
import { contentProblems } from './content';
import { createSitesFrom, type SitesOptions } from './sites';
import { contentTypesOf, defaultLocaleOf, settingStoreOf } from './strapi';
import type { Sites } from './types';

export interface CreateSitesOptions extends Omit<SitesOptions, 'settingStore' | 'contentTypes' | 'defaultLocale'> {
  strapi: Core.Strapi;
}

/**
 * Sites, themes on disk and content addresses of a running Strapi (docs/reference/theme.md,
 * docs/reference/addresses.md). Throws an Error that names the content types and fields of the configuration that the
 * host does not have; the caller lets it stop the start.
 */
export function createSites({ strapi, ...options }: CreateSitesOptions): Sites {
  const problems = contentProblems(options.config.content, contentTypesOf(strapi));
  if (problems.length > 0) throw new Error(`Configuration of the plugin 'apps': ${problems.join('; ')}.`);
  return createSitesFrom({
    ...options,
    settingStore: settingStoreOf(strapi),
    contentTypes: () => contentTypesOf(strapi),
    defaultLocale: defaultLocaleOf(strapi),
  });
}

export {
  fileNameProblem,
  idPattern,
  isId,
  linkKinds,
  localeProblem,
  newIdProblem,
  reservedViews,
  trimSlashes,
  warnOfLocales,
} from './addresses';
export { type ContentTypeInfo, namesOwnersOfFiles, relatedTypes, uidAttribute } from './content';
export { createSitesFrom, optionsRevision, sharedFolders } from './sites';
export { createPanelColumns, createVersions, type PanelColumns, type Versions } from './strapi';
export { checkText, isEditable as isEditablePath } from './themes/editor';
export { versionedContent } from './themes/theme-files';
export { themesVersion, withFiles } from './themes/themes';
export type * from './types';
