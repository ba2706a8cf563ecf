import { isDeepStrictEqual } from 'node:util';
import type { Items } from '../../../../../shared/json';
import { grouped } from '../../../common/collections';
import { AppsError, type ErrorName, isAppsError, notFound } from '../../../common/errors';
import { documentIdsIn, withoutOthers } from '../../../files';
import { SERVER_ITEMS } from '../../../indexes';
import { type HistoryVersion, itemsBefore } from '../../../records';
import type { StoredRecord } from '../../../records/types';
import { settlePlaces } from '../../run/places/settle';
import { keyOf } from '../../run/run';
import type { Run } from '../../run/types';
import type { Block } from '../../types';
import { withSession } from '../block-session';
import { serverItems } from './checked-items';
import {
  blockOf,
  changeRecord,
  createOfBlock,
  createWithoutBlock,
  requireRight,
  storedBlock,
} from './record-operations';
import { deleteRecord } from './save-record';

/** Versions of one requester that are undone together. */
export const MAX_UNDONE = 1_000;

/** NotFoundError where the app keeps no history; 401 or 403 for those who may not change all records. */
export function requireHistory(run: Pick<Run, 'app' | 'rights' | 'visit'>): void {
  requireRight(run, run.rights.edit(null), 'see the history of records');
  if (!run.app.settings.history)
    throw notFound(`The app "${run.app.id}" keeps no history: see "history" in settings.yaml`);
}

/**
 * Makes a record what it was after a change; after a deletion, what it was before that. The rules of its block hold as for any change:
 * items that the server sets are its own again. A record that is gone is created, with its id and creator; files that are gone stay so.
 * NotFoundError for a version that is none of the record's.
 * @returns the record, and whether it was created
 */
export async function restoreVersion(
  run: Run,
  id: string,
  version: number,
): Promise<{ record: StoredRecord; created: boolean }> {
  requireHistory(run);
  const key = keyOf(run);
  const found = await run.unit.alongside(() => run.services.history.find(key, id, version));
  if (!found) throw notFound(`The record "${id}" has no version ${version}`);
  const current = await run.unit.get(key, id);
  const items = await withItsFiles(run, found.items ?? itemsBefore(found) ?? {});
  const record = current ? await changeBack(run, current, items) : await createAgain(run, found, items);
  return { record, created: current === null };
}

/** Items without the files that were deleted with their record, or after another one took their place: nothing brings them back. */
async function withItsFiles(run: Run, items: Items): Promise<Items> {
  const named = documentIdsIn(items);
  if (named.length === 0) return items;
  const known = await run.unit.alongside(() => run.services.files.known(keyOf(run), named));
  return withoutOthers(items, new Set(known.map(({ documentId }) => documentId))) as Items;
}

/** Names of items that only the server sets in records of a block. */
const ownNames = (block: Block | null): ReadonlySet<string> =>
  new Set([...SERVER_ITEMS, ...(block ? serverItems(block) : [])]);

async function changeBack(run: Run, record: StoredRecord, items: Items): Promise<StoredRecord> {
  const own = ownNames(blockOfItems(run, items));
  const set = Object.entries(items).filter(
    ([name, value]) => !own.has(name) && !isDeepStrictEqual(record.items[name], value),
  );
  const unset = Object.keys(record.items).filter((name) => !own.has(name) && !Object.hasOwn(items, name));
  if (set.length + unset.length === 0) return record;
  return changeRecord(run, record, { set: Object.fromEntries(set), unset }, Object.fromEntries(set));
}

async function createAgain(
  run: Run,
  { id, creator }: Pick<HistoryVersion, 'id' | 'creator'>,
  items: Items,
): Promise<StoredRecord> {
  const block = blockOf(run, items);
  const own = ownNames(block);
  const sent = Object.fromEntries(Object.entries(items).filter(([name]) => !own.has(name)));
  run.places.restored.add(id);
  if (block?.definition.states) await keepState(run, id, sent);
  const fresh = { id, whenTaken: 'refuse' as const, items: sent, creator };
  if (!block) return createWithoutBlock(run, fresh);
  return withSession(run, block, null, (session) => createOfBlock(run, block, session, fresh));
}

