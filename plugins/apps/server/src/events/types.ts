export type { LiveChanges, LiveConnection } from './live/live';
export type { RuleEntries } from './rule-entries';
export type { Unconfirmed, WaitingLists } from './unconfirmed';
