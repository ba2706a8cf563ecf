import { extname } from 'node:path';
import type { Items, Json } from '../../../shared/json';
import type { App } from '../apps/types';
import type { Row } from '../database';
import { eachFile } from '../files';
import type { Links } from '../links/types';
import type { AppKey } from '../records/types';
import { forget } from './forget';
import { definedBlock, type Forgetting, ofPerson } from './owned';
import { anyOf, RECORDS, type RowCondition, type TableStatements, timeOf } from './scan';
import type { LoadKeyed, Person, PersonServices, PersonSource, Stored } from './types';

interface RecordTools {
  tables: TableStatements;
  loadApp: LoadKeyed;
  links: Pick<Links, 'ofRecord'>;
  services(): PersonServices;
}

/** Rows whose texts may have the address of a person, or whose columns name their account: by its identity, or by the user's name. */
export function aboutPerson(
  { search, user }: Person,
  texts: readonly string[],
  identities: readonly string[],
  names: readonly string[] = [],
): RowCondition {
  return anyOf([
    ...(search ? texts.map((column) => ({ text: `lower(t.${column}) like ?`, values: [search.pattern] })) : []),
    ...(user ? identities.map((column) => ({ text: `t.${column} = ?`, values: [user.identity] })) : []),
    ...(user ? names.map((column) => ({ text: `t.${column} = ?`, values: [nameOf(user)] })) : []),
  ]);
}

/** A user as the audit log names them. */
export const nameOf = ({ name }: { name: string }): string => `user:${name}`;

/** Records of a person: those with the address in an element with `person`, and those that the account has made. */
export function recordSource({ tables, loadApp, links, services }: RecordTools): PersonSource {
  const storedOf = async (person: Person, row: Row): Promise<Stored | null> => {
    const key = { site: String(row.site), app: String(row.app) };
    const record = { items: JSON.parse(String(row.items)) as Items, creator: (row.creator as string | null) ?? null };
    const app = await loadApp(key);
    const forgetting = foundOf(app, person, record);
    if (!forgetting) return null;
    const id = String(row.identifier);
    const contents = filesOf(record.items);
    const held = (await links.ofRecord({ key, purpose: 'mine', id })).map(({ madeAt }) => timeOf(madeAt));
    return {
      kind: 'records',
      ...key,
      id,
      at: timeOf(row.created_at),
      row: Number(row.id),
      does: forgetting.does,
      items: forgetting.does === 'delete' ? [] : forgetting.items,
      data: { id, creator: record.creator, items: record.items, ...(held.length > 0 && { links: held }) },
      labels: labelsOf(app, record.items),
      files: contents.map(({ path }) => path),
      contents,
    };
  };

  return {
    async *find(person) {
      for await (const rows of tables.scan(RECORDS, aboutPerson(person, ['items'], ['creator']))) {
        const found: Stored[] = [];
        for (const row of rows) {
          const stored = await storedOf(person, row);
          if (stored) found.push(stored);
        }
        if (found.length > 0) yield found;
      }
    },
    erase: (person, { site, app, id, row }) =>
      forget(services(), { key: keyOf(site, app), id, seq: row }, (record, of) => ofPerson(of, person, record)),
  };
}

const keyOf = (site: string | null, app: string | null): AppKey => ({ site: site ?? '', app: app ?? '' });

/** A record of a broken block is shown; erasing it says what is wrong. */
function foundOf(app: App | null, person: Person, record: { items: Items; creator: string | null }): Forgetting | null {
  try {
    definedBlock(app, record.items);
  } catch {
    return ofPerson(null, person, record);
  }
  return ofPerson(app, person, record);
}

function labelsOf(app: App | null, { block: id }: Items): Record<string, string> {
  const elements = typeof id === 'string' ? app?.blocks.get(id)?.definition.elements : undefined;
  return Object.fromEntries([...(elements?.values() ?? [])].map(({ name, label = name }) => [name, label]));
}

/** Characters of a file's name that every system takes. */
const OTHERS = /[^\p{L}\p{N}._ -]+/gu;

/** The path of a file in an export. @param name as its sender has called it */
export function exportPath(documentId: string, name: string): string {
  const ending = extname(name).replace(OTHERS, '').slice(0, 20);
  const stem = name
    .slice(0, name.length - extname(name).length)
    .replace(OTHERS, '_')
    .slice(0, 80);
  return `files/${documentId.replace(/[^\w-]/g, '_').slice(0, 60)}/${stem.replace(/^\.+/, '') || 'file'}${ending}`;
}

function filesOf(items: Json): Stored['contents'] {
  const found = new Map<string, string>();
  eachFile(items, ({ documentId, name }) => found.set(documentId, exportPath(documentId, name)));
  return [...found].map(([documentId, path]) => ({ documentId, path }));
}
