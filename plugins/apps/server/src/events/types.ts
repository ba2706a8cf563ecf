export type { LiveChanges, LiveConnection } from './live/live';
export type { RuleEntries } from './rule-entries';
export type { Unconfirmed } from './unconfirmed';
export type { WaitingLists } from './waiting-lists';
