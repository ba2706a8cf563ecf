import type { Items } from '../../../shared/json';
import type { BlockSession } from './block-session';
import { optionsOf } from './element-options';
import { elementTypes } from './elements';
import { patternWork } from './elements/pattern-machine';
import type { Block } from './types';

/** A validated submission of a block's form. */
export interface Submission {
  /** What was entered, by element; shown again when something is wrong. */
  entered: ReadonlyMap<string, readonly string[]>;
  /** Values to store, of the fields that are right. */
  items: Items;
  /** One sentence a wrong field. */
  errors: ReadonlyMap<string, string>;
}

/** Form fields as submitted: text, or a list of texts where a name came more than once. */
export type FormFields = Readonly<Record<string, unknown>>;

/**
 * Reads and checks every input that the block's layout shows (contract, sections 6 and 7): a form stores only those, and a
 * form that shows some of a block's fields keeps the others of the record. An input that is shown and was not sent is
 * empty, for a browser does not send an unchecked box. Computed inputs are not taken from the form.
 * @param fields the form as submitted
 * @param shows whether the layout shows an element
 */
export async function readSubmission(
  block: Block,
  session: BlockSession,
  fields: FormFields,
  shows: (name: string) => boolean,
): Promise<Submission> {
  const inputs = [...block.definition.elements.values()].filter(
    ({ name, type, mode }) => elementTypes.get(type)?.input && !mode && shows(name),
  );
  const options = await optionsOf(session, inputs);
  const entered = new Map<string, readonly string[]>();
  const errors = new Map<string, string>();
  const items: Items = {};
  const work = patternWork();
  for (const element of inputs) {
    const submitted = textsOf(Object.hasOwn(fields, element.name) ? fields[element.name] : undefined);
    entered.set(element.name, submitted);
    const result = elementTypes.get(element.type)?.read?.(submitted, element, options.get(element.name) ?? [], work);
    if (!result) continue;
    if ('error' in result) errors.set(element.name, result.error);
    else items[element.name] = result.value;
  }
  return { entered, items, errors };
}

function textsOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return list.filter((entry) => typeof entry !== 'object' || entry === null).map((entry) => String(entry ?? ''));
}
