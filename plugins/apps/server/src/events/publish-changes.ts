import { type Topic, topics } from '../apps';
import type { AppKey, NewRecords, RecordStore } from '../records/types';

/** Records of one transaction, and creators of a bulk change, that are published one by one; more are published together. */
const MAX_RECORDS = 100;

/** Wraps a store so that it publishes its changes after each commit. */
export function publishChanges(store: RecordStore, publish: (changed: Iterable<Topic>) => void): RecordStore {
  const all = (key: AppKey): Topic[] => [topics.any(key), topics.bulk(key), topics.creators(key)];
  return {
    ...store,
    async transact(work, about) {
      let changed = new Changes();
      const result = await store.transact((unit) => {
        // A retry after a collision: the first attempt was rolled back.
        changed = new Changes();
        unit.observe({ onWrite: (key, id, creator) => changed.add(key, id, creator) });
        return work(unit);
      }, about);
      const published = changed.topics();
      if (published.length > 0) publish(published);
      return result;
    },
    async createMany(key, records, options) {
      const creators = new Set<string>();
      const total = await store.createMany(key, watched(records, creators), options);
      const owners =
        creators.size > MAX_RECORDS ? [topics.creators(key)] : [...creators].map((one) => topics.own(key, one));
      publish([topics.any(key), topics.bulk(key), ...owners]);
      return total;
    },
    async forgetDeleted(records) {
      await store.forgetDeleted(records);
      publish(new Set(records.flatMap(({ key }) => all(key))));
    },
    async clear(key) {
      await store.clear(key);
      publish(all(key));
    },
  };
}

/** What one attempt at a transaction has changed. */
class Changes {
  private readonly records = new Map<Topic, AppKey>();
  private readonly owners = new Set<Topic>();

  add(key: AppKey, id: string, creator: string | null): void {
    this.records.set(topics.record(key, id), key);
    if (creator) this.owners.add(topics.own(key, creator));
  }

  topics(): Topic[] {
    const apps = [...this.records.values()];
    const isBulk = this.records.size > MAX_RECORDS;
    return [
      ...new Set([...apps.map(topics.any), ...(isBulk ? apps.map(topics.bulk) : this.records.keys()), ...this.owners]),
    ];
  }
}

/** The same records; collects their creators, up to one more than are published one by one. */
function watched(records: NewRecords, creators: Set<string>): NewRecords {
  const note = ({ creator }: { creator: string | null }) => {
    if (creator && creators.size <= MAX_RECORDS) creators.add(creator);
  };
  if ('read' in records) {
    return {
      async *read() {
        for await (const batch of records.read()) {
          batch.forEach(note);
          yield batch;
        }
      },
    };
  }
  return (async function* () {
    for await (const record of records) {
      note(record);
      yield record;
    }
  })();
}
