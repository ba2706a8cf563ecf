import { z } from 'zod';
import { idPattern } from '../../sites';
import { builtInActions, elementTypes, roleOf } from '../elements';

/** Schema for editors: the keys of an element of a type. */
function typeShape(type: string, isTypeNeeded: boolean): z.ZodType {
  const settings = Object.entries(elementTypes.get(type)?.settings ?? {}).map(([key, { as, check }]) => [
    key,
    (as === 'entry' ? entryShape() : check.schema).nullish(),
  ]);
  const name = z.literal(type);
  return z.strictObject({ type: isTypeNeeded ? name : name.optional(), ...Object.fromEntries(settings) });
}

/** Schema for editors: a type's name, or a mapping with the keys of its type. */
function elementShape(): z.ZodType {
  const types = [...elementTypes.keys()];
  return z.union([z.enum(types), ...types.map((type) => typeShape(type, true))]);
}

/** Schema for editors: the fields of a repeated group. */
function entryShape(): z.ZodType {
  const isField = (type: string) => roleOf({ type }) === 'input' && type !== 'REPEAT';
  const types = [...elementTypes.keys()].filter(isField);
  const field = z.union([z.enum(types), ...types.map((type) => typeShape(type, true))]);
  return z.record(z.string(), field).meta({ propertyNames: { pattern: idPattern.source } });
}

/** Schema for editors: all elements of a block. */
export function elementsShape(): z.ZodType {
  const action = z.union([z.literal('ACTION'), typeShape('ACTION', false)]).optional();
  const builtIn = Object.fromEntries([...builtInActions.keys()].map((name) => [name, action]));
  return z
    .object(builtIn)
    .catchall(elementShape())
    .meta({ propertyNames: { pattern: idPattern.source } });
}