/** The state that the record had when it was deleted: an earlier one would be a way around those of the block. */
async function keepState(run: Run, id: string, items: Items): Promise<void> {
  const { versions } = await run.unit.alongside(() => run.services.history.page(keyOf(run), { id, limit: 1 }));
  const state = versions[0]?.earlier?.set.state;
  if (state === undefined) delete items.state;
  else items.state = state;
}

/** The block that the items name; null for one that the theme no longer has. */
const blockOfItems = (run: Run, { block: id }: Items): Block | null =>
  (typeof id === 'string' ? run.app.blocks.get(id) : undefined) ?? null;

/** A change of a record by another requester, after one that is to be undone. */
export type LaterChange = Pick<HistoryVersion, 'version' | 'at' | 'by' | 'through'> & { items: string[] };

/** What undoing does with one record. */
export interface UndoneRecord {
  id: string;
  /** `kept`: others have changed what would be undone. */
  does: 'deleted' | 'created' | 'changed' | 'kept';
  /** Items that get the values from before. */
  items: string[];
  /** What others have built on it since, oldest first: these items stay. */
  later: LaterChange[];
}

/** What one requester has done since a time, and what undoes it. */
export interface Undo {
  /** The newest version that was looked at; null where there is none. */
  version: number | null;
  records: UndoneRecord[];
}

/** `Requester.identity`, '' for anonymous, and milliseconds since 1970. */
interface Undoing {
  requester: string;
  since: number;
}

/** One record with the newest version of the requester, and what it is to be. */
interface Done {
  id: string;
  version: number;
  creator: string | null;
  undone: UndoneRecord;
  /** All its items, where it is changed or created again. */
  items: Items;
}

/** What `undoAll` would do. BadRequestError where there is more than can be undone together. */
export async function undoneBy(run: Run, undoing: Undoing): Promise<Undo> {
  return shownPlan(await planOf(run, undoing));
}

const shownPlan = (done: readonly Done[]): Undo => ({
  version: done.length > 0 ? Math.max(...done.map(({ version }) => version)) : null,
  records: done.map(({ undone }) => undone),
});

/**
 * Undoes what a requester has done to records of the app since a time: all or nothing, each by the rules of its block. What others have
 * changed since then stays. The newest change is undone first, so that a place or a unique value is free again before an older record
 * takes it back. The errors name the record.
 * @param version the newest version of what was shown: ConflictError where the requester has gone on since
 */
export async function undoAll(run: Run, undoing: Undoing, version: number | null): Promise<Undo> {
  const done = await planOf(run, undoing);
  const plan = shownPlan(done);
  if (plan.version !== version)
    throw new AppsError('ConflictError', 'This requester has changed more records since this was shown');
  const newestFirst = [...done].sort((a, b) => b.version - a.version);
  for (const one of newestFirst) await named(one.id, () => undoOne(run, one));
  return plan;
}

async function named(id: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isAppsError(error) || error.status >= 500) throw error;
    const { name, message, details } = error;
    throw new AppsError(name as ErrorName, message, {
      details: { ...details, record: id },
      subject: `Record "${id}"`,
      cause: error,
    });
  }
}

async function undoOne(run: Run, { id, creator, undone, items }: Done): Promise<void> {
  const record = await run.unit.get(keyOf(run), id);
  if (undone.does === 'deleted' && record) await deleteRecord(run, storedBlock(run, record), record);
  else if (undone.does === 'created') await createAgain(run, { id, creator }, await withItsFiles(run, items));
  else if (undone.does === 'changed' && record) await changeBack(run, record, await withItsFiles(run, items));
  await settlePlaces(run);
}

