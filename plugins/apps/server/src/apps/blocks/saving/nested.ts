import type { Items } from '../../../../../shared/json';
import { AppsError, isBlockFailure } from '../../../common/errors';
import type { SaveRequest } from '../../../logic/types';
import type { StoredRecord } from '../../../records/types';
import { errorMark } from '../../run/diagnostics/error-mark';
import { permittedBlock } from '../../run/permitted-block';
import { keyOf, nestedRun } from '../../run/run';
import type { Nested, Run } from '../../run/types';
import type { Block, ElementDefinition } from '../../types';
import { type BlockSession, withSession } from '../block-session';
import { shownElements } from '../group';
import { targetsOf } from '../references';
import { displayBlock } from '../run-block';
import { sentEntries } from '../sent/sent-entries';
import { storedBlock } from './record-operations';
import { deleteRecord, isBeingDeleted, saveInSession } from './save-record';
import { readSubmission } from './submission';

/** `record.display()`: shows the record with its own block. */
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

/** `record.save()`; also sets the record's block. */
async function save(run: Run, record: StoredRecord, { block: named, creation, form }: SaveRequest) {
  const id = named ?? (creation || form ? record.items.block : null);
  if (id === null) return { record, ran: false, returned: null };
  if (typeof id !== 'string')
    throw new AppsError('BadRequestError', `The record "${record.id}" has no block to save it`);
  const block = permittedBlock(run, id);
  return withSession(run, block, record, async (session) => {
    const set = { ...(form ? await readForm(run, block, session) : {}), block: id };
    const changed = await run.unit.update(keyOf(run), record.id, { set });
    // A stored record keeps its id.
    const choosesId = creation && record.version === 0;
    const saved = await saveInSession(run, block, session, changed, { creation, choosesId });
    return { record: saved.record, ran: true, returned: saved.returned };
  });
}

/** The fields of the current request's form that the block's layout shows. */
async function readForm(run: Run, block: Block, session: BlockSession): Promise<Items> {
  const { form } = run.visit.request;
  const sent = sentEntries(block.definition, form);
  const isSent = (name: string) => Object.hasOwn(form, name) || (sent.get(name)?.entries.length ?? 0) > 0;
  const shows = shownElements(run, block);
  const { items, errors } = await readSubmission(run, block, session, form, (name) => isSent(name) && shows(name));
  for (const { path, message } of errors) throw new AppsError('BadRequestError', `${path.join('.')}: ${message}`);
  return items;
}

/** A block without logic has no `on_delete`: its record is deleted like one without a block. */
async function remove(run: Run, record: StoredRecord): Promise<void> {
  const { block } = record.items;
  const hasLogic = typeof block === 'string' && run.app.blocks.get(block)?.logic;
  if (!hasLogic || isBeingDeleted(run, record)) await run.unit.delete(keyOf(run), record.id);
  else await deleteRecord(nestedRun(run, run.app), storedBlock(run, record), record);
}

/** Fields of the targets of a REFERENCE, as `app.references()` gives them. */
async function references(run: Run, element: ElementDefinition, ids: readonly string[]): Promise<Items[]> {
  return (await targetsOf(run, element, ids)).map(({ parts }) => parts);
}

/** Implements `display()`, `save(…, {block_id})`, `delete_record()` and `references()` of logic (docs/reference/logic.md#a-record). */
export const nested: Nested = { display, displayBlock: showBlock, save, delete: remove, references };
