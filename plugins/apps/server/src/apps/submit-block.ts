import { AppsError } from '../errors';
import type { StoredRecord } from '../records/types';
import { type BlockSession, withSession } from './block-session';
import { redirectOf } from './response';
import { keyOf, type Run } from './run';
import { beforeElements, type Displayed, renderBlock } from './run-block';
import { deleteInSession, saveInSession } from './save-record';
import { type FormFields, readSubmission, type Submission } from './submission';
import type { Block } from './types';

/** What a posted form led to. */
export type Submitted =
  | (Displayed & { kind: 'shown' })
  /** Fields are wrong: the form again, with what was entered (status 422). */
  | { kind: 'invalid'; html: string; errors: { path: string[]; message: string }[] }
  | { kind: 'saved'; record: StoredRecord; created: boolean; redirect: string | null }
  | { kind: 'deleted'; redirect: string | null }
  | { kind: 'edit' };

/** What saving and deleting by the form ask for (contract, section 6): throw 401 or 403 where the requester lacks it. */
export interface SubmitRights {
  save(): void;
  delete(): void;
}

const ACTION = 'action.';

/**
 * Processes a block's posted form: `on_display`, `action.<element>` functions, then `_delete`, `_edit` or `_save`
 * (contract, section 10). Without any of them the block is shown again.
 */
export async function submitBlock(
  run: Run,
  block: Block,
  record: StoredRecord | null,
  fields: FormFields,
  rights: SubmitRights,
): Promise<Submitted> {
  return withSession(run, block, record, async (session) => {
    const redirect = (await beforeElements(run, session)) ?? (await runActions(run, block, session, fields));
    if (redirect !== null) return { kind: 'shown', redirect };
    if (record && Object.hasOwn(fields, '_delete')) {
      rights.delete();
      return { kind: 'deleted', redirect: await deleteInSession(run, session, record) };
    }
    if (record && Object.hasOwn(fields, '_edit')) return { kind: 'edit' };
    if (Object.hasOwn(fields, '_save')) return save(run, block, session, record, fields, rights);
    const mode = record ? 'text' : 'input';
    const current = record && (await run.unit.get(keyOf(run), record.id));
    return { kind: 'shown', html: await renderBlock(run, block, session, { record: current, mode }) };
  });
}

async function runActions(run: Run, block: Block, session: BlockSession, fields: FormFields): Promise<string | null> {
  for (const field of Object.keys(fields).filter((name) => name.startsWith(ACTION))) {
    const name = field.slice(ACTION.length);
    if (block.definition.elements.get(name)?.type !== 'ACTION' || name.startsWith('_')) {
      throw new AppsError('NotFoundError', `The block "${block.id}" has no action "${name}"`);
    }
    const redirect = redirectOf(run, (await session.run([name])).get(name));
    if (redirect !== null) return redirect;
  }
  return null;
}

async function save(
  run: Run,
  block: Block,
  session: BlockSession,
  record: StoredRecord | null,
  fields: FormFields,
  rights: SubmitRights,
): Promise<Submitted> {
  const shows = shownElements(run, block);
  if (!block.definition.elements.has('_save') && !shows('_save'))
    throw new AppsError('BadRequestError', `The block "${block.id}" has no save button`);
  if (!run.visit.writes.records) throw new AppsError('CsrfError', 'Saving needs a POST request');
  rights.save();
  const submission = await readSubmission(block, session, fields, shows);
  if (submission.errors.size > 0) return invalid(run, block, session, record, submission);
  const key = keyOf(run);
  const creator = run.visit.requester.identity || null;
  const saved = record
    ? await run.unit.update(key, run.app.indexes, record.id, { set: submission.items })
    : await run.unit.create(key, run.app.indexes, { items: { ...submission.items, block: block.id }, creator });
  const done = await saveInSession(run, block, session, saved, { creation: !record, choosesId: !record });
  return { kind: 'saved', record: done.record, created: !record, redirect: done.redirect };
}

async function invalid(
  run: Run,
  block: Block,
  session: BlockSession,
  record: StoredRecord | null,
  submission: Submission,
): Promise<Submitted> {
  const html = await renderBlock(run, block, session, { record, mode: 'input', submission });
  const errors = [...submission.errors].map(([name, message]) => ({ path: [name], message }));
  return { kind: 'invalid', html, errors };
}

/** Which elements the block's layout shows; none without a layout. */
export function shownElements(run: Run, block: Block): (name: string) => boolean {
  return block.layout ? run.services.layouts.compile(block.layout).shows : () => false;
}
