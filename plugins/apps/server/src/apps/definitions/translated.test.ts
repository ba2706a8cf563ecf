import { expect, test } from 'vitest';
import type { AppFolder, ThemeFile } from '../../sites/types';
import { fieldsOf } from '../elements';
import { loadApp } from './app';

const folderOf = (locale: string | null, texts: Record<string, string>): AppFolder => ({
  site: { id: 'site', title: 'Site', url: 'http://x/site', theme: 'main', locale, timeZone: null },
  appId: 'trips',
  themeId: 'main',
  revision: '1',
  settings: null,
  theme: null,
  themeFiles: new Map(),
  files: new Map(Object.entries(texts).map(([path, text]): [string, ThemeFile] => [path, { path, text }])),
});

const definition = `title: Trip of {title}
pages:
  - { title: You, elements: [title, kind] }
  - { title: Guests, elements: [guests] }
elements:
  title: { type: TEXT, label: Name, help: Yours }
  kind: { type: SELECT, label: Kind, options: [{ value: 1, label: One }, two] }
  guests: { type: REPEAT, label: Guests, add_label: Add, elements: { n: { type: TEXT, label: Who } } }
  _save: { label: Send }
`;

const german = `blocks:
  trip:
    title: Reise von {title}
    pages: { 1: Sie }
    elements:
      title: { label: Name von Ihnen }
      kind: { options: { 1: Eins, two: Zwei } }
      guests: { add_label: Dazu, elements: { n: { label: Wer } } }
      _save: { label: Senden }
      _delete: { label: Weg damit }
`;

const texts = { 'blocks/trip.yaml': definition, 'locales/en.yaml': '', 'locales/de.yaml': german };
const definitionFor = async (locale: string | null) =>
  (await loadApp(folderOf(locale, texts))).blocks.get('trip')?.definition;

test('a definition has the texts of the site’s language', async () => {
  const { title, pages, elements } = (await definitionFor('de-AT')) ?? {};
  expect([title, pages?.map((page) => page.title)]).toEqual(['Reise von {title}', ['Sie', 'Guests']]);
  expect(elements?.get('title')).toMatchObject({ label: 'Name von Ihnen', help: 'Yours' });
  const options = [
    { value: 1, label: 'Eins' },
    { value: 'two', label: 'Zwei' },
  ];
  expect(elements?.get('kind')).toMatchObject({ label: 'Kind', settings: { options } });
  expect(elements?.get('guests')).toMatchObject({ label: 'Guests', settings: { addLabel: 'Dazu' } });
  const guests = elements?.get('guests');
  expect(guests && fieldsOf(guests)?.get('n')).toMatchObject({ name: 'n', label: 'Wer' });
  expect(elements?.get('_save')).toMatchObject({ label: 'Senden' });
});

test('a built-in action has its text, also where the definition does not declare it', async () => {
  const label = async (locale: string) => (await definitionFor(locale))?.builtIn.get('_delete')?.label;
  expect([await label('de'), (await definitionFor('de'))?.elements.has('_delete')]).toEqual(['Weg damit', false]);
  expect(await label('en')).not.toBe('Weg damit');
});

test.each([null, 'en', 'fr'])('without a message it has its own, as for %s', async (locale) => {
  const { title, pages, elements } = (await definitionFor(locale)) ?? {};
  expect([title, pages?.map((page) => page.title)]).toEqual(['Trip of {title}', ['You', 'Guests']]);
  expect(elements?.get('title')).toMatchObject({ label: 'Name', help: 'Yours' });
});
