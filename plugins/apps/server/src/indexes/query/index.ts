export { type Condition, checkQuery, indexType, unknownIndex } from './check';
export { queryError } from './errors';
export { queryLimits } from './limits';
export { parseQuery } from './parse';
export type { Comparator, Operand, Parsed } from './tree';
