import { rm } from 'node:fs/promises';
import type { Context } from 'koa';
import { type Items, isItems } from '../../../../shared/json';
import { AppsError } from '../../common/errors';

/** The file of a form that Strapi's parser has put into the temporary folder, and its field `options` as JSON. */
export interface Upload {
  path: string;
  size: number;
  options: Items;
}

/**
 * Runs `work` with the one file of a form, which is deleted afterwards.
 * @param work may call `keep`: it then deletes the file itself
 */
export async function withUpload<T>(ctx: Context, work: (upload: Upload, keep: () => void) => Promise<T>): Promise<T> {
  const request = ctx.request as { files?: Record<string, unknown>; body?: Record<string, unknown> };
  const sent = Object.values(request.files ?? {}).flat() as { filepath: string; size: number }[];
  // Strapi deletes files of some names itself, before a work that runs on has read them.
  delete request.files;
  let isKept = false;
  try {
    const [file] = sent;
    if (!file || sent.length !== 1) throw new AppsError('BadRequestError', 'The form must hold one file');
    const upload = { path: file.filepath, size: file.size, options: optionsOf(request.body) };
    return await work(upload, () => {
      isKept = true;
    });
  } finally {
    for (const { filepath } of isKept ? sent.slice(1) : sent) await rm(filepath, { force: true });
  }
}

/** The field `options` of a form: a JSON object. BadRequestError for anything else. */
export function optionsOf(body: Record<string, unknown> | undefined): Items {
  try {
    const value: unknown = JSON.parse(String(body?.options ?? '{}'));
    if (isItems(value)) return value;
  } catch {
    // Text that is not JSON is reported like JSON of another shape.
  }
  throw new AppsError('BadRequestError', 'The field "options" must be a JSON object');
}
