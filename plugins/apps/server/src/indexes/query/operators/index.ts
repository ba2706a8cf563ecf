import { comparisons } from './compare';
import { memberships } from './membership';
import type { Operator } from './types';

export { type Condition, kindOf, type PlainCondition } from './types';

/**
 * The operators of the query language. A new one needs its row, in a file of this folder, and its row in
 * ../testing/operators.ts; the parser, the checker and the reference page follow. A condition of a new kind is a row of
 * `asked` in conditions.ts, and a row of `tests` in ../matches.ts.
 */
export const operators = { ...comparisons, ...memberships } satisfies Record<string, Operator>;

export type OperatorName = keyof typeof operators;
