import type { AppKey, ReadCondition, UnitObserver } from '../../records/types';
import { conditionOf, matchTopic, widerTopics } from './condition';
import { type Topic, topics } from './topics';

/** Maximum topics of one block that a page waits for. */
const MAX_TOPICS = 40;

/** Characters of one condition, and of all of a block, that a page waits for; others count as any record of their app. */
const MAX_CONDITION = 400;
const MAX_CONDITIONS = 2_000;

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
