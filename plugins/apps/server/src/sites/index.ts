import type { Core } from '@strapi/strapi';
import { createSitesFrom, type SitesOptions } from './sites';
import { contentTypesOf, defaultLocaleOf, settingStoreOf } from './strapi';
import type { Sites } from './types';

export interface CreateSitesOptions extends Omit<SitesOptions, 'settingStore' | 'contentTypes' | 'defaultLocale'> {
  strapi: Core.Strapi;
}

/** Sites, themes on disk and content addresses of a running Strapi (contract, sections 1 to 3). */
export function createSites({ strapi, ...options }: CreateSitesOptions): Sites {
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
