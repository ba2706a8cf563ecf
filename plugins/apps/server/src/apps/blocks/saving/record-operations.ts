import { type Items, isItems, type Json } from '../../../../../shared/json';
import { seesRecords } from '../../../auth';
import { AppsError, methodNotAllowed, missing, notFound } from '../../../common/errors';
import { applyChange } from '../../../records';
import type { NewRecord, RecordChange, StoredRecord } from '../../../records/types';
import { builtInActions, roleOf } from '../../elements';
import { visibleIn } from '../../run/element-data';
import { leadsTo, mayMoveRecord } from '../../run/places/record-states';
import { requirePlace } from '../../run/places/settle';
import { keyOf } from '../../run/run';
import type { Run } from '../../run/types';
import { makerOf, refusal, requireBlock } from '../../run/visits';
import type { Block } from '../../types';
import { type BlockSession, withSession } from '../block-session';
import { beforeElements } from '../run-block';
import { checkedItems, sentNames, withoutNames } from './checked-items';
import { sendReceipt } from './notify';
import { deleteRecord, saveInSession } from './save-record';

/** Whether a record meets the `If-Match` header; undefined without one. */
export type VersionTest = ((record: StoredRecord) => boolean) | undefined;

/** Throws 401 or 403 unless `granted`. */
export function requireRight(run: { visit: Pick<Run['visit'], 'requester'> }, granted: boolean, what: string): void {
  if (!granted) throw refusal(run.visit.requester, what);
}

/**
 * Creates a record (operations 5 and 7). An `id` among the items is its id, unless `pathId` gives one;
 * ConflictError if the id exists. An item `block` names the block whose rules the record then passes
 * (docs/reference/json-interface.md#the-block-of-a-record).
 */
export async function createRecord(run: Run, items: Items, pathId?: string): Promise<StoredRecord> {
  requireRight(run, run.rights.create, 'add records');
  const block = blockOf(run, items);
  const fresh = newRecord(run, items, pathId ?? idOf(items));
  if (!block) return createWithoutBlock(run, fresh);
  const record = await withSession(run, block, null, (session) =>
    createOfBlock(run, block, session, fresh, { issuesLink: true }),
  );
  await sendReceipt(run, block, record);
  return record;
}

/** A record that a client makes, in the name of the requester. */
export function newRecord(run: Pick<Run, 'visit' | 'app'>, items: Items, id = idOf(items)): NewRecord {
  const creator = makerOf(run);
  return { items, creator, ...(id !== undefined && { id, whenTaken: 'refuse' as const }) };
}

/** Creates a record of a client that names no block; a FormRefusal in a strict app. */
export async function createWithoutBlock(run: Run, fresh: NewRecord): Promise<StoredRecord> {
  await sentNames(run, null, [], null);
  return run.unit.create(keyOf(run), fresh);
}

/** Creates a record of a client that names a block, in an open session of it. @param options.issuesLink as of `saveInSession` */
export async function createOfBlock(
  run: Run,
  block: Block,
  session: BlockSession,
  fresh: NewRecord,
  { issuesLink = false } = {},
): Promise<StoredRecord> {
  await requirePlace(run, block);
  const left = await sentNames(run, block, Object.keys(fresh.items), null);
  const sent = withoutNames(fresh.items, left);
  const set = await checkedItems(run, block, session, {
    record: null,
    items: sent,
    changed: new Set(Object.keys(sent)),
    creation: true,
    sender: 'client',
    body: fresh.items,
  });
  const record = await run.unit.create(keyOf(run), { ...fresh, items: set });
  const options = { creation: true, choosesId: fresh.id === undefined, issuesLink };
  return (await saveInSession(run, block, session, record, options)).record;
}

/** Merges items into a record (operation 10); `$inc` adds. An `id` of another record: BadRequestError. */
export async function updateRecord(run: Run, id: string, body: Items, matches: VersionTest): Promise<StoredRecord> {
  const record = (await movable(run, id, body)) ?? (await editable(run, id));
  requireVersion(record, matches);
  return changeRecord(run, record, readChange(id, body), body);
}

