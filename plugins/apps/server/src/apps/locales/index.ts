import { IntlMessageFormat } from 'intl-messageformat';
import { memoized } from '../../common/collections';
import { type AppsError, definitionError, isAppsError } from '../../common/errors';
import type { LayoutLocale } from '../../layouts/types';
import type { Site, ThemeFile } from '../../sites/types';
import { readYaml, type YamlNode } from '../yaml';
import { isMapping } from '../yaml-schema';
import { de } from './messages/de';
import { en, type ServiceMessages } from './messages/en';
import { es } from './messages/es';
import { fr } from './messages/fr';

const languages: Record<string, ServiceMessages> = { en, fr, de, es };

/** The service's own messages for visitors, by language (docs/reference/languages.md#messages-of-the-service). */
export const serviceMessages: Readonly<Record<string, ReadonlyMap<string, string>>> = Object.fromEntries(
  Object.entries(languages).map(([language, messages]) => [language, new Map(Object.entries(messages))]),
);

export type ServiceMessage = keyof ServiceMessages;

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
function formatMessage(text: string, locale: string, values: { [name: string]: unknown }): string {
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
type CatalogueFiles = ReadonlyMap<string, ThemeFile>;

/** Maximum languages of an app or theme; further ones, in the order of their names, are errors. */
const MAX_LANGUAGES = 30;

/** The catalogues of an app or theme. */
interface Catalogues {
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

/** A number of bytes as a value of a message: it is shown as a size in the language of the page. */
interface Size {
  bytes: number;
}

const units: [number, string][] = [
  [1024 ** 3, 'gigabyte'],
  [1024 ** 2, 'megabyte'],
  [1024, 'kilobyte'],
];

/** A number of bytes in words: `1.5 MB`, in French `1,5 Mo`. A kilobyte has 1024. @param tag BCP 47 */
function sizeText(bytes: number, tag: string): string {
  const [size, unit] = units.find(([one]) => bytes >= one) ?? [1, 'byte'];
  const unitDisplay = unit === 'byte' ? 'long' : 'short';
  return new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay, maximumFractionDigits: 1 }).format(
    bytes / size,
  );
}

const isSize = (value: unknown): value is Size => typeof (value as Partial<Size> | null)?.bytes === 'number';

/** The values of a message with sizes in words. */
function withSizes(values: { [name: string]: unknown }, tag: string): { [name: string]: unknown } {
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    isSize(value) ? sizeText(value.bytes, tag) : value,
  ]);
  return Object.fromEntries(entries);
}

/** Prefix of the keys of the service's own messages in a file of a theme or an app. */
const SERVICE = 'apps.';

/** The language of texts on a page, and their messages. */
export interface PageLocale extends LayoutLocale {
  /** Language of the messages, such as `fr`. */
  language: string;
  /** A message as its file has it, without values; null when there is none. */
  written(key: string): string | null;
  /** A message of the service for visitors, as the app or theme words it. */
  say(key: ServiceMessage, values?: { [name: string]: unknown }): string;
  /** A number of bytes in words. */
  size(bytes: number): string;
}

const noFiles: CatalogueFiles = new Map();

const locales = new WeakMap<CatalogueFiles, WeakMap<CatalogueFiles, Map<string, Promise<PageLocale>>>>();

/**
 * The locale of a page or block (docs/reference/languages.md#the-language-of-a-page).
 * @param own files of the app, or of the theme for a page without an app
 * @param shared files of the theme that holds the app
 */
export function localeFor(
  { locale, timeZone }: Pick<Site, 'locale' | 'timeZone'>,
  own: CatalogueFiles,
  shared: CatalogueFiles = noFiles,
): Promise<PageLocale> {
  const key = `${locale} ${timeZone}`;
  const found = locales.get(own)?.get(shared)?.get(key);
  if (found) return found;
  const ofOwn = locales.get(own) ?? new WeakMap<CatalogueFiles, Map<string, Promise<PageLocale>>>();
  locales.set(own, ofOwn);
  const known = ofOwn.get(shared) ?? new Map<string, Promise<PageLocale>>();
  ofOwn.set(shared, known);
  const made = createLocale(locale ?? 'en', timeZone, [own, shared].map(cataloguesOf));
  known.set(key, made);
  return made;
}

