import type { Core } from '@strapi/strapi';
import { contentProblems } from './content';
import { createSitesFrom, type SitesOptions } from './sites';
import { contentTypesOf, defaultLocaleOf, settingStoreOf } from './strapi';
import type { Sites } from './types';

export interface CreateSitesOptions extends Omit<SitesOptions, 'settingStore' | 'contentTypes' | 'defaultLocale'> {
  strapi: Core.Strapi;
}

/**
 * Sites, themes on disk and content addresses of a running Strapi (contract, sections 1 to 3). Throws an Error that names the
 * content types and fields of the configuration which the host does not have; it is meant to stop the start.
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

export type { ContentTypeInfo, ReadContent } from './content';
export { uidAttribute } from './content';
export { isId, recordIdProblem, reservedViews, trimSlashes } from './ids';
export { localeProblem, warnOfLocales } from './locales';
export type * from './types';
export { encodeSegment } from './urls';
