import type { Items } from '../../../shared/json';
import type { BlockSession } from './block-session';
import { optionsOf } from './element-options';
import { elementTypes } from './elements';
import { patternWork } from './elements/pattern-machine';
import type { Block, ElementDefinition } from './types';

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
 * Reads and checks every input of the block (contract, section 7). When `partial`, inputs that were not submitted
 * are left out, so that a form that shows some of a block's fields keeps the others of the record.
 */
export async function readSubmission(
  block: Block,
  session: BlockSession,
  fields: FormFields,
  placed: (name: string) => boolean,
): Promise<Submission> {
  const inputs = [...block.definition.elements.values()].filter((element) => isSubmitted(element, fields, placed));
  const options = await optionsOf(session, inputs);
  const entered = new Map<string, readonly string[]>();
  const errors = new Map<string, string>();
  const items: Items = {};
  const work = patternWork();
  for (const element of inputs) {
    const submitted = textsOf(fields[element.name]);
    entered.set(element.name, submitted);
    const result = elementTypes.get(element.type)?.read?.(submitted, element, options.get(element.name) ?? [], work);
    if (!result) continue;
    if ('error' in result) errors.set(element.name, result.error);
    else items[element.name] = result.value;
  }
  return { entered, items, errors };
}

/** An unchecked box is not sent at all: a field counts as submitted when it was sent, or when the layout shows it. */
function isSubmitted(element: ElementDefinition, fields: FormFields, placed: (name: string) => boolean): boolean {
  if (!elementTypes.get(element.type)?.input || element.mode) return false;
  return Object.hasOwn(fields, element.name) || placed(element.name);
}

function textsOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return list.filter((entry) => typeof entry !== 'object' || entry === null).map((entry) => String(entry ?? ''));
}
