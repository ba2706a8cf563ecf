import { type AppsError, definitionError } from '../../common/errors';
import { elementTypes } from '../elements';
import type { Block, ElementDefinition, Receipt } from '../types';
import { type Check, check } from '../yaml/check';
import { flag, mapping, text } from '../yaml/schema';
import type { YamlNode } from '../yaml/yaml';

/** The types of elements whose values are addresses. */
const types = [...elementTypes].flatMap(([name, { isAddress }]) => (isAddress ? [name] : [])).join(' or ');

const receiptMapping = mapping({ to: text, subject: text, block: text, confirm: flag });

/** The key `receipt` of a definition (docs/reference/definitions.md#receipts). */
export const receipt: Check<Receipt> = check(receiptMapping.schema, (value, at): Receipt => {
  const { to, subject = null, block = null, confirm = false } = receiptMapping.read(value, at);
  return to === undefined
    ? at.fail(`"receipt" needs a "to", the name of an element of the type ${types}`)
    : { to, subject, block, confirm, position: at.position };
});

/** The receipt of a block, compared with its elements: DefinitionError where none of them has an address. */
export function checkReceipt(
  given: Receipt | undefined,
  elements: ReadonlyMap<string, ElementDefinition>,
  root: YamlNode,
): Receipt | null {
  if (given && !elements.get(given.to)?.kind.isAddress)
    root
      .child('receipt')
      .child('to')
      .fail(`This must be the name of an element of the type ${types}, not "${given.to}"`);
  return given ?? null;
}

/** The DefinitionError of a receipt that shows a block which the app lacks; null if there is none. */
export function receiptProblem(given: Receipt | null, blocks: ReadonlyMap<string, Block>): AppsError | null {
  if (!given || given.block === null || blocks.has(given.block)) return null;
  return definitionError(`receipt: there is no block "${given.block}"`, given.position);
}
