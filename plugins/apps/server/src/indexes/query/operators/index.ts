import { comparisons } from './compare';
import { memberships } from './membership';
import type { Meanings } from './types';

export { type Condition, kindOf, type PlainCondition } from './types';

/**
 * What the operators of the query language mean. A new one needs its row in shared/query/operators.ts, its meaning in a file of this
 * folder, and its row in ../testing/operators.ts; the parser, the checker, the admin panel and the reference page follow. A condition of
 * a new kind is a row of `asked` in types.ts, and a row of `tests` in ../matches.ts.
 */
export const meanings: Meanings = { ...comparisons, ...memberships };