const editable = (run: Run, id: string): Promise<StoredRecord> =>
  permittedRecord(run, id, (creator) => run.rights.edit(creator), 'change this record');

/** The record where only its state is changed, by one whom `by` of the state names: that is no right to other items. */
export async function movable(run: Run, id: string, body: Items): Promise<StoredRecord | null> {
  if (Object.keys(body).some((name) => name !== 'state' && name !== 'id')) return null;
  const record = visibleIn(run, await run.unit.get(keyOf(run), id, run.rights.viewOwn ?? undefined));
  return record && run.rights.view(record.creator) && mayMoveRecord(run, record) ? record : null;
}

/** Changes the state of a record that its page shows, by the rules of its block. 401, 403; 409 where no way leads. */
export async function moveRecord(run: Run, record: StoredRecord, state: string): Promise<StoredRecord> {
  if (!run.visit.writes.records) throw new AppsError('CsrfError', 'Changing a state needs a POST request');
  // Who presses a button that another one has made pointless gets a message that says so, with or without the right to press the next.
  if (leadsTo(run.app, record, state)) requireRight(run, mayMoveRecord(run, record), 'change the state of this record');
  return changeRecord(run, record, { set: { state } }, { state });
}

/**
 * Changes a record of a requester who may: the rules of its block hold for the items that it has then.
 * @param body what the block's functions read as `context.request.body`
 */
export async function changeRecord(
  run: Run,
  record: StoredRecord,
  change: RecordChange,
  body: Items,
): Promise<StoredRecord> {
  const { set = {}, inc = {}, unset = [] } = change;
  // Checked even if the change names another block: only requesters of a restricted block may move its records out of it.
  const stored = storedBlock(run, record);
  const block = Object.hasOwn(set, 'block') ? blockOf(run, set) : unset.includes('block') ? null : stored;
  const names = [...new Set([...Object.keys(set), ...Object.keys(inc), ...unset])];
  const left = await sentNames(run, block, names, record);
  const allowed = {
    set: withoutNames(set, left),
    inc: withoutNames(inc, left),
    unset: unset.filter((name) => !left.has(name)),
  };
  if (!block) return run.unit.update(keyOf(run), record.id, allowed);
  return withSession(run, block, record, async (session) => {
    const isNew = block.id !== stored?.id;
    // What a record had under names that the server sets in its new block came from a client, or from another block.
    const dropped = isNew ? [...allowed.unset, ...left] : allowed.unset;
    const items = applyChange(record.items, { ...allowed, unset: dropped });
    const changed = new Set(isNew ? [...names, ...Object.keys(items)] : names);
    const checked = await checkedItems(run, block, session, {
      record,
      items,
      changed,
      creation: isNew,
      sender: 'client',
      body,
    });
    const saved = await run.unit.update(keyOf(run), record.id, { set: checked, unset: dropped });
    return (await saveInSession(run, block, session, saved, { creation: isNew })).record;
  });
}

/**
 * Deletes a record (operation 8); its block's `on_delete` runs.
 * @param onDelete false: it does not run, and the block is not checked
 */
export async function removeRecord(run: Run, id: string, matches: VersionTest, onDelete = true): Promise<void> {
  const record = await permittedRecord(run, id, (creator) => run.rights.delete(creator), 'delete this record');
  requireVersion(record, matches);
  await deleteRecord(run, onDelete ? storedBlock(run, record) : null, record);
}

/** The record, if the requester has the right, which may depend on the record's creator; else 401, 403 or 404. */
export async function permittedRecord(
  run: Run,
  id: string,
  granted: (creator: string | null) => boolean,
  what: string,
): Promise<StoredRecord> {
  // A requester without a right on any record must not learn which ids exist.
  const some = granted(makerOf(run));
  requireRight(run, some || seesRecords(run.rights), what);
  const record = await existing(run, id);
  const may = granted(record.creator);
  // Who sees only own records must not learn it either.
  if (!may && run.rights.viewOwn !== null && !run.rights.view(record.creator))
    throw notFound(missing.record(id, run.app.id));
  requireRight(run, may, what);
  return record;
}

