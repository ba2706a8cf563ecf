import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Context } from 'koa';
import { z } from 'zod';
import type { FormOutcome, RecordForm, recordRoutes } from '../../../../shared/admin-api';
import type { Items } from '../../../../shared/json';
import {
  type App,
  type Block,
  displayBlock,
  FormRefusal,
  fileRules,
  isSaved,
  permittedBlock,
  permittedRecord,
  type Run,
  requireRight,
  showRefused,
  submitBlock,
  withRun,
} from '../../apps';
import { AppsError, missing, notFound } from '../../common/errors';
import { must, readParameters, validateBody } from '../../common/validation';
import { fieldOf, type RequestFiles } from '../../files';
import type { StoredRecord } from '../../records/types';
import { jsonObject } from '../request/body';
import type { HttpServices } from '../request/exchange';
import { mediaType } from '../request/negotiate';
import { noFileField, requestFiles } from '../request/read-body';
import { panelVisit } from './acting';
import { administratorOf, appOf, type Handlers, optionsOf, type PanelApp } from './handler';

/** A file that Strapi's parser has put into the temporary folder. */
interface ParsedFile {
  filepath: string;
  originalFilename?: string | null;
  size: number;
}

/**
 * What the panel sends of a block's form: a JSON object; with new files a form that has it in the field `options`, and each file
 * under the name of its field. The files are checked as those of the site's forms, and are gone after the answer unless
 * the form waits for them. UnsupportedMediaTypeError for a field that takes no files, PayloadTooLargeError above `limits.uploadSize`.
 */
async function sentForm(
  ctx: Context,
  services: HttpServices,
  found: PanelApp,
): Promise<{ input: Items; files: RequestFiles }> {
  const requester = await administratorOf(ctx, services);
  const files = requestFiles({ ctx, services, requester }, found.key);
  if (mediaType(ctx) !== 'multipart/form-data') return { input: jsonObject(ctx), files };
  const request = ctx.request as { files?: Record<string, ParsedFile | ParsedFile[]>; body?: Record<string, unknown> };
  const sent = Object.entries(request.files ?? {}).flatMap(([part, list]) =>
    [list].flat().map((file) => ({ part, file })),
  );
  // Strapi deletes files of some names itself, before they have been read.
  delete request.files;
  try {
    const input = optionsOf(request.body);
    await take(services, found.app, String(input.block), sent, files);
    return { input, files };
  } finally {
    for (const { file } of sent) await rm(file.filepath, { force: true });
  }
}

async function take(
  { config, files: { temporary } }: HttpServices,
  app: App,
  block: string,
  sent: readonly { part: string; file: ParsedFile }[],
  files: RequestFiles,
): Promise<void> {
  const { uploadSize } = config.limits;
  if (sent.reduce((sum, { file }) => sum + file.size, 0) > uploadSize)
    throw new AppsError('PayloadTooLargeError', `All files together are larger than ${uploadSize} bytes`);
  const rules = fileRules(app, block);
  const counts = new Map<string, number>();
  const scope = { site: app.folder.site.id, app: app.id };
  for (const { part, file } of sent) {
    const field = fieldOf(part) ?? '';
    const rule = rules.get(field);
    if (!rule) throw noFileField(part);
    const count = counts.get(field) ?? 0;
    const name = file.originalFilename ?? '';
    // One more than is allowed is enough to say so. A part without a name is a field in which nothing was chosen.
    if (name !== '' && count > rule.count) continue;
    if (name !== '') counts.set(field, count + 1);
    const stream = createReadStream(file.filepath);
    const taken = await temporary.receive(stream, name, rule.maxSize, { ...scope, field });
    if (taken) files.receive(part, taken);
  }
}

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
    const { fields, ...wanted } = validateBody(formBody, input);
    const called = await panelVisit(ctx, services, found, wanted.id);
    // The block's own validation reads what was sent.
    const visit = called.withForm(fields, files);
    const submit = async (run: Run) => {
      const { block, record } = await posted(run, wanted);
      const rights = { ...rightsFor(run, record), asks: true };
      return submitBlock(run, block, record, { fields, wrong: new Map() }, rights);
    };
    try {
      const { value } = await withRun(services, visit, found.app, submit, {
        ...(wanted.id ? { recordId: wanted.id } : {}),
      });
      if (value.kind === 'saved') return { kind: 'saved', id: value.record.id };
      if (value.kind === 'deleted') return { kind: 'deleted', id: wanted.id ?? '' };
      if (value.kind === 'edit') return { kind: 'saved', id: wanted.id ?? '' };
      // The panel sends no name of a sender, without which no draft is saved.
      if (value.kind === 'draft') throw new AppsError('BadRequestError', 'The panel saves no drafts');
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
