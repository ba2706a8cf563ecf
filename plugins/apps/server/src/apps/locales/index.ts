import type { AppsError } from '../../common/errors';
import { type CatalogueFiles, cataloguesOf } from './locale';

export {
  catalogueFiles,
  cataloguesOf,
  inEnglish,
  localeFor,
  type Message,
  message,
  otherLanguage,
  type PageLocale,
  readCatalogue,
  scriptWords,
} from './locale';
export type { ServiceMessage } from './messages';

/** The DefinitionErrors of the catalogues of an app or theme. */
export const brokenCatalogues = (files: CatalogueFiles): Promise<AppsError[]> => cataloguesOf(files).errors();
