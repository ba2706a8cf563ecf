import { AppsError } from '../errors';
import type { StoredRecord } from '../records/types';
import { errorMark } from './error-mark';
import { isBlockFailure, type Nested, permittedBlock, type Run } from './run';
import { displayBlock } from './run-block';
import { saveRecord } from './save-record';

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

/** What a record's `display()` and `save(…, {block_id})` do in logic (contract, section 8). */
export const nested: Nested = { display, save };
