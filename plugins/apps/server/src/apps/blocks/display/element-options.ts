import type { Json } from '../../../../../shared/json';
import { logicError } from '../../../common/errors';
import { toOptions } from '../../elements';
import type { PageLocale } from '../../locales';
import { optionsLeft } from '../../run/places/state';
import type { Run } from '../../run/types';
import type { Block, ElementDefinition, ElementOption } from '../../types';
import type { BlockSession } from '../block-session';

/**
 * Options of every element that has any: from its definition, or computed by its function `<element>_options`, which
 * returns a list of values or of `{value, label}` (docs/reference/definitions.md#keys-of-an-element). LogicError for
 * another result.
 */
export async function optionsOf(
  session: BlockSession,
  elements: readonly ElementDefinition[],
): Promise<Map<string, readonly ElementOption[]>> {
  const computed = elements.filter((element) => !element.options && session.has(functionOf(element)));
  const values = await session.run(computed.map(functionOf));
  const options = new Map<string, readonly ElementOption[]>();
  for (const element of elements) if (element.options) options.set(element.name, element.options);
  for (const element of computed)
    options.set(element.name, toOptions(values.get(functionOf(element)) ?? []) ?? fail(element));
  return options;
}

/**
 * The options of a form's element with what is left of those that have a limit, as text: `Monday (3 left)`, `Monday (full)`. What the
 * record has chosen already stays.
 * @param stored the value of the record whose form is shown
 */
export async function withPlaces(
  run: Run,
  block: Block,
  element: ElementDefinition,
  options: readonly ElementOption[],
  { stored, say }: { stored: Json | undefined; say: PageLocale['say'] },
): Promise<readonly ElementOption[]> {
  if (!block.definition.places?.limited.includes(element.name)) return options;
  const left = await optionsLeft(run, run.app, block, element);
  const own = new Set([stored ?? null].flat().map(String));
  return options.map((option) => {
    const { value, label } = option;
    const count = left.get(String(value));
    if (count === undefined || own.has(String(value))) return option;
    if (count > 0) return { ...option, label: say('option_left', { label, count }) };
    return { ...option, label: say('option_full', { label }), isFull: true };
  });
}

function functionOf(element: ElementDefinition): string {
  return `${element.name}_options`;
}

function fail(element: ElementDefinition): never {
  throw logicError(`${functionOf(element)} must return a list of values or of {value, label}`);
}
