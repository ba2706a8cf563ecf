import { z } from 'zod';
import type { FormOutcome, RecordForm, recordRoutes } from '../../../../../shared/admin-api';
import type { Items } from '../../../../../shared/json';
import {
  type Block,
  displayBlock,
  FormRefusal,
  isSaved,
  permittedBlock,
  permittedRecord,
  type Run,
  requireRight,
  showRefused,
  submitBlock,
  type Visit,
  withRun,
} from '../../../apps';
import { AppsError, missing, notFound } from '../../../common/errors';
import { must, readBody, readParameters } from '../../../common/request-schema';
import type { StoredRecord } from '../../../records/types';
import type { HttpServices } from '../../request/exchange';
import { appOf, type Handlers, type PanelApp } from '../handler';
import { panelVisit } from '../visit';
import { sentForm } from './form-files';

const target = {
  block: z.string(must('the id of a block')),
  id: z.string(must('the id of a record')).optional(),
};
const parameters = z.object(target);
const text = z.string(must('a text'));
const formBody = z.object({
  ...target,
  fields: z.record(z.string(), z.union([text, z.array(text)]), must('an object')),
});

/** The block whose form changes a record with these items; null where it has none. */
export function formBlockOf(services: HttpServices, { app }: PanelApp, { block: id }: Items): string | null {
  const block = typeof id === 'string' ? app.blocks.get(id) : undefined;
  return block && hasForm(services, block) ? block.id : null;
}

/** Whether a block has a form that saves records. A broken block has none. */
export function hasForm({ layouts }: HttpServices, block: Block): boolean {
  try {
    return block.error === null && block.layout !== null && isSaved({ services: { layouts } }, block);
  } catch {
    return false;
  }
}

/** The block and the record of a form, if the administrator may save there. */
async function posted(run: Run, { block: id, id: recordId }: z.infer<typeof parameters>) {
  const found = run.app.blocks.get(id);
  if (!found || !hasForm(run.services as HttpServices, found)) throw notFound(missing.block(id, run.app.id));
  const block = permittedBlock(run, id);
  if (recordId === undefined) {
    requireRight(run, run.rights.create, 'add records');
    return { block, record: null };
  }
  const record = await permittedRecord(run, recordId, (creator) => run.rights.edit(creator), 'change this record');
  if (record.items.block !== id)
    throw new AppsError('BadRequestError', `The record was not made with the block "${id}"`);
  return { block, record };
}

/** What the admin routes of the blocks' own forms answer (shared/admin/records.ts). */
export const formHandlers: Pick<Handlers<typeof recordRoutes>, 'recordForm' | 'submitForm'> = {
  async recordForm(ctx, services): Promise<RecordForm> {
    const found = await appOf(ctx, services);
    const wanted = readParameters(parameters, ctx.query);
    const visit = await panelVisit(ctx, services, found, wanted.id);
    const show = async (run: Run) => {
      const { block, record } = await posted(run, wanted);
      return displayBlock(run, block, { record, mode: 'input' });
    };
    // Showing a form stores nothing, whatever its logic writes.
    const done = await withRun(services, visit, found.app, show, { isDropped: true });
    return formOf(wanted.block, done.value);
  },

  async submitForm(ctx, services): Promise<FormOutcome> {
    const found = await appOf(ctx, services);
    const { input, files } = await sentForm(ctx, services, found);
    const { fields, ...wanted } = readBody(formBody, input);
    const called = await panelVisit(ctx, services, found, wanted.id);
    // The block's own validation reads what was sent.
    const visit: Visit = { ...called, files, request: { ...called.request, form: fields } };
    const submit = async (run: Run) => {
      const { block, record } = await posted(run, wanted);
      return submitBlock(run, block, record, { fields, wrong: new Map() }, rightsFor(run, record));
    };
    try {
      const { value } = await withRun(services, visit, found.app, submit, {
        ...(wanted.id ? { recordId: wanted.id } : {}),
      });
      if (value.kind === 'saved') return { kind: 'saved', id: value.record.id };
      if (value.kind === 'deleted') return { kind: 'deleted', id: wanted.id ?? '' };
      if (value.kind === 'edit') return { kind: 'saved', id: wanted.id ?? '' };
      return { kind: 'shown', ...formOf(wanted.block, value) };
    } catch (error) {
      if (!(error instanceof FormRefusal)) throw error;
      const show = async (run: Run) => {
        const { block, record } = await posted(run, wanted);
        return showRefused(run, block, record, fields, error);
      };
      const again = await withRun(services, visit, found.app, show, { isDropped: true });
      const { html } = formOf(wanted.block, again.value);
      throw new AppsError('ValidationError', error.message, { details: { ...error.details, html } });
    }
  },
};

function rightsFor(run: Run, record: StoredRecord | null) {
  return {
    save: () => requireRight(run, record ? run.rights.edit(record.creator) : run.rights.create, 'save this'),
    delete: () => requireRight(run, run.rights.delete(record?.creator ?? null), 'delete this'),
  };
}

/** A shown block; where `on_display` leads elsewhere there is no form. */
function formOf(block: string, shown: { html: string } | { redirect: string }): RecordForm {
  if ('redirect' in shown)
    throw new AppsError(
      'BadRequestError',
      `The block "${block}" leads elsewhere when it is shown: it has no form here`,
    );
  return { html: shown.html, block };
}
