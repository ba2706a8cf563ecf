import type { Context } from 'koa';
import { AppsError } from '../errors';
import type { Requesters } from '../requester';

/** The token that a request carries: the header `X-CSRF-TOKEN`, or the hidden field `_csrf` of a rendered form. */
export function csrfOf(ctx: Context): string {
  const header = ctx.get('X-CSRF-TOKEN');
  if (header !== '') return header;
  const field = (ctx.request as { body?: { _csrf?: unknown } }).body?._csrf;
  return typeof field === 'string' ? field : '';
}

/**
 * CsrfError for a form that a page of another origin has sent, as far as the browser says where it comes from. A request
 * with the header `X-CSRF-TOKEN` passes: no form can send one, and a script of another origin only where the host's CORS
 * settings allow it.
 */
export function requireOwnForm(ctx: Context, requesters: Pick<Requesters, 'takesCookies'>): void {
  if (ctx.get('X-CSRF-TOKEN') !== '' || requesters.takesCookies(ctx)) return;
  throw new AppsError('CsrfError', 'This form was sent from a page of another address.');
}
