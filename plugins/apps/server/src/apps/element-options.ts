import type { Json } from '../../../shared/json';
import { AppsError } from '../errors';
import type { BlockSession } from './block-session';
import type { ElementDefinition, ElementOption } from './types';

/**
 * Options of every element that has some: from its definition, or computed by its function `<element>_options`,
 * which returns a list of values or of `{value, label}` (contract, section 7). LogicError for another result.
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
    options.set(element.name, readOptions(element, values.get(functionOf(element)) ?? []));
  return options;
}

function functionOf(element: ElementDefinition): string {
  return `${element.name}_options`;
}

function readOptions(element: ElementDefinition, value: Json): ElementOption[] {
  if (!Array.isArray(value)) throw badOptions(element);
  return value.map((entry) => {
    if (isScalar(entry)) return { value: entry, label: String(entry) };
    if (entry === null || Array.isArray(entry) || typeof entry !== 'object' || !isScalar(entry.value)) {
      throw badOptions(element);
    }
    return { value: entry.value, label: isScalar(entry.label) ? String(entry.label) : String(entry.value) };
  });
}

function isScalar(value: Json | undefined): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function badOptions(element: ElementDefinition): AppsError {
  return new AppsError('LogicError', `${functionOf(element)} must return a list of values or of {value, label}`);
}
