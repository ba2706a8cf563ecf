import { referenceFields } from '../../elements';
import type { Definition } from '../../types';
import { type FormFields, textsOf } from './form';

/** Characters of a text by which targets are looked for. */
const MAX_FIND = 200;

/** Texts by which a form looks for targets of its references, by element. */
export function searchesIn({ elements }: Definition, fields: FormFields): Map<string, string> {
  const references = [...elements.values()].filter(({ type }) => type === 'REFERENCE');
  return new Map(
    references.map(({ name }) => {
      const field = `${name}${referenceFields.find}`;
      const text = textsOf(Object.hasOwn(fields, field) ? fields[field] : undefined).at(-1) ?? '';
      return [name, text.trim().slice(0, MAX_FIND)];
    }),
  );
}

/** The reference whose button to look for targets was pressed. */
export function pressedSearch({ elements }: Definition, fields: FormFields): string | undefined {
  const isPressed = ({ name, type }: { name: string; type: string }) =>
    type === 'REFERENCE' && Object.hasOwn(fields, `${name}${referenceFields.search}`);
  return [...elements.values()].find(isPressed)?.name;
}
