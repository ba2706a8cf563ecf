export { checkQuery, indexType, parseQuery, unknownIndex } from './check';
export { queryError, queryLimits } from './limits';
export type { Condition } from './operators';
