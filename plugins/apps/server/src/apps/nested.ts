import { AppsError } from '../errors';
import type { StoredRecord } from '../records/types';
import { errorMark } from './error-mark';
import { storedBlock } from './record-operations';
import { isBlockFailure, keyOf, type Nested, nestedRun, permittedBlock, type Run } from './run';
import { displayBlock } from './run-block';
import { deleteRecord, isBeingDeleted, saveRecord } from './save-record';

/** `record.display()`: the record with its own block, contained so that its failure is an error mark in its place. */
async function display(run: Run, record: StoredRecord, edit: boolean): Promise<string> {
  const blockId = record.items.block;
  if (typeof blockId !== 'string') throw new AppsError('BadRequestError', `The record "${record.id}" has no block`);
  try {
    const block = permittedBlock(run, blockId);
    const shown = await displayBlock(run, block, { record, mode: edit ? 'input' : 'text' });
    return 'html' in shown ? shown.html : '';
  } catch (error) {
    if (isBlockFailure(error)) return errorMark(run, error);
    throw error;
  }
}

async function save(run: Run, record: StoredRecord, blockId: string): Promise<StoredRecord> {
  const saved = await saveRecord(run, permittedBlock(run, blockId), record, { creation: false });
  return saved.record;
}

/** A block without logic has no `on_delete`: its record is deleted like one of no block. */
async function remove(run: Run, record: StoredRecord): Promise<void> {
  const { block } = record.items;
  const hasLogic = typeof block === 'string' && run.app.blocks.get(block)?.logic;
  if (!hasLogic || isBeingDeleted(run, record)) await run.unit.delete(keyOf(run), record.id);
  else await deleteRecord(nestedRun(run, run.app), storedBlock(run, record), record);
}

/** What a record's `display()`, `save(…, {block_id})` and `delete_record()` do in logic (contract, section 8). */
export const nested: Nested = { display, save, delete: remove };
