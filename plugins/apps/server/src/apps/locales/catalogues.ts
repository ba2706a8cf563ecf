import { type AppsError, definitionError, isAppsError } from '../../common/errors';
import { memoized } from '../../common/memo';
import type { ThemeFile } from '../../sites/types';
import { type Catalogue, readCatalogue } from './catalogue';

/** Files of an app or a theme, by relative path. */
export type Files = ReadonlyMap<string, ThemeFile>;

/** Maximum languages of an app or theme; further ones, in the order of their names, are errors. */
const MAX_LANGUAGES = 30;

/** The catalogues of an app or theme. */
export interface Catalogues {
  /** Languages that have a file, in the order of their names. */
  readonly languages: readonly string[];
  /** The catalogue of a language; undefined without a file, and for a broken one. Read at its first use. */
  get(language: string): Promise<Catalogue | undefined>;
  /** The DefinitionErrors of all files. */
  errors(): Promise<AppsError[]>;
}

/** The catalogues in the files of an app or theme; the same object for the same files. */
export const cataloguesOf = memoized(createCatalogues);

/** The language of a file of `locales/`; undefined for other files. */
const languageOf = ({ path }: ThemeFile) => /^locales\/([A-Za-z0-9-]+)\.ya?ml$/.exec(path)?.[1];

/** The files of an app's or theme's catalogues. */
export const catalogueFiles = (files: Files): ThemeFile[] =>
  [...files.values()].filter((file) => languageOf(file) !== undefined);

function createCatalogues(files: Files): Catalogues {
  const found = catalogueFiles(files).map((file) => [languageOf(file) ?? '', file] as const);
  const byLanguage = new Map(found.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MAX_LANGUAGES));
  const surplus = found.slice(MAX_LANGUAGES).map(([, file]) => file);
  const read = new Map<string, Promise<Catalogue | AppsError>>();

  function readOnce(language: string, file: ThemeFile): Promise<Catalogue | AppsError> {
    const known = read.get(language) ?? readYielding(file);
    read.set(language, known);
    return known;
  }

  return {
    languages: [...byLanguage.keys()],
    async get(language) {
      const file = byLanguage.get(language);
      const catalogue = file && (await readOnce(language, file));
      return isAppsError(catalogue) ? undefined : catalogue;
    },
    async errors() {
      const all: AppsError[] = surplus.map(({ path }) =>
        definitionError(`There are at most ${MAX_LANGUAGES} languages`, { file: path }),
      );
      for (const [language, file] of byLanguage) {
        const catalogue = await readOnce(language, file);
        if (isAppsError(catalogue)) all.push(catalogue);
      }
      return all;
    },
  };
}

/** Reads a file after other requests had the thread: one takes up to a tenth of a second. */
async function readYielding(file: ThemeFile): Promise<Catalogue | AppsError> {
  await new Promise((resolve) => setImmediate(resolve));
  try {
    return readCatalogue(file);
  } catch (error) {
    if (isAppsError(error)) return error;
    throw error;
  }
}
