import type { Core } from '@strapi/strapi';
import { createSitesFrom, type SitesOptions } from './sites';
import { contentTypesOf, settingStoreOf } from './strapi';
import type { Sites } from './types';

export interface CreateSitesOptions extends Omit<SitesOptions, 'settingStore' | 'contentTypes'> {
  strapi: Core.Strapi;
}

/** Sites, themes on disk and content addresses of a running Strapi (contract, sections 1 to 3). */
export function createSites({ strapi, ...options }: CreateSitesOptions): Sites {
  return createSitesFrom({
    ...options,
    settingStore: settingStoreOf(strapi),
    contentTypes: () => contentTypesOf(strapi),
  });
}

export type { ContentTypeInfo, ReadContent } from './content';
export { uidAttribute } from './content';
export { isId, recordIdProblem, reservedViews, trimSlashes } from './ids';
export type * from './types';
export { encodeSegment } from './urls';
