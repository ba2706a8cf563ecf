import type { Definition, ElementDefinition } from '../types';
import { sentEntries } from './entries';
import { type FormFields, referenceFields, textsOf } from './form-fields';
import { fieldsOf } from './parts';
import type { ShownAgain } from './types';

/** Characters of a text by which targets are looked for. */
const MAX_FIND = 200;

/** A reference in an entry of a repeated group, as fields of a form name it. */
const IN_ENTRY = /^([^:]+):(\d{1,9}):([^:]+)$/;

function findText(fields: FormFields, name: string): string {
  const field = `${name}${referenceFields.find}`;
  const text = textsOf(Object.hasOwn(fields, field) ? fields[field] : undefined).at(-1) ?? '';
  return text.trim().slice(0, MAX_FIND);
}

/**
 * Texts by which a form looks for targets of its references. In repeated groups only that of the pressed button counts, so
 * that a form of many entries does not make as many searches; its name has the entry's position.
 */
export function searchesIn(
  definition: Definition,
  fields: FormFields,
): Required<Pick<ShownAgain, 'searches'>> & Pick<ShownAgain, 'searched'> {
  const references = [...definition.elements.values()].filter(({ kind }) => kind.targets);
  const searches = new Map(references.map(({ name }) => [name, findText(fields, name)]));
  const pressed = pressedSearch(definition, fields);
  const [, group = '', number, field] = IN_ENTRY.exec(pressed ?? '') ?? [];
  if (pressed === undefined || number === undefined) return { searches, searched: pressed };
  const position = sentEntries(definition, fields).get(group)?.numbers.indexOf(Number(number)) ?? -1;
  const searched = `${group}:${position}:${field}`;
  return { searches: searches.set(searched, findText(fields, pressed)), searched };
}

const fieldIn = (element: ElementDefinition | undefined, name: string) => element && fieldsOf(element)?.get(name);

/** The reference whose button to look for targets was pressed, as the form names it. */
export function pressedSearch({ elements }: Definition, fields: FormFields): string | undefined {
  const buttons = Object.keys(fields).filter((name) => name.endsWith(referenceFields.search));
  const names = buttons.map((name) => name.slice(0, -referenceFields.search.length));
  return names.find((name) => {
    const [, group, , field] = IN_ENTRY.exec(name) ?? [];
    const element = group === undefined ? elements.get(name) : fieldIn(elements.get(group), field ?? '');
    return element?.kind.targets !== undefined;
  });
}
