import type { Items, Records, StoredRecord, User, Who } from '../index';
import type { RecordTools, Row, TestableApp } from './plugin';

/** The records of an app, straight from the store. @param identityOf makes a user, and gives what records keep of them */
export function createRecords(
  tools: RecordTools,
  siteId: string,
  app: TestableApp,
  identityOf: (user: User) => Promise<string>,
): Records {
  const open = async () => {
    const found = await tools.app(siteId, app.id);
    if (!found) throw new Error(`There is no app "${app.id}"`);
    return { ...found, store: tools.store() };
  };
  const shown = ({ id, items }: Row): StoredRecord => ({
    id,
    items: { ...(items as Items), id },
    url: `${app.url}/record/${encodeURIComponent(id).replaceAll('%2F', '/')}`,
  });
  const creatorOf = async (who: Who = 'anonymous') => (who === 'anonymous' ? null : identityOf(who));

  return {
    async create({ id: ownId, ...items }, { id = ownId as string | undefined, creator } = {}) {
      const { store, key } = await open();
      const record = { items, creator: await creatorOf(creator), ...(id !== undefined && { id, whenTaken: 'refuse' }) };
      return shown(await store.transact((unit) => unit.create(key, record)));
    },
    async get(id) {
      const { store, key } = await open();
      const found = await store.get(key, id);
      return found && shown(found);
    },
    async search(query, { sort_index: sortIndex, ...options } = {}) {
      const { store, key, indexes } = await open();
      const wanted = { ...options, ...(query && { query }), ...(sortIndex !== undefined && { sortIndex }) };
      return (await store.search(key, indexes, wanted)).records.map(shown);
    },
    async count(query, names) {
      const { store, key, indexes } = await open();
      return store.count(key, indexes, query || undefined, names);
    },
    async clear() {
      const { store, key, indexes } = await open();
      // Clearing also drops the indexes, and the next search would build them.
      if ((await store.count(key, indexes)) > 0) await store.clear(key);
    },
  };
}
