export { queryError } from './errors';
export { queryLimits } from './limits';
export type { Condition } from './operators';
export { checkQuery, indexType, unknownIndex } from './text/check';
export { parseQuery } from './text/parse';
export type { Operand, Parsed } from './text/tree';
