export type { LiveChanges, LiveConnection } from './live';
export type { RuleEntries } from './rule-entries';
