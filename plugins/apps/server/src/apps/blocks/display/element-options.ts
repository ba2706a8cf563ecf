import { logicError } from '../../../common/errors';
import { toOptions } from '../../elements';
import type { ElementDefinition, ElementOption } from '../../types';
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

function functionOf(element: ElementDefinition): string {
  return `${element.name}_options`;
}

function fail(element: ElementDefinition): never {
  throw logicError(`${functionOf(element)} must return a list of values or of {value, label}`);
}
