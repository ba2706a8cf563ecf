import type { LayoutLocale } from '../../layouts/types';
import type { Site } from '../../sites/types';
import { type CatalogueFiles, type Catalogues, cataloguesOf, formatMessage } from './catalogue';
import { type ServiceMessage, serviceMessages } from './messages';

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
  const ofOwn = locales.get(own) ?? new WeakMap<CatalogueFiles, Map<string, Promise<PageLocale>>>();
  locales.set(own, ofOwn);
  const known = ofOwn.get(shared) ?? new Map<string, Promise<PageLocale>>();
  ofOwn.set(shared, known);
  const found = known.get(key) ?? createLocale(locale ?? 'en', timeZone, [own, shared].map(cataloguesOf));
  known.set(key, found);
  return found;
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
