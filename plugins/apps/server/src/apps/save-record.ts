import type { Items, Json } from '../../../shared/json';
import { AppsError } from '../errors';
import type { StoredRecord } from '../records/types';
import { type BlockSession, withSession } from './block-session';
import { redirectOf } from './response';
import { keyOf, type Run } from './run';
import type { Block } from './types';

export interface SaveOptions {
  /** The record is being made: `COMPUTED_ON_CREATION` elements are computed too. */
  creation: boolean;
  /** At creation, no id was given: the block's `record_id` may choose it. */
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
 * What happens when a record of a block is saved: its computed elements are stored, `record_id` names it, `on_save`
 * runs (contract, section 8). The record is already in the run's unit of work; any failure fails the request.
 */
export async function saveRecord(run: Run, block: Block, record: StoredRecord, options: SaveOptions): Promise<Saved> {
  if (!block.logic) return { record, returned: null, redirect: null };
  return withSession(run, block, record, (session) => saveInSession(run, block, session, record, options));
}

/** The same in a session that is open: several records of one block share it in a bulk creation. */
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
    const id = (await session.run(['record_id'])).get('record_id');
    current = await currentRecord(run, current.id);
    if (id !== null) current = await run.unit.rename(key, current.id, readId(id), 'number');
    session.setRecord(current);
  }
  const returned = (await session.run(['on_save'])).get('on_save') ?? null;
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
  const changed = await run.unit.update(keyOf(run), run.app.indexes, record.id, { set });
  session.setRecord(changed);
  return changed;
}

/** The record as logic has left it. */
async function currentRecord(run: Run, id: string): Promise<StoredRecord> {
  const record = await run.unit.get(keyOf(run), id);
  if (!record) throw new AppsError('LogicError', 'The block deleted the record that was being saved');
  return record;
}

function readId(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  throw new AppsError('LogicError', 'record_id must return a string');
}

/** Whether the `on_delete` of this record is running in this request: it does not run again inside itself. */
export function isBeingDeleted(run: Run, record: StoredRecord): boolean {
  return run.deleting.has(deletionOf(run, record));
}

const deletionOf = (run: Run, record: StoredRecord) => `${run.app.id}\n${record.id}`;

/** Runs the block's `on_delete` and deletes the record; the address it redirects to, or null. */
export async function deleteRecord(run: Run, block: Block | null, record: StoredRecord): Promise<string | null> {
  if (block?.logic) return withSession(run, block, record, (session) => deleteInSession(run, session, record));
  await run.unit.delete(keyOf(run), record.id);
  return null;
}

/** The same in a session that is open with the record as its `context.record`. */
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
