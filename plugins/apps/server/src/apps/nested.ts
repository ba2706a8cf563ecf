import type { Items } from '../../../shared/json';
import { AppsError } from '../errors';
import type { SaveRequest } from '../logic/types';
import type { StoredRecord } from '../records/types';
import { type BlockSession, withSession } from './block-session';
import { errorMark } from './error-mark';
import { storedBlock } from './record-operations';
import { isBlockFailure, keyOf, type Nested, nestedRun, permittedBlock, type Run } from './run';
import { displayBlock } from './run-block';
import { deleteRecord, isBeingDeleted, saveInSession } from './save-record';
import { readSubmission } from './submission';
import { shownElements } from './submit-block';
import type { Block } from './types';

/** `record.display()`: the record with its own block. */
async function display(run: Run, record: StoredRecord, edit: boolean): Promise<string> {
  const blockId = record.items.block;
  if (typeof blockId !== 'string') throw new AppsError('BadRequestError', `The record "${record.id}" has no block`);
  return showBlock(run, blockId, record, edit);
}

/** `get_block(id).display()`; a failure of the block becomes an error mark. */
async function showBlock(run: Run, blockId: string, record: StoredRecord | null, edit: boolean): Promise<string> {
  try {
    const block = permittedBlock(run, blockId);
    const shown = await displayBlock(run, block, { record, mode: edit ? 'input' : 'text' });
    return 'html' in shown ? shown.html : '';
  } catch (error) {
    if (isBlockFailure(error)) return errorMark(run, error);
    throw error;
  }
}

/** `record.save()`: the record is the block's from now on. */
async function save(run: Run, record: StoredRecord, { block: named, creation, form }: SaveRequest) {
  const id = named ?? (creation || form ? record.items.block : null);
  if (id === null) return { record, ran: false, returned: null };
  if (typeof id !== 'string')
    throw new AppsError('BadRequestError', `The record "${record.id}" has no block to save it`);
  const block = permittedBlock(run, id);
  return withSession(run, block, record, async (session) => {
    const set = { ...(form ? await readForm(run, block, session) : {}), block: id };
    const changed = await run.unit.update(keyOf(run), run.app.indexes, record.id, { set });
    // A record that is stored already keeps its id.
    const choosesId = creation && record.version === 0;
    const saved = await saveInSession(run, block, session, changed, { creation, choosesId });
    return { record: saved.record, ran: true, returned: saved.returned };
  });
}

/** The fields of the block that the current request has sent in its form and that its layout shows. */
async function readForm(run: Run, block: Block, session: BlockSession): Promise<Items> {
  const { form } = run.visit.request;
  const shows = shownElements(run, block);
  const { items, errors } = await readSubmission(
    block,
    session,
    form,
    (name) => Object.hasOwn(form, name) && shows(name),
  );
  for (const [name, message] of errors) throw new AppsError('BadRequestError', `${name}: ${message}`);
  return items;
}

/** A block without logic has no `on_delete`: its record is deleted like one of no block. */
async function remove(run: Run, record: StoredRecord): Promise<void> {
  const { block } = record.items;
  const hasLogic = typeof block === 'string' && run.app.blocks.get(block)?.logic;
  if (!hasLogic || isBeingDeleted(run, record)) await run.unit.delete(keyOf(run), record.id);
  else await deleteRecord(nestedRun(run, run.app), storedBlock(run, record), record);
}

/** What a record's `display()`, `save(…, {block_id})` and `delete_record()` do in logic (contract, section 8). */
export const nested: Nested = { display, displayBlock: showBlock, save, delete: remove };
