/** What happens around requests: rules on events of the host's content, calls from code, changes told to open pages. */
export { type Acting, createActing } from './acting';
export { announcing } from './announcing';
export { type CallOptions, type Calls, createCalls } from './calls';
export { createLive, type LiveChanges, type LiveConnection } from './live';
export { createRuleEntries, type RuleEntries } from './rule-entries';
export { createRules } from './rules';