async function planOf(run: Run, undoing: Undoing): Promise<Done[]> {
  requireHistory(run);
  const key = keyOf(run);
  const { history } = run.services;
  const own = await run.unit.alongside(() => allOf(run, undoing));
  const byRecord = grouped(own, ({ id }) => id);
  const oldest = own[0]?.version ?? 0;
  const mine = new Set(own.map(({ version }) => version));
  // Before the changes of others: one that is in neither fails the check of the record's version at the commit.
  const records = new Map<string, StoredRecord | null>();
  for (const id of byRecord.keys()) records.set(id, await run.unit.get(key, id));
  const later = await run.unit.alongside(() => history.later(key, [...byRecord.keys()], oldest));
  const others = grouped(
    later.filter(({ version }) => !mine.has(version)),
    ({ id }) => id,
  );
  const plan: Done[] = [];
  for (const [id, versions] of byRecord) {
    const first = versions[0]?.version ?? 0;
    const since = (others.get(id) ?? []).filter(({ version }) => version > first);
    const done = planOfRecord(versions, since, records.get(id) ?? null);
    if (done) plan.push(done);
  }
  return plan;
}

type Other = Awaited<ReturnType<Run['services']['history']['later']>>[number];

/**
 * What becomes of one record; null where nothing is left of what the requester has done.
 * @param own the versions of the requester, oldest first
 * @param others what others have changed since the first of them
 */
function planOfRecord(
  own: readonly HistoryVersion[],
  others: readonly Other[],
  record: StoredRecord | null,
): Done | null {
  const [first, last] = [own[0], own.at(-1)];
  if (!first || !last) return null;
  const later = others.map(({ version, at, by, through, earlier }) => ({
    version,
    at,
    by,
    through,
    items: namesIn(earlier),
  }));
  const done = (does: UndoneRecord['does'], names: string[] = [], items: Items = {}): Done => ({
    id: first.id,
    version: last.version,
    creator: last.creator,
    items,
    undone: { id: first.id, does, items: names, later },
  });
  const isNew = first.earlier === null;
  const isDeleted = record === null && last.items === null && !later.some(({ version }) => version > last.version);
  if (isNew && later.length === 0) return record ? done('deleted') : null;
  if (isNew || (!record && !isDeleted)) return done('kept');
  const items: Items = { ...(record ? record.items : itemsBefore(last)) };
  const changed = new Set(own.filter((one) => one.items !== null).flatMap(({ earlier }) => namesIn(earlier)));
  const names = [...changed].filter((name) => setBack(items, name, own, others));
  if (!record) return done('created', names, items);
  return names.length > 0 ? done('changed', names, items) : done('kept');
}

/** Gives an item the value from before the changes of the requester that no one else has changed since; false without such changes. */
function setBack(items: Items, name: string, own: readonly HistoryVersion[], others: readonly Other[]): boolean {
  const isAbout = ({ earlier }: Pick<HistoryVersion, 'earlier'>) => namesIn(earlier).includes(name);
  // A new record of another requester under the same id has nothing of the deleted one.
  const replaces = (other: Other) => other.earlier === null || isAbout(other);
  const after = Math.max(0, ...others.filter(replaces).map(({ version }) => version));
  const change = own.find((one) => one.version > after && one.items !== null && isAbout(one));
  if (!change) return false;
  const { set = {} } = change.earlier ?? {};
  if (Object.hasOwn(set, name)) items[name] = set[name] as Items[string];
  else delete items[name];
  return true;
}

/** The versions of a requester, oldest first. */
async function allOf(run: Run, which: Undoing): Promise<HistoryVersion[]> {
  const found: HistoryVersion[] = [];
  for (let before: number | undefined; ; before = found.at(-1)?.version) {
    const { versions, isLast } = await run.services.history.page(keyOf(run), { ...which, before, limit: 100 });
    found.push(...versions);
    if (found.length > MAX_UNDONE)
      throw new AppsError('BadRequestError', `There are more than ${MAX_UNDONE} changes since then: name a later time`);
    if (isLast) return found.reverse();
  }
}

const namesIn = (earlier: HistoryVersion['earlier']): string[] =>
  earlier ? [...Object.keys(earlier.set), ...earlier.added] : [];
