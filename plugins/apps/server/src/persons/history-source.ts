import type { Items, Json } from '../../../shared/json';
import { personElements } from '../apps';
import type { App } from '../apps/types';
import { marks, type Row } from '../database';
import { aboutPerson } from './record-source';
import { type TableStatements, timeOf } from './scan';
import type { LoadKeyed, Person, PersonSource, Stored } from './types';

const TABLE = 'apps_history';

/**
 * Versions of records in the history that have the address, or that the account has made: those of deleted records too. Versions of
 * records that are erased go with these.
 */
export function historySource({ tables, loadApp }: { tables: TableStatements; loadApp: LoadKeyed }): PersonSource {
  const storedOf = async (person: Person, row: Row): Promise<Stored | null> => {
    const key = { site: String(row.site), app: String(row.app) };
    const items = parsed(row.items);
    const earlier = parsed(row.earlier) as { set?: Items } | null;
    const { user } = person;
    const app = await loadApp(key);
    const isOwn = user !== null && row.creator === user.identity;
    const isAbout = isOwn || [items, earlier?.set ?? null].some((one) => one && hasPerson(app, person, one as Items));
    if (!isAbout && (user === null || row.requester !== user.identity)) return null;
    const about = { items: items as Json, earlier: earlier as Json, through: String(row.through) };
    return {
      kind: 'history',
      ...key,
      id: String(row.identifier),
      at: timeOf(row.at),
      row: Number(row.id),
      does: isAbout ? 'delete' : 'name',
      items: [],
      labels: {},
      files: [],
      contents: [],
      data: { version: Number(row.id), by: String(row.requester), ...(isAbout ? about : {}) },
    };
  };

  return {
    async *find(person) {
      const about = aboutPerson(person, ['items', 'earlier'], ['creator', 'requester']);
      for await (const rows of tables.scan(TABLE, about)) {
        const found: Stored[] = [];
        for (const row of rows) {
          const stored = await storedOf(person, row);
          if (stored) found.push(stored);
        }
        if (found.length > 0) yield found;
      }
    },
    async erase(_person, { row, does }) {
      if (does === 'delete') return (await tables.delete(TABLE, [row])) > 0;
      // That another record was changed stays, without by whom.
      return tables.write(
        async (sql) =>
          (await sql.change(`update ${TABLE} set requester = '' where id in (${marks([row])})`, [row])) > 0,
      );
    },
  };
}

const parsed = (text: unknown): Json => (text === null || text === undefined ? null : JSON.parse(String(text)));

/** Whether an item of an element with `person` has the address; of a block that is not known, any item. */
function hasPerson(app: App | null, { search }: Person, items: Items): boolean {
  if (!search) return false;
  const { block: id } = items;
  const block = typeof id === 'string' ? app?.blocks.get(id) : undefined;
  // What a change has replaced names no block, unless that has changed too.
  const blocks = block ? [block] : [...(app?.blocks.values() ?? [])];
  const elements = blocks.filter(({ error }) => error === null).map(({ definition }) => personElements(definition));
  const names = elements.flatMap(({ own, groups }) => [...own, ...groups.keys()]);
  const values =
    names.length > 0 ? names.map((name) => (Object.hasOwn(items, name) ? items[name] : null)) : Object.values(items);
  return values.some((value) => search.isInValue(value ?? null));
}
