import { type Topic, topics } from '../apps';
import type { AppKey, RecordStore, UnitOfWork } from '../records/types';

/** Records of one transaction that are told one by one; of more, only that there were many. */
const MAX_RECORDS = 100;

/** The same store, which tells what it has changed as soon as that is committed. */
export function announcing(store: RecordStore, publish: (changed: Iterable<Topic>) => void): RecordStore {
  const many = (key: AppKey) => publish([topics.any(key), topics.bulk(key)]);
  return {
    ...store,
    async transact(work, about) {
      let changed = new Map<Topic, AppKey>();
      const result = await store.transact((unit) => {
        // Run again after a collision, nothing of the first attempt has happened.
        changed = new Map();
        return work(noticing(unit, changed));
      }, about);
      if (changed.size > 0) publish(topicsOf(changed));
      return result;
    },
    async createMany(key, indexes, records) {
      const total = await store.createMany(key, indexes, records);
      many(key);
      return total;
    },
    async forgetDeleted(records) {
      await store.forgetDeleted(records);
      publish(new Set(records.flatMap(({ key }) => [topics.any(key), topics.bulk(key)])));
    },
    async clear(key) {
      await store.clear(key);
      many(key);
    },
  };
}

function topicsOf(changed: ReadonlyMap<Topic, AppKey>): Topic[] {
  const apps = [...changed.values()];
  const records = changed.size > MAX_RECORDS ? apps.map(topics.bulk) : changed.keys();
  return [...new Set([...apps.map(topics.any), ...records])];
}

/** The same unit of work, which notices what it changes. */
function noticing(unit: UnitOfWork, changed: Map<Topic, AppKey>): UnitOfWork {
  const notice = (key: AppKey, id: string) => changed.set(topics.record(key, id), key);
  const noticed: Partial<UnitOfWork> = {
    async create(key, indexes, record) {
      const created = await unit.create(key, indexes, record);
      notice(key, created.id);
      return created;
    },
    async update(key, indexes, id, change) {
      notice(key, id);
      return unit.update(key, indexes, id, change);
    },
    async rename(key, from, to, whenTaken) {
      const renamed = await unit.rename(key, from, to, whenTaken);
      notice(key, renamed.id);
      return renamed;
    },
    async delete(key, id) {
      notice(key, id);
      return unit.delete(key, id);
    },
  };
  return new Proxy(unit, {
    get(target, name) {
      if (Object.hasOwn(noticed, name)) return noticed[name as keyof UnitOfWork];
      const method: unknown = Reflect.get(target, name, target);
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
}
