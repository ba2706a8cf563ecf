import type { Items, Json } from '../../../../../shared/json';
import { logicError } from '../../../common/errors';
import type { StoredRecord } from '../../../records/types';
import { refuseInvalid } from '../../run/refusals';
import { redirectOf } from '../../run/response';
import { keyOf } from '../../run/run';
import type { Run } from '../../run/types';
import type { Block } from '../../types';
import { type BlockSession, withSession } from '../block-session';

export interface SaveOptions {
  /** The record is new: `COMPUTED_ON_CREATION` elements are computed too. */
  creation: boolean;
  /** The new record was given no id: the block's `record_id` may choose it. */
  choosesId?: boolean;
}

export interface Saved {
  record: StoredRecord;
  /** What `on_save` returned. */
  returned: Json;
  /** Where `on_save` redirects to, or null. */
  redirect: string | null;
}

/**
 * Saves a record of a block: its computed elements are stored, `record_id` names it, `on_save` runs
 * (docs/reference/logic.md#functions). The record is already in the run's unit of work; any failure fails the request.
 */
export async function saveRecord(run: Run, block: Block, record: StoredRecord, options: SaveOptions): Promise<Saved> {
  if (!block.logic) return { record, returned: null, redirect: null };
  return withSession(run, block, record, (session) => saveInSession(run, block, session, record, options));
}

/** `saveRecord` in an open session, which the records of one block share in a bulk creation. */
export async function saveInSession(
  run: Run,
  block: Block,
  session: BlockSession,
  record: StoredRecord,
  options: SaveOptions,
): Promise<Saved> {
  session.setRecord(record);
  const key = keyOf(run);
  let current = await storeComputed(run, block, session, record, options.creation);
  if (options.choosesId && session.has('record_id')) {
    const id = (await session.run(['record_id'], true)).get('record_id');
    if (run.depth === 0) refuseInvalid(run);
    current = await currentRecord(run, current.id);
    if (id !== null) current = await run.unit.rename(key, current.id, readId(id), 'number');
    session.setRecord(current);
  }
  const returned = (await session.run(['on_save'], true)).get('on_save') ?? null;
  // Inside another block the calling function goes on, and the request is refused after it.
  if (run.depth === 0) refuseInvalid(run);
  return { record: await currentRecord(run, current.id), returned, redirect: redirectOf(run, returned) };
}

async function storeComputed(
  run: Run,
  block: Block,
  session: BlockSession,
  record: StoredRecord,
  creation: boolean,
): Promise<StoredRecord> {
  const names = [...block.definition.elements.values()]
    .filter(({ mode }) => mode === 'COMPUTED_ON_SAVE' || (creation && mode === 'COMPUTED_ON_CREATION'))
    .map(({ name }) => name);
  const values = await session.run(names);
  if (values.size === 0) return record;
  const set = Object.fromEntries(values) as Items;
  const changed = await run.unit.update(keyOf(run), record.id, { set });
  session.setRecord(changed);
  return changed;
}

/** The record with the changes of logic. */
async function currentRecord(run: Run, id: string): Promise<StoredRecord> {
  const record = await run.unit.get(keyOf(run), id);
  if (!record) throw logicError('The block deleted the record that was being saved');
  return record;
}

function readId(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  throw logicError('record_id must return a string');
}

/** Whether the `on_delete` of this record is running in this request, so that it must not run again. */
export function isBeingDeleted(run: Run, record: StoredRecord): boolean {
  return run.deleting.has(deletionOf(run, record));
}

const deletionOf = (run: Run, record: StoredRecord) => `${run.app.id}\n${record.id}`;

/** Runs the block's `on_delete` and deletes the record; returns the address it redirects to, or null. */
export async function deleteRecord(run: Run, block: Block | null, record: StoredRecord): Promise<string | null> {
  if (block?.logic) return withSession(run, block, record, (session) => deleteInSession(run, session, record));
  await run.unit.delete(keyOf(run), record.id);
  return null;
}

/** `deleteRecord` in an open session that has the record as its `context.record`. */
export async function deleteInSession(run: Run, session: BlockSession, record: StoredRecord): Promise<string | null> {
  const deletion = deletionOf(run, record);
  run.deleting.add(deletion);
  try {
    const redirect = redirectOf(run, (await session.run(['on_delete'])).get('on_delete'));
    await run.unit.delete(keyOf(run), record.id);
    return redirect;
  } finally {
    run.deleting.delete(deletion);
  }
}
