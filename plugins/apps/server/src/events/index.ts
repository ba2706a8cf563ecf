/** What happens around requests: rules on events of the host's content, calls from code, changes sent to open pages. */

export {
  type CallOptions,
  type CallServices,
  type Calls,
  callOfJob,
  createCalls,
  fetchJobs,
  functionJobs,
  siteOfJob,
} from './calls';
export { watchContent } from './host-events';
export { keepHistory } from './keep-history';
export { publishChanges } from './live/changes';
export { createLive, type LiveChanges, type LiveConnection } from './live/live';
export { createRuleEntries, type RuleEntries } from './rule-entries';
export { type ActorContext, createActorContext, createRules } from './rules';
export { createUnconfirmed, createWaitingLists, type Unconfirmed, type WaitingLists } from './unconfirmed';
export { createWebhooks } from './webhooks';
