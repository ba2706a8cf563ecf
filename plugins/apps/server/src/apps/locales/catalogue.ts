import { IntlMessageFormat } from 'intl-messageformat';
import { memoized } from '../../common/collections';
import { type AppsError, definitionError, isAppsError } from '../../common/errors';
import type { ThemeFile } from '../../sites/types';
import { isMapping } from '../yaml/schema';
import { readYaml, type YamlNode } from '../yaml/yaml';

/** Maximum messages of one file. */
const MAX_MESSAGES = 2_000;

/** Maximum characters of one message: parsing it takes a millisecond or two. */
const MAX_MESSAGE = 1_000;

/** Maximum characters that the values in the placeholders of one message may have together. */
const MAX_VALUES = 200_000;

/** Messages of one language by key; the keys of nested mappings are joined by dots. */
type Catalogue = ReadonlyMap<string, string>;

const KEY = /^[A-Za-z0-9_-]+$/;

/**
 * Reads a file of `locales/` (docs/reference/languages.md#messages): a mapping of keys to messages or to further
 * mappings. DefinitionError with file, line and column for anything else.
 */
export function readCatalogue(file: ThemeFile): Catalogue {
  const messages = new Map<string, string>();
  const root = readYaml(file);
  if (root.value !== null) addMessages(messages, root, '');
  return messages;
}

function addMessages(messages: Map<string, string>, at: YamlNode, prefix: string): void {
  const { value } = at;
  if (!isMapping(value)) return at.fail('This must be a mapping of keys to messages');
  for (const [key, inner] of Object.entries(value)) {
    if (!KEY.test(key)) at.key(key).fail('A key of a message has letters, digits, "_" and "-" only');
    if (messages.size === MAX_MESSAGES) at.key(key).fail(`A file has at most ${MAX_MESSAGES} messages`);
    const name = `${prefix}${key}`;
    const node = at.child(key);
    if (isMapping(inner)) addMessages(messages, node, `${name}.`);
    else messages.set(name, messageText(node));
  }
}

function messageText(at: YamlNode): string {
  const { value } = at;
  if (typeof value !== 'string') return at.fail('A message is text; put it in quotes');
  if (value.length > MAX_MESSAGE) return at.fail(`A message has at most ${MAX_MESSAGE} characters`);
  const problem = messageProblem(value);
  if (problem !== null) at.fail(`This message cannot be read: ${problem}`);
  return value;
}

/** Why a text is no message in ICU MessageFormat, or null. Only one with braces or quoted parts can be wrong. */
function messageProblem(text: string): string | null {
  if (!/[{}]/.test(text)) return null;
  try {
    new IntlMessageFormat(text, 'en', undefined, { ignoreTag: true });
    return null;
  } catch (error) {
    return (error as Error).message.split('\n')[0] ?? 'unknown';
  }
}

type Value = string | number | boolean | Date | null | undefined;

/**
 * A message with values in its placeholders (ICU MessageFormat: `{name}`, `{count, plural, one {…} other {…}}`). A
 * placeholder without a value is empty.
 * @param locale BCP 47 tag for plurals, numbers and dates
 */
export function formatMessage(text: string, locale: string, values: { [name: string]: unknown }): string {
  if (!/[{}']/.test(text)) return text;
  const given = Object.entries(values).map(([name, value]) => [name, plain(value)] as const);
  const length = given.reduce((sum, [, value]) => sum + (typeof value === 'string' ? value.length : 0), 0);
  const placeholders = text.split('{').length;
  if (length * placeholders > MAX_VALUES)
    throw new Error(`The values of a message have at most ${MAX_VALUES} characters together`);
  const known = new Proxy(Object.fromEntries(given) as Record<string, Value>, {
    // Every placeholder has a value, because a missing one would be an error for a visitor.
    has: () => true,
    get: (target, name) => (Object.hasOwn(target, name) ? target[name as string] : ''),
  });
  return String(new IntlMessageFormat(text, locale, undefined, { ignoreTag: true }).format(known));
}

function plain(value: unknown): Value {
  if (value === null || value === undefined) return '';
  if (typeof value === 'object') return value instanceof Date ? value : JSON.stringify(value);
  return value as Value;
}

/** Files of an app or a theme, by relative path. */
export type CatalogueFiles = ReadonlyMap<string, ThemeFile>;

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
export const catalogueFiles = (files: CatalogueFiles): ThemeFile[] =>
  [...files.values()].filter((file) => languageOf(file) !== undefined);

function createCatalogues(files: CatalogueFiles): Catalogues {
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
