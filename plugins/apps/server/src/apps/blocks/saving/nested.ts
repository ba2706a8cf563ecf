import { isDeepStrictEqual } from 'node:util';
import { type Items, itemOf } from '../../../../../shared/json';
import { AppsError, isBlockFailure } from '../../../common/errors';
import type { SaveRequest } from '../../../logic/types';
import type { StoredRecord } from '../../../records/types';
import { sentEntries } from '../../elements';
import { errorMark } from '../../run/diagnostics/failures';
import { FieldError, FormRefusal, wholly } from '../../run/refusals';
import { keyOf, nestedRun } from '../../run/run';
import type { Nested, Run } from '../../run/types';
import { permittedBlock } from '../../run/visits';
import type { Block } from '../../types';
import { type BlockSession, withSession } from '../block-session';
import { shownElements } from '../group';
import { displayBlock } from '../run-block';
import { checkedItems } from './checked-items';
import { notifyOf, sendPlace, sendWaited } from './notify';
import { storedBlock } from './record-operations';
import { changedRecord, conflictsIn, deleteRecord, isBeingDeleted, isBeingSaved, saveInSession } from './save-record';
import { fixedItems, readSubmission } from './submission';

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

/**
 * `record.save()`: sets the record's block, and saves it as one of that block. A record without a block, and one that is being
 * saved already, only has its items set.
 */
async function save(run: Run, record: StoredRecord, { block: named, creation, form }: SaveRequest) {
  const { block: own } = record.items;
  const isPlain = named === null && !creation && !form;
  const isOfBlock = typeof own === 'string' && run.app.blocks.has(own);
  if (isPlain && (!isOfBlock || isBeingSaved(run, record))) return { record, ran: false, returned: null };
  const id = named ?? own;
  if (typeof id !== 'string')
    throw new AppsError('BadRequestError', `The record "${record.id}" has no block to save it`);
  const block = permittedBlock(run, id);
  return withSession(run, block, record, async (session) => {
    const original = await run.unit.original(keyOf(run), record.id);
    const sent = form ? await readForm(run, block, session, original) : {};
    const items = { ...record.items, ...sent, block: id };
    const changed = new Set(changedNames(original?.items, items));
    const { body } = run.visit.request;
    const change = { record: original, items, changed, creation, sender: 'logic', body } as const;
    const set = await checkedItems(run, block, session, change);
    // What the record has already, because logic has set it, and what is not stored: of inputs whose condition is not met.
    const unset = [...changed].filter((name) => !Object.hasOwn(set, name));
    const saved = await run.unit.update(keyOf(run), record.id, { set, unset });
    // A stored record keeps its id.
    const choosesId = creation && record.version === 0;
    const { record: now, returned } = await saveInSession(run, block, session, saved, { creation, choosesId });
    return { record: now, ran: !isPlain, returned };
  });
}

/** Names of the items that differ; all of a record that comes into its block. */
function changedNames(before: Items | undefined, after: Items): string[] {
  const names = Object.keys(after);
  if (before?.block !== after.block) return names;
  return names.filter((name) => !isDeepStrictEqual(itemOf(before ?? {}, name), after[name]));
}

/**
 * The fields of the current request's form that the block's layout shows, for a record.
 * @param original the stored record; null for a new one
 */
async function readForm(run: Run, block: Block, session: BlockSession, original: StoredRecord | null): Promise<Items> {
  const { form } = run.visit.request;
  const sent = sentEntries(block.definition, form);
  const isSent = (name: string) => Object.hasOwn(form, name) || (sent.get(name)?.entries.length ?? 0) > 0;
  const shows = shownElements(run, block);
  const before = original ? { before: changedRecord(original, form) } : {};
  const fields = {
    fields: form,
    shows: (name: string) => isSent(name) && shows(name),
    unread: async () => (original ? {} : fixedItems(block, session, shows)),
    ...before,
  };
  const { items, errors, conflicts } = await readSubmission(run, block, session, fields);
  if (conflicts.length > 0) throw new FormRefusal(conflicts, run.budget, conflictsIn({ conflicts }));
  for (const error of errors) throw new FieldError(error);
  return items;
}

/** A block without logic has no `on_delete`: its record is deleted like one without a block. */
async function remove(run: Run, record: StoredRecord): Promise<void> {
  const { block } = record.items;
  const hasLogic = typeof block === 'string' && run.app.blocks.get(block)?.logic;
  if (!hasLogic || isBeingDeleted(run, record)) {
    await run.unit.delete(keyOf(run), record.id);
    return;
  }
  const inner = nestedRun(run, run.app);
  const permitted = storedBlock(inner, record);
  await wholly(run, () => deleteRecord(inner, permitted, record));
}

/** Implements `display()`, `save(…, {block_id})` and `delete_record()` of logic (docs/reference/logic.md#a-record). */
export const nested: Nested = {
  display,
  displayBlock: showBlock,
  save,
  delete: remove,
  notify: notifyOf,
  sendWaited,
  notifyOfPlace: sendPlace,
};
