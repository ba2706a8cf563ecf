/** What a block has read, as topics that its page waits for (docs/decisions/live-blocks.md). */
export {
  type ChangedRecord,
  conditionOf,
  digestOf as digestOfIndexes,
  type LiveCondition,
  type RecordState,
  testOf,
} from './condition';
export { LiveReads } from './reads';
export { LIVE_VIEW, type Live, type Topic, topics } from './topics';
