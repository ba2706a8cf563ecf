import { cataloguesOf, localeFor } from '../locales';
import type { App, Block, Definition, ElementDefinition, FormPage } from '../types';

/** The message of a key, without its values; null if there is none. */
type Find = (key: string) => string | null;

/** Texts of an element, by the keys that a definition has them under. */
const texts = {
  label: 'label',
  help: 'help',
  placeholder: 'placeholder',
  confirm: 'confirm',
  entry_label: 'entryLabel',
  add_label: 'addLabel',
  remove_label: 'removeLabel',
  up_label: 'upLabel',
  down_label: 'downLabel',
} as const;

/** Keys of an element that have messages. */
export const elementTexts: readonly string[] = Object.keys(texts);

/**
 * The app with the texts of its definitions in the language of its site, as far as its catalogues have them
 * (docs/reference/languages.md#texts-of-definitions).
 */
export async function translated(app: App): Promise<App> {
  const { site, files, themeFiles } = app.folder;
  if ([files, themeFiles].every((own) => cataloguesOf(own).languages.length === 0)) return app;
  const { written: find } = await localeFor(site, files, themeFiles);
  const blocks = [...app.blocks].map(([id, block]): [string, Block] => {
    const own: Find = (key) => find(`blocks.${id}.${key}`);
    return [id, { ...block, definition: definitionIn(block.definition, own) }];
  });
  return { ...app, blocks: new Map(blocks) };
}

function definitionIn(definition: Definition, find: Find): Definition {
  const page = (one: FormPage, index: number) => ({ ...one, title: find(`pages.${index + 1}`) ?? one.title });
  return {
    ...definition,
    title: find('title') ?? definition.title,
    pages: definition.pages?.map(page) ?? null,
    places: definition.places && {
      ...definition.places,
      closed: find('closed') ?? definition.places.closed,
      full: find('full') ?? definition.places.full,
    },
    elements: elementsIn(definition.elements, find),
    builtIn: elementsIn(definition.builtIn, find),
  };
}

function elementsIn(elements: Definition['elements'], find: Find): Map<string, ElementDefinition> {
  return new Map([...elements].map(([name, one]) => [name, elementIn(one, (key) => find(`elements.${name}.${key}`))]));
}

function elementIn(element: ElementDefinition, find: Find): ElementDefinition {
  const found = Object.entries(texts).flatMap(([key, name]) => {
    const text = find(key);
    return text === null ? [] : [[name, text]];
  });
  const { options, entry } = element;
  return {
    ...element,
    ...Object.fromEntries(found),
    ...(options && { options: options.map((one) => ({ ...one, label: find(`options.${one.value}`) ?? one.label })) }),
    ...(entry && { entry: elementsIn(entry, find) }),
  };
}
