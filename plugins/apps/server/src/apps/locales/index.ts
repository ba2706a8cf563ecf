import type { AppsError } from '../../common/errors';
import { cataloguesOf, type Files } from './catalogues';

export { readCatalogue } from './catalogue';
export { catalogueFiles, cataloguesOf } from './catalogues';
export { localeFor, otherLanguage, type PageLocale } from './locale';
export { inEnglish, type Message, message } from './message';
export type { ServiceMessage } from './messages';
export { scriptWords } from './script-words';

/** The DefinitionErrors of the catalogues of an app or theme. */
export const brokenCatalogues = (files: Files): Promise<AppsError[]> => cataloguesOf(files).errors();