async function createLocale(
  wanted: string,
  timeZone: string | null,
  authors: readonly Catalogues[],
): Promise<PageLocale> {
  const language = await languageFor(wanted, authors);
  const given = (await Promise.all(authors.map((all) => all.get(language)))).filter((one) => one !== undefined);
  const service = serviceMessages[language] ?? serviceMessages.en;
  // The region of the site stays for dates and numbers: prices of a Swiss site are Swiss in French too.
  const tag = baseOf(wanted) === baseOf(language) ? wanted : language;
  const find = (key: string) => given.find((catalogue) => catalogue.has(key))?.get(key);
  return {
    tag,
    timeZone,
    language,
    translate(key, values) {
      const text = find(key) ?? (key.startsWith(SERVICE) ? service?.get(key.slice(SERVICE.length)) : undefined);
      return text === undefined ? null : formatMessage(text, tag, values);
    },
    written: (key) => find(key) ?? null,
    say(key, values = {}) {
      return formatMessage(find(`${SERVICE}${key}`) ?? service?.get(key) ?? key, tag, withSizes(values, tag));
    },
    size: (bytes) => sizeText(bytes, tag),
  };
}

/** The attribute `lang` of content whose language is not the site's, which the page has; else ''. */
export function otherLanguage({ language }: PageLocale, { locale }: Pick<Site, 'locale'>): string {
  // Languages are names of files: letters, digits and hyphens only.
  return baseOf(locale ?? 'en') === baseOf(language) ? '' : ` lang="${language}"`;
}

const baseOf = (tag: string): string => tag.split('-', 1)[0] ?? tag;

/** One language for all texts: the first candidate that the author and the service have. */
async function languageFor(wanted: string, authors: readonly Catalogues[]): Promise<string> {
  const author = authors.find(({ languages }) => languages.length > 0);
  const candidates = [wanted, baseOf(wanted), 'en', ...(author?.languages.slice(0, 1) ?? [])];
  for (const language of candidates) {
    if (author && !(await author.get(language))) continue;
    if (Object.hasOwn(serviceMessages, language) || (await coverService(language, authors))) return language;
  }
  return 'en';
}

/** Whether one of the catalogues of a language translates every message of the service. */
async function coverService(language: string, authors: readonly Catalogues[]): Promise<boolean> {
  const keys = [...(serviceMessages.en?.keys() ?? [])];
  for (const author of authors) {
    const catalogue = await author.get(language);
    if (catalogue && keys.every((key) => catalogue.has(`${SERVICE}${key}`))) return true;
  }
  return false;
}

/** A message of the service for visitors, with the values of its placeholders; its language is that of the page. */
export interface Message {
  key: ServiceMessage;
  values?: { [name: string]: string | number | Size };
}

/** A message of the service. */
export function message(key: ServiceMessage, values?: Message['values']): Message {
  return values ? { key, values } : { key };
}

/** A message in English, for those who make the site. */
export const inEnglish = ({ key, values = {} }: Message): string =>
  formatMessage(serviceMessages.en?.get(key) ?? key, 'en', withSizes(values, 'en'));

/** Texts of the browser script, by their names in it, and the messages that they are. */
const scriptTexts = {
  updated: 'script_updated',
  failed: 'script_failed',
  invalid: 'script_invalid',
  sending: 'script_sending',
  close: 'script_close',
} as const satisfies Record<string, ServiceMessage>;

/** The words of the browser script that differ from those in it. */
export function scriptWords({ say }: PageLocale): { [name: string]: string } {
  const all = Object.entries(scriptTexts).map(([name, key]) => ({ name, said: say(key), known: inEnglish({ key }) }));
  return Object.fromEntries(all.filter(({ said, known }) => said !== known).map(({ name, said }) => [name, said]));
}

/** The DefinitionErrors of the catalogues of an app or theme. */
export const brokenCatalogues = (files: CatalogueFiles): Promise<AppsError[]> => cataloguesOf(files).errors();
