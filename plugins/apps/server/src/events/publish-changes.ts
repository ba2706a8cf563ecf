import { type Topic, topics } from '../apps';
import type { AppKey, RecordStore } from '../records/types';

/** Records of one transaction that are published one by one; more are published as one bulk change. */
const MAX_RECORDS = 100;

/** Wraps a store so that it publishes its changes after each commit. */
export function publishChanges(store: RecordStore, publish: (changed: Iterable<Topic>) => void): RecordStore {
  const publishBulk = (key: AppKey) => publish([topics.any(key), topics.bulk(key)]);
  return {
    ...store,
    async transact(work, about) {
      let changed = new Map<Topic, AppKey>();
      const result = await store.transact((unit) => {
        // A retry after a collision: the first attempt was rolled back.
        changed = new Map();
        unit.observe({ onWrite: (key, id) => changed.set(topics.record(key, id), key) });
        return work(unit);
      }, about);
      if (changed.size > 0) publish(topicsOf(changed));
      return result;
    },
    async createMany(key, records) {
      const total = await store.createMany(key, records);
      publishBulk(key);
      return total;
    },
    async forgetDeleted(records) {
      await store.forgetDeleted(records);
      publish(new Set(records.flatMap(({ key }) => [topics.any(key), topics.bulk(key)])));
    },
    async clear(key) {
      await store.clear(key);
      publishBulk(key);
    },
  };
}

function topicsOf(changed: ReadonlyMap<Topic, AppKey>): Topic[] {
  const apps = [...changed.values()];
  const records = changed.size > MAX_RECORDS ? apps.map(topics.bulk) : changed.keys();
  return [...new Set([...apps.map(topics.any), ...records])];
}
