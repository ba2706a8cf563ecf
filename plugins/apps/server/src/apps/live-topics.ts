import { createHash } from 'node:crypto';
import { isAppsError } from '../common/errors';
import { searchMatcher } from '../indexes';
import type { IndexDeclarations } from '../indexes/types';
import type { AppKey, Items, ReadCondition, UnitObserver } from '../records/types';

/** The view id at which a site's pages wait for changes; reserved, no block can have it. */
export const LIVE_VIEW = 'apps.live';

/**
 * What a block has read, or a transaction has changed: one record; `any` record of an app; records that one creator has made
 * (`own`), on which a list of own records depends; or, in a bulk change, records that are not listed (`bulk`) and whose creators
 * are not (`creators`). Only read: records that match a condition (`match`, see LiveCondition). Each is a list, as JSON.
 */
export type Topic = string;

export const topics = {
  record: ({ site, app }: AppKey, id: string): Topic => JSON.stringify(['record', site, app, id]),
  any: ({ site, app }: AppKey): Topic => JSON.stringify(['any', site, app]),
  own: ({ site, app }: AppKey, creator: string): Topic => JSON.stringify(['own', site, app, creator]),
  bulk: ({ site, app }: AppKey): Topic => JSON.stringify(['bulk', site, app]),
  creators: ({ site, app }: AppKey): Topic => JSON.stringify(['creators', site, app]),
};

/** Publishes changes of records to the pages that show them (docs/reference/embedding.md#live-and-shared-blocks). */
export interface Live {
  /** The opaque, unguessable name by which a browser subscribes to a topic: the same text for the same topic. */
  token(topic: Topic): string;
  /** The present moment, as a text: a page that was rendered from now on misses no change after it. */
  position(): string;
}

/** The condition of a search or a count that a block has made: enough for any process to say whether a record belongs to it. */
export interface LiveCondition {
  key: AppKey;
  /** A digest of the indexes of the app when the block was rendered. */
  indexes: string;
  query: string;
  names?: Items | undefined;
  creator?: string | undefined;
  block?: string | undefined;
  /** Whether unconfirmed records are left out. */
  confirmed?: boolean | undefined;
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

type Written = ['match', string, string, string, 0 | 1, string, Items | 0, string | 0, string | 0, 0 | 1];

/** The topic of a condition. */
export function matchTopic({ site, app }: AppKey, asked: ReadCondition): Topic {
  const { query = '', names, creator, block, confirmed, indexes, isCount } = asked;
  // A name that the query does not have is not looked at.
  const used = Object.entries(names ?? {}).filter(([name]) => query.includes(name));
  const written: Written = [
    'match',
    site,
    app,
    digestOfIndexes(indexes),
    isCount ? 1 : 0,
    query,
    used.length > 0 ? Object.fromEntries(used) : 0,
    creator ?? 0,
    block ?? 0,
    confirmed ? 1 : 0,
  ];
  return JSON.stringify(written);
}

/** The condition of a topic; null for another topic. */
export function conditionOf(topic: Topic): LiveCondition | null {
  if (!topic.startsWith('["match"')) return null;
  const [, site, app, indexes, isCount, query, names, creator, block, confirmed] = JSON.parse(topic) as Written;
  return {
    key: { site, app },
    indexes,
    isCount: isCount === 1,
    query,
    names: names || undefined,
    creator: creator === 0 ? undefined : creator,
    block: block === 0 ? undefined : block,
    confirmed: confirmed === 1,
  };
}

/** The topics of each change that may concern a condition: one of the same app, and of the same creator if it has one. */
function widerTopics({ key, creator }: Pick<LiveCondition, 'key' | 'creator'>): Topic[] {
  return creator === undefined ? [topics.any(key)] : [topics.own(key, creator), topics.creators(key)];
}

const digests = new WeakMap<IndexDeclarations, string>();

/** A short digest of the declared indexes of an app. */
export function digestOfIndexes(indexes: IndexDeclarations): string {
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
  const has = declared && digestOfIndexes(declared) === condition.indexes && compiled(condition, declared);
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
function compiled({ query, names, creator, block, confirmed }: LiveCondition, declared: IndexDeclarations) {
  try {
    const options = { query, ...(names && { names }), ...(creator && { creator }), ...(block && { block }), confirmed };
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

/** Maximum topics of one block that a page waits for. */
export const MAX_TOPICS = 40;

/** Characters of one condition, and of all of a block, that a page waits for; others count as any record of their app. */
export const MAX_CONDITION = 400;
export const MAX_CONDITIONS = 2_000;

/** What a run has read, as topics. Its size is bounded: a block that has read very much waits for any record of its apps. */
export class LiveReads {
  private readonly read = new Set<Topic>();
  private readonly searches: { key: AppKey; condition: ReadCondition }[] = [];

  readonly observer: UnitObserver = {
    onRead: (key, id, creator, condition) => {
      if (condition && isNarrow(condition)) this.search(key, condition);
      else if (creator !== undefined) this.add(topics.own(key, creator), topics.creators(key));
      else if (id === undefined) this.read.add(topics.any(key));
      else if (this.read.size > 2 * MAX_TOPICS) this.read.add(topics.any(key));
      else this.add(topics.record(key, id), topics.bulk(key));
    },
  };

  /**
   * The topics a block waits for.
   * @returns `any`: fewer topics with shorter names, of which one changes with each of them
   */
  list(): { live: Topic[]; any: Topic[] } {
    const matches = [...new Set(this.searches.map(({ key, condition }) => matchTopic(key, condition)))];
    const isLong = (length: number, max: number) => length > max;
    const total = matches.reduce((sum, { length }) => sum + length, 0);
    const exact = matches.flatMap((one) =>
      isLong(one.length, MAX_CONDITION) || isLong(total, MAX_CONDITIONS) ? wider(one) : [one],
    );
    const all = without([...new Set([...this.read, ...exact])]);
    const any = without([...new Set(all.flatMap(wider))]);
    return { live: all.length > MAX_TOPICS ? any : all, any };
  }

  private search(key: AppKey, condition: ReadCondition): void {
    if (this.searches.length < MAX_TOPICS) this.searches.push({ key, condition });
    else this.add(...widerTopics({ key, creator: condition.creator }));
  }

  private add(...added: Topic[]): void {
    for (const topic of added) this.read.add(topic);
  }
}

/** Whether a search depends on fewer records than `any` or `own` says; an identity without records has none to wait for. */
const isNarrow = ({ query = '', block, creator, isCount }: ReadCondition): boolean =>
  creator !== '' && (isCount || block !== undefined || query.trim() !== '');

/** The topics of each change that may concern a topic. */
function wider(topic: Topic): Topic[] {
  const condition = conditionOf(topic);
  if (condition) return widerTopics(condition);
  const [kind, site, app] = JSON.parse(topic) as [string, string, string];
  return kind === 'own' || kind === 'creators' ? [topic] : [topics.any({ site, app })];
}

/** The same without topics of apps of which any record counts. */
function without(all: readonly Topic[]): Topic[] {
  const whole = new Set(all.filter((topic) => topic.startsWith('["any"')));
  return all.filter((topic) => {
    const [, site, app] = JSON.parse(topic) as [string, string, string];
    return whole.has(topic) || !whole.has(topics.any({ site, app }));
  });
}
