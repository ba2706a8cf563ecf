import type { Context } from 'koa';
import { fileRules, refusal } from '../../apps';
import { shortWork } from '../../common/time/pace';
import { RequestFiles } from '../../files';
import { checkBody, checkRawBody, defersForm, hasBody } from './body';
import { checkToken } from './csrf';
import type { HttpServices } from './exchange';
import { readMultipart } from './multipart';
import type { OpenedApp } from './stages';

/**
 * Checks the body of a request, or reads it where it is a form with files; returns those. No file is taken from a request
 * without a valid token, or of a sender who may save nothing there: CsrfError, 401 or 403. The form of a page is read
 * without its files, to be shown again.
 */
export async function readBody(request: OpenedApp): Promise<RequestFiles> {
  const { ctx, services, site, app, requester, owner, rights, isForm, target, own, draft } = request;
  const { bodySize, uploadSize } = services.config.limits;
  const scope = { site: site.id, app: app.id };
  if (!hasBody(ctx) || !defersForm(ctx)) {
    await shortWork(() => checkBody(ctx, bodySize));
    await checkRawBody(ctx, bodySize);
    return requestFiles(request, scope);
  }
  return readMultipart(ctx, requestFiles(request, scope), {
    bodySize,
    uploadSize,
    rules: ctx.method === 'POST' ? fileRules(app, target.kind === 'block' ? target.block : draft?.block) : new Map(),
    files: services.files,
    scope,
    check(fields) {
      (ctx.request as { body?: unknown }).body = fields;
      const staleForm = checkToken(request);
      // Also the form of a draft that has ended, which is shown again with its files.
      const isNew = target.kind === 'block' || target.kind === 'draft';
      const maySave = isNew ? rights.create : rights.edit(owner() || null) || own?.edit === true;
      if (!maySave && !isForm) throw refusal(requester, isNew ? 'add records' : 'change this record');
      return maySave && !staleForm;
    },
  });
}

/** Reads the fields of a form with files that was not read yet, and takes none of its files. */
export async function readFieldsOnly(ctx: Context, services: HttpServices): Promise<void> {
  const { bodySize, uploadSize } = services.config.limits;
  const scope = { site: '', app: '' };
  const none = new RequestFiles(services.files, scope, () => '');
  const { files } = services;
  await readMultipart(ctx, none, { bodySize, uploadSize, rules: null, files, scope, check: () => false });
}

/** The files of a request; those that no form waits for are removed after the answer. */
export function requestFiles(
  { ctx, services: { files, requesters }, requester }: Pick<OpenedApp, 'ctx' | 'services' | 'requester'>,
  scope: { site: string; app: string },
): RequestFiles {
  const own = new RequestFiles(files, scope, () => requesters.senderName(requester, ctx.ip));
  const end = () => void own.end().catch(() => undefined);
  if (ctx.res.closed) end();
  else ctx.res.once('close', end);
  return own;
}
