import type { AppKey, UnitOfWork } from '../records/types';

/** The view id under which a site's pages wait for changes: no block can have it. */
export const LIVE_VIEW = 'apps.live';

/**
 * What a block has read, or what a transaction has changed: one record; `any` record of an app, as lists and searches
 * depend on all of them; or so many at once (`bulk`) that nobody counts them. Each is a list, as JSON.
 */
export type Topic = string;

export const topics = {
  record: ({ site, app }: AppKey, id: string): Topic => JSON.stringify(['record', site, app, id]),
  any: ({ site, app }: AppKey): Topic => JSON.stringify(['any', site, app]),
  bulk: ({ site, app }: AppKey): Topic => JSON.stringify(['bulk', site, app]),
};

/** Topics of one block that a page waits for, at most. */
const MAX_TOPICS = 40;

/** What a block waits for; one that has read many single records waits for any of their apps. */
export function liveTopics(reads: ReadonlySet<Topic>): Topic[] {
  if (reads.size <= MAX_TOPICS) return [...reads];
  const apps = [...reads].map((topic) => JSON.parse(topic) as [string, string, string]);
  return [...new Set(apps.map(([, site, app]) => topics.any({ site, app })))];
}

/** Changes of records on their way to the pages that show them (contract, section 11; definition key `refresh`). */
export interface Live {
  /** The name under which a browser may wait for a topic: it tells nothing, and cannot be guessed. */
  token(topic: Topic): string;
}

type Note = (reads: Set<Topic>, key: AppKey, id?: unknown) => void;

const everything: Note = (reads, key) => reads.add(topics.any(key));

/** What each reading method of a unit makes a block depend on. */
const notes: Partial<Record<string | symbol, Note>> = {
  get: (reads, key, id) => reads.add(topics.record(key, String(id))).add(topics.bulk(key)),
  page: everything,
  search: everything,
  count: everything,
};

/** The same unit of work, which notes what is read. */
export function noting(unit: UnitOfWork, reads: Set<Topic>): UnitOfWork {
  return new Proxy(unit, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== 'function') return method;
      const note = notes[name];
      return (...args: unknown[]) => {
        note?.(reads, args[0] as AppKey, args[1]);
        return method.apply(target, args);
      };
    },
  });
}
