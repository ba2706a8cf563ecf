import { extname } from 'node:path';
import { type Items, isItems, type Json } from '../../../shared/json';
import { callVisit, personElements, withRun } from '../apps';
import type { App, Block } from '../apps/types';
import type { Row } from '../database';
import { documentIdsIn, eachFile } from '../files';
import { isUnconfirmed, MAKER } from '../indexes';
import type { Links } from '../links/types';
import { changedBy, type Provenance } from '../records';
import type { AppKey, StoredRecord, UnitOfWork } from '../records/types';
import type { Site } from '../sites/types';
import { anyOf, RECORDS, type RowCondition, type TableStatements, timeOf } from './scan';
import type { LoadKeyed, Person, PersonServices, PersonSource, Stored } from './types';

/** The record that is to be forgotten: one of the same id that was made since is another. */
interface ForgottenRecord {
  key: AppKey;
  id: string;
  seq: number;
}

/**
 * Takes away a record, or items of it, with all versions in the history, its links and its files, in one transaction. No logic runs: it
 * could keep what goes. Places, references and webhooks follow as for any other change.
 * @param plan what goes, from the record and the app of that moment: another change may have come before; null: nothing
 * @returns whether something went
 */
export async function forget(
  services: PersonServices,
  { key, id, seq }: ForgottenRecord,
  plan: (record: StoredRecord, app: App | null) => Forgetting | null,
): Promise<boolean> {
  const site = await services.sites.site(key.site);
  const app = site ? await services.loadApp(site, key.app) : null;
  const work = async (unit: UnitOfWork): Promise<StoredRecord | null> => {
    const record = await unit.get(key, id);
    if (record?.seq !== seq) return null;
    const forgetting = plan(record, app);
    if (!forgetting) return null;
    await changedBy(forgotten, () => takeAway(unit, key, record, forgetting));
    unit.atCommit(services.history.forget(key, id));
    // Who holds the link of an entry's record is not the person of the entry.
    if (forgetting.does !== 'change') unit.atCommit(services.links.forget(key, id));
    return record;
  };
  if (site && app) return (await inRun(services, site, app, id, work)) !== null;
  // The theme no longer has the app: its records have no places, and its files no elements.
  const gone = await services.store.transact(work, { key, id });
  if (gone) await services.files.release(key, documentIdsIn(gone.items));
  return gone !== null;
}

/** Of the record alone: another one that moves up from a waiting list is changed as usual. */
const forgotten: Provenance = { requester: () => '', through: 'job', forgets: true };

async function takeAway(unit: UnitOfWork, key: AppKey, { id }: StoredRecord, forgetting: Forgetting): Promise<void> {
  if (forgetting.does === 'delete') await unit.delete(key, id);
  else if (forgetting.does === 'change') await unit.update(key, id, { set: forgetting.set });
  else await unit.update(key, id, { unset: forgetting.items, creator: null });
}

/** Runs work on a record of an app as that of no requester, who may do everything. */
async function inRun<T>(
  services: PersonServices,
  site: Site,
  app: App,
  recordId: string,
  work: (unit: UnitOfWork) => Promise<T>,
): Promise<T> {
  const requester = { ...(await services.requesters.anonymous()), isManager: true };
  const content = await services.sites.content.resolve(site, '', requester);
  if (!content) throw new Error(`The site "${site.id}" has no portal`);
  const address = services.sites.urls.app(site, app.id);
  const call = { site, content, requester, address, params: {} };
  const visit = callVisit(services, { ...call, through: 'job' });
  const { value } = await withRun(services, visit, app, ({ unit }) => work(unit), { recordId });
  return value;
}

/** What goes of a record: all of it, or some items. */
type Forgetting = { does: 'delete' } | { does: 'anonymize' | 'change'; items: string[]; set: Items };

/** The block of a record, with a definition that can be read; null where the theme has no such block. Throws the error of a broken one. */
export function definedBlock(app: App | null, { block: id }: Items): Block | null {
  const block = typeof id === 'string' ? app?.blocks.get(id) : undefined;
  if (block?.error) throw block.error;
  return block ?? null;
}

/**
 * What goes of a record whose time is over, or whose person is erased: by its definition. Null: nothing is left to go. One that was not
 * confirmed goes as a whole: it cannot be confirmed without its address and its link.
 */
export function forgettingOf(
  block: Block | null,
  { items, creator }: Pick<StoredRecord, 'items' | 'creator'>,
): Forgetting | null {
  const names = block?.definition.privacy.anonymize ?? null;
  if (names === null || isUnconfirmed(items)) return { does: 'delete' };
  const there = names.filter((name) => Object.hasOwn(items, name));
  return there.length > 0 || creator !== null ? { does: 'anonymize', items: there, set: {} } : null;
}

/**
 * What goes of a record when a person is erased: of an own one what its definition says; of one that has the address only in entries of
 * a repeated group, these entries. Null: it is not the person's.
 */
function ofPerson(app: App | null, person: Person, record: Pick<StoredRecord, 'items' | 'creator'>): Forgetting | null {
  const { items, creator } = record;
  const block = definedBlock(app, items);
  const isOwner = person.user !== null && creator === person.user.identity;
  if (isOwner || hasAddress(block, person, items)) return forgettingOf(block, record);
  const set = block ? withoutEntries(block, person, items) : {};
  const changed = Object.keys(set);
  return changed.length > 0 ? { does: 'change', items: changed, set } : null;
}

/** Of a block that the theme no longer has, each item may be a person's address. One that waits for its confirmation has its maker's. */
function hasAddress(block: Block | null, { search }: Person, items: Items): boolean {
  if (!search) return false;
  if (!block) return Object.values(items).some(search.isSame);
  return [...personElements(block.definition).own, MAKER].some(
    (name) => Object.hasOwn(items, name) && search.isSame(items[name] ?? null),
  );
}

/** The repeated groups that have entries of the person, without these. */
function withoutEntries({ definition }: Block, { search }: Person, items: Items): Items {
  if (!search) return {};
  const isOwn = (entry: Json, fields: readonly string[]): boolean =>
    isItems(entry) && fields.some((name) => Object.hasOwn(entry, name) && search.isSame(entry[name] ?? null));
  const changed = [...personElements(definition).groups].flatMap(([name, fields]): [string, Json][] => {
    const entries = Object.hasOwn(items, name) ? items[name] : null;
    if (!Array.isArray(entries)) return [];
    const others = entries.filter((entry) => !isOwn(entry, fields));
    return others.length < entries.length ? [[name, others]] : [];
  });
  return Object.fromEntries(changed);
}

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
