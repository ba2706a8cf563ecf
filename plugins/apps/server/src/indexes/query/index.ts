export { queryError, queryLimits } from './limits';
export type { Condition } from './operators';
export { checkQuery, indexType, unknownIndex } from './text/check';
export type { Operand, Parsed } from './text/parse';
export { parseQuery } from './text/parse';
