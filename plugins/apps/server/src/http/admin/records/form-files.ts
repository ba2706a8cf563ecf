import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Context } from 'koa';
import type { Items } from '../../../../../shared/json';
import { type App, fileRules } from '../../../apps';
import { AppsError } from '../../../common/errors';
import { fieldOf, type RequestFiles } from '../../../files';
import { jsonObject } from '../../request/body';
import type { HttpServices } from '../../request/exchange';
import { noFileField } from '../../request/multipart-parts';
import { mediaType } from '../../request/negotiate';
import { requestFiles } from '../../request/read-body';
import { administratorOf, type PanelApp } from '../handler';
import { optionsOf } from '../upload';

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
export async function sentForm(
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
