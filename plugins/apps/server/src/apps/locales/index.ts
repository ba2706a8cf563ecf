import type { AppsError } from '../../common/errors';
import { type CatalogueFiles, cataloguesOf } from './catalogue';

export { catalogueFiles, cataloguesOf, readCatalogue } from './catalogue';
export { inEnglish, localeFor, type Message, message, otherLanguage, type PageLocale, scriptWords } from './locale';
export type { ServiceMessage } from './messages';

/** The DefinitionErrors of the catalogues of an app or theme. */
export const brokenCatalogues = (files: CatalogueFiles): Promise<AppsError[]> => cataloguesOf(files).errors();
