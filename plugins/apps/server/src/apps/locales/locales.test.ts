import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isAppsError } from '../../common/errors';
import type { Site, ThemeFile } from '../../sites/types';
import { brokenCatalogues, localeFor, readCatalogue, serviceMessages } from '.';

const filesOf = (texts: Record<string, string>): Map<string, ThemeFile> =>
  new Map(Object.entries(texts).map(([path, text]) => [path, { path, text }]));

const site = (locale: string | null, timeZone: string | null = null): Site => ({
  id: 'site',
  title: 'Site',
  url: 'http://localhost/site',
  theme: 'main',
  locale,
  timeZone,
});

const app = filesOf({
  'locales/en.yaml': 'title: Books\nloans: "{count, plural, one {# loan} other {# loans}}"',
  'locales/fr.yaml': 'title: Livres\nloans: "{count, plural, one {# prêt} other {# prêts}}"',
});
const theme = filesOf({ 'locales/fr.yaml': 'title: Thème\nshop: Boutique\napps:\n  save: Garder' });
const none = filesOf({});

describe('the language of a page', () => {
  test.each<[string, string | null, Map<string, ThemeFile>, string, string]>([
    ['a site without a locale', null, app, 'en', 'en'],
    ['an English site', 'en', app, 'en', 'en'],
    ['a site in a language of the app', 'fr', app, 'fr', 'fr'],
    ['a site in a region of a language', 'fr-CA', app, 'fr', 'fr-CA'],
    ['a site in a language that the app lacks', 'de', app, 'en', 'en'],
    ['a site in a language of the service, for an app without catalogues', 'de-CH', none, 'de', 'de-CH'],
    ['a site in a language that none has', 'it', none, 'en', 'en'],
  ])('%s', async (_, locale, files, language, tag) => {
    const found = await localeFor(site(locale), files);
    expect([found.language, found.tag]).toEqual([language, tag]);
    expect(found.say('save')).toBe(serviceMessages[language]?.get('save'));
  });

  test('a theme adds a language by translating every message of the service', async () => {
    const keys = [...(serviceMessages.en?.keys() ?? [])];
    const complete = `apps:\n${keys.map((key) => `  ${key}: it-${key}`).join('\n')}`;
    const partly = 'apps:\n  save: Salva';
    const languages = await Promise.all(
      [complete, partly].map(async (text) => {
        const { language, say } = await localeFor(site('it'), none, filesOf({ 'locales/it.yaml': text }));
        return [language, say('save')];
      }),
    );
    expect(languages).toEqual([
      ['it', 'it-save'],
      ['en', 'Save'],
    ]);
  });
});

describe('messages', () => {
  test.each<[string, object, string | null]>([
    ['title', {}, 'Livres'],
    ['loans', { count: 1 }, '1 prêt'],
    ['loans', { count: 1200 }, '1\u202f200 prêts'],
    ['shop', {}, 'Boutique'],
    ['apps.save', {}, 'Garder'],
    ['apps.edit', {}, 'Modifier'],
    ['apps.page_of', { page: 1, pages: 2 }, 'Page 1 sur 2'],
    ['apps.page_of', {}, 'Page 0 sur 0'],
    ['none', {}, null],
    ['edit', {}, null],
  ])('%s with %j', async (key, values, expected) => {
    const french = await localeFor(site('fr'), app, theme);
    expect(french.translate(key, values as { [name: string]: unknown })).toBe(expected);
  });

  test('the service has the same messages in each language, with the same placeholders', () => {
    const placeholders = (text: string) => [...text.matchAll(/\{(\w+)/g)].map(([, name]) => name).sort();
    const [english, ...others] = Object.values(serviceMessages);
    for (const other of others)
      expect([...other].map(([key, text]) => [key, new Set(placeholders(text))])).toEqual(
        [...(english ?? [])].map(([key, text]) => [key, new Set(placeholders(text))]),
      );
  });

  test('no HTML that the server makes has a text of its own', () => {
    const folder = join(__dirname, '../..');
    const isSource = (name: string) => name.endsWith('.ts') && !/\.test\.ts$|\/testing\//.test(name);
    const text = />[^<>`$={}()|&/]*[A-Za-z]{3,}[^<>`$={}()|&]*<\/[a-z]/;
    const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(isSource)
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
      .filter((line) => text.test(line) && !/^\s*(\/?\*|\/\/)/.test(line) && !line.includes('<span lang="en">'));
    expect(found).toEqual([]);
  });

  test.each([
    ['en', 1, '1 byte'],
    ['en', 999, '999 bytes'],
    ['en', 1536, '1.5 kB'],
    ['en', 10 * 1024 ** 2, '10 MB'],
    ['de', 999, '999 Byte'],
    ['de', 1.5 * 1024 ** 3, '1,5 GB'],
    ['fr', 1.5 * 1024 ** 2, '1,5 Mo'],
    ['es', 1536, '1,5 kB'],
  ])('in %s, %d bytes are %s', async (locale, bytes, expected) => {
    const { size, say } = await localeFor(site(locale), none);
    // The kind of space differs between versions of Node.js.
    expect(size(bytes).replace(/\s/g, ' ')).toBe(expected);
    expect(say('file_large', { size: { bytes } })).toContain(size(bytes));
  });

  test('the reference names every message of the service', () => {
    const page = readFileSync(join(__dirname, '../../../../../../docs/reference/languages.md'), 'utf8');
    const rows = [...(serviceMessages.en ?? [])].map(([key, text]) => `| \`apps.${key}\` | ${text} |`);
    expect(rows.filter((row) => !page.includes(`${row}\n`))).toEqual([]);
  });

  test('long values in a message of many placeholders are refused', async () => {
    const files = filesOf({ 'locales/en.yaml': `much: "${'{x}'.repeat(300)}"` });
    const { translate } = await localeFor(site('en'), files);
    expect(() => translate('much', { x: 'a'.repeat(10_000) })).toThrow('at most 200000 characters');
  });
});

describe('a file of messages', () => {
  test.each<[string, number, string]>([
    ['- a', 1, 'mapping of keys to messages'],
    ['a: 1', 1, 'put it in quotes'],
    ['a:\n  b: [x]', 2, 'put it in quotes'],
    ['a b: x', 1, 'letters, digits'],
    ['a: ok\nb: "{count, plural, one {x}"', 2, 'cannot be read'],
    [`a: ${'x'.repeat(1001)}`, 1, 'at most 1000'],
    ['a: x\na: y', 2, ''],
  ])('%j is an error in line %i', (text, line, message) => {
    const file = { path: 'locales/en.yaml', text };
    let thrown: unknown;
    try {
      readCatalogue(file);
    } catch (error) {
      thrown = error;
    }
    expect(isAppsError(thrown, 'DefinitionError')).toBe(true);
    expect(thrown).toMatchObject({ position: { file: 'locales/en.yaml', line } });
    expect((thrown as Error).message).toContain(message);
  });

  test('a broken one counts as absent and is reported', async () => {
    const files = filesOf({ 'locales/en.yaml': 'title: Books', 'locales/fr.yaml': '- a' });
    expect((await localeFor(site('fr'), files)).translate('title', {})).toBe('Books');
    expect((await brokenCatalogues(files)).map(({ position }) => position?.file)).toEqual(['locales/fr.yaml']);
  });
});
