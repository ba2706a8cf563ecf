import { createHash } from 'node:crypto';
import { isAppsError } from '../../common/errors';
import { searchMatcher } from '../../indexes';
import type { IndexDeclarations } from '../../indexes/types';
import type { AppKey, Items, ReadCondition } from '../../records/types';
import { type Topic, topics } from './topics';

/** The condition of a search or a count that a block has made: enough for any process to say whether a record belongs to it. */
export interface LiveCondition {
  key: AppKey;
  /** A digest of the indexes of the app when the block was rendered. */
  indexes: string;
  query: string;
  names?: Items | undefined;
  creator?: string | undefined;
  block?: string | undefined;
  /** Whether only the number of matches was shown. */
  isCount: boolean;
}

/** What a condition can look at in a record. */
export interface RecordState {
  id: string;
  creator: string | null;
  items: Items;
  /** Names that a condition may look at and whose values are not known here. */
  cut?: readonly string[] | undefined;
}

/** A record before and after a change; null where there is none. */
export interface ChangedRecord {
  before: RecordState | null;
  after: RecordState | null;
  /** A digest of the app's indexes, where the items are only those that these look at. */
  indexes?: string;
}

type Written = ['match', string, string, string, 0 | 1, string, Items | 0, string | 0, string | 0];

/** The topic of a condition. */
export function matchTopic({ site, app }: AppKey, asked: ReadCondition): Topic {
  const { query = '', names, creator, block, indexes, isCount } = asked;
  // A name that the query does not have is not looked at.
  const used = Object.entries(names ?? {}).filter(([name]) => query.includes(name));
  const written: Written = [
    'match',
    site,
    app,
    digestOf(indexes),
    isCount ? 1 : 0,
    query,
    used.length > 0 ? Object.fromEntries(used) : 0,
    creator ?? 0,
    block ?? 0,
  ];
  return JSON.stringify(written);
}

/** The condition of a topic; null for another topic. */
export function conditionOf(topic: Topic): LiveCondition | null {
  if (!topic.startsWith('["match"')) return null;
  const [, site, app, indexes, isCount, query, names, creator, block] = JSON.parse(topic) as Written;
  return {
    key: { site, app },
    indexes,
    isCount: isCount === 1,
    query,
    names: names || undefined,
    creator: creator === 0 ? undefined : creator,
    block: block === 0 ? undefined : block,
  };
}

/** The topics of each change that may concern a condition: one of the same app, and of the same creator if it has one. */
export function widerTopics({ key, creator }: Pick<LiveCondition, 'key' | 'creator'>): Topic[] {
  return creator === undefined ? [topics.any(key)] : [topics.own(key, creator), topics.creators(key)];
}

const digests = new WeakMap<IndexDeclarations, string>();

/** A short digest of the declared indexes of an app. */
export function digestOf(indexes: IndexDeclarations): string {
  const known = digests.get(indexes);
  if (known !== undefined) return known;
  const sorted = [...indexes].sort(([one], [other]) => (one < other ? -1 : 1));
  const digest = createHash('sha256').update(JSON.stringify(sorted)).digest('base64url').slice(0, 8);
  digests.set(indexes, digest);
  return digest;
}

/**
 * A test whether a change may change what the search or count of a condition finds: one of a record that matches before or after
 * it; for a count, one that changes whether it matches.
 * @param declared the app's current indexes; null without the app. With others than at the rendering, each change of the app counts
 */
export function testOf(
  condition: LiveCondition,
  declared: IndexDeclarations | null,
): (change: ChangedRecord) => boolean {
  const { query, creator, block, isCount } = condition;
  const isOwn = (state: RecordState | null) => state !== null && (creator === undefined || state.creator === creator);
  const any = ({ before, after }: ChangedRecord) => isOwn(before) || isOwn(after);
  const has = declared && digestOf(declared) === condition.indexes && compiled(condition, declared);
  if (!has) return any;
  const looksAt = (name: string) => (name === 'block' && block !== undefined) || mentions(query, name);
  return (change) => {
    const { before, after, indexes = condition.indexes } = change;
    // With other indexes, items may be missing that the condition looks at.
    if (indexes !== condition.indexes) return any(change);
    if (before?.cut?.some(looksAt) || after?.cut?.some(looksAt)) return any(change);
    const [was, is] = [before !== null && has(before), after !== null && has(after)];
    return isCount ? was !== is : was || is;
  };
}

/** Null for a condition that is no longer right. */
function compiled({ query, names, creator, block }: LiveCondition, declared: IndexDeclarations) {
  try {
    const options = { query, ...(names && { names }), ...(creator && { creator }), ...(block && { block }) };
    return searchMatcher(declared, options);
  } catch (error) {
    if (isAppsError(error, 'BadRequestError')) return null;
    throw error;
  }
}

/** Whether a query has a word; a longer word that contains it is another one. */
function mentions(query: string, word: string): boolean {
  const isPart = (character: string | undefined) => character !== undefined && /[\w.-]/.test(character);
  for (let at = query.indexOf(word); at >= 0; at = query.indexOf(word, at + 1))
    if (!isPart(query[at - 1]) && !isPart(query[at + word.length])) return true;
  return false;
}
