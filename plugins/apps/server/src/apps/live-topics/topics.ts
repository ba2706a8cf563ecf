import type { AppKey } from '../../records/types';

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
