import type { AppKey, UnitObserver } from '../records/types';

/** The view id at which a site's pages wait for changes; reserved, no block can have it. */
export const LIVE_VIEW = 'apps.live';

/**
 * What a block has read, or a transaction has changed: one record; `any` record of an app, because lists and searches
 * depend on all of them; records that one creator has made (`own`), on which a list of own records depends; or, in a bulk
 * change, records that are not listed (`bulk`) and whose creators are not (`creators`). Each is a list, as JSON.
 */
export type Topic = string;

export const topics = {
  record: ({ site, app }: AppKey, id: string): Topic => JSON.stringify(['record', site, app, id]),
  any: ({ site, app }: AppKey): Topic => JSON.stringify(['any', site, app]),
  own: ({ site, app }: AppKey, creator: string): Topic => JSON.stringify(['own', site, app, creator]),
  bulk: ({ site, app }: AppKey): Topic => JSON.stringify(['bulk', site, app]),
  creators: ({ site, app }: AppKey): Topic => JSON.stringify(['creators', site, app]),
};

/** Maximum topics of one block that a page waits for. */
const MAX_TOPICS = 40;

/** The topics a block waits for; a block that has read many records waits for any record of their apps. */
export function liveTopics(reads: ReadonlySet<Topic>): Topic[] {
  if (reads.size <= MAX_TOPICS) return [...reads];
  const apps = [...reads].map((topic) => JSON.parse(topic) as [string, string, string]);
  return [...new Set(apps.map(([, site, app]) => topics.any({ site, app })))];
}

/** Publishes changes of records to the pages that show them (docs/reference/embedding.md#live-and-shared-blocks). */
export interface Live {
  /** The opaque, unguessable name by which a browser subscribes to a topic. */
  token(topic: Topic): string;
}

/** Collects the topics of what is read: a record, any record of an app, or any that one creator has made. */
export function readsInto(reads: Set<Topic>): UnitObserver {
  return {
    onRead(key, id, creator) {
      if (creator !== undefined) reads.add(topics.own(key, creator)).add(topics.creators(key));
      else if (id === undefined) reads.add(topics.any(key));
      else reads.add(topics.record(key, id)).add(topics.bulk(key));
    },
  };
}