/**
 * The block that the items name and whose logic runs; null if they name none. BadRequestError for one that does not
 * exist (docs/reference/json-interface.md#the-block-of-a-record); 401 or 403 where its `view_permission` does not name
 * the requester.
 */
export function blockOf(run: Run, items: Items): Block | null {
  const { block: id } = items;
  if (id === undefined || id === null) return null;
  const block = typeof id === 'string' ? run.app.blocks.get(id) : undefined;
  if (!block) throw new AppsError('BadRequestError', missing.block(String(id), run.app.id));
  return requireBlock(run, block);
}

/**
 * The block that a stored record names and whose logic runs; null when the theme no longer has it, so that the record
 * stays manageable. 401 or 403 where its `view_permission` does not name the requester.
 */
export function storedBlock(run: Run, record: StoredRecord): Block | null {
  const { block } = record.items;
  const found = typeof block === 'string' ? run.app.blocks.get(block) : undefined;
  return found ? requireBlock(run, found) : null;
}

/**
 * The value of a declared element (operation 2); its function runs after `on_display`, as on a page. If that redirects,
 * the function does not run and the address is in the run's response. NotFoundError for an undeclared element.
 */
export async function computeElement(run: Run, block: Block, name: string): Promise<{ value: Json }> {
  const element = block.definition.elements.get(name);
  if (element?.verify && !run.visit.isVerified)
    throw methodNotAllowed('POST, OPTIONS', 'Only webhooks call this element');
  if (!element || builtInActions.has(name)) {
    throw notFound(`The block "${block.id}" has no element "${name}"`);
  }
  return withSession(run, block, null, async (session) => {
    const redirect = await beforeElements(run, session);
    if (redirect !== null) {
      run.response.redirect = redirect;
      return { value: null };
    }
    const values = await session.run([name], roleOf(element) === 'action');
    const value = values.get(name) ?? element.default ?? null;
    const { type } = run.response;
    if (type !== undefined && type !== 'application/json' && typeof value !== 'string')
      throw new AppsError(
        'LogicError',
        `The element "${name}" has the content type ${type}, so that it must return text`,
      );
    return { value };
  });
}

async function existing(run: Run, id: string): Promise<StoredRecord> {
  const record = visibleIn(run, await run.unit.get(keyOf(run), id));
  if (!record) throw notFound(missing.record(id, run.app.id));
  return record;
}

function requireVersion(record: StoredRecord, matches: VersionTest): void {
  if (matches && !matches(record)) {
    throw new AppsError('PreconditionFailedError', 'The record has changed since it was read');
  }
}

/** The `id` among the items, which the store does not keep as an item. BadRequestError if it is not a string. */
export function idOf({ id }: Items): string | undefined {
  if (id !== undefined && typeof id !== 'string') {
    throw new AppsError('BadRequestError', 'The item "id" must be a string');
  }
  return id;
}

function readChange(id: string, body: Items): RecordChange {
  const sent = idOf(body);
  if (sent !== undefined && sent !== id) {
    throw new AppsError('BadRequestError', 'The item "id" is not the id of the record in the address');
  }
  if (!Object.hasOwn(body, '$inc')) return { set: body };
  const { $inc: inc, ...set } = body;
  return inc === undefined ? { set } : { set, inc: readIncrements(inc) };
}

/** Names that are no numbers, whatever a record has under them. */
const OF_RECORD = new Set(['id', 'block']);

function readIncrements(inc: Json): Record<string, number> {
  const entries = isItems(inc) ? Object.entries(inc) : null;
  if (!entries?.every(([name, by]) => typeof by === 'number' && Number.isFinite(by) && !OF_RECORD.has(name))) {
    throw new AppsError('BadRequestError', '"$inc" must be an object of item names and numbers');
  }
  return Object.fromEntries(entries) as Record<string, number>;
}
