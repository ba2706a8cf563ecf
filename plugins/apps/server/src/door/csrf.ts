import type { Context } from 'koa';

/** The token that a request carries: the header `X-CSRF-TOKEN`, or the hidden field `_csrf` of a rendered form. */
export function csrfOf(ctx: Context): string {
  const header = ctx.get('X-CSRF-TOKEN');
  if (header !== '') return header;
  const field = (ctx.request as { body?: { _csrf?: unknown } }).body?._csrf;
  return typeof field === 'string' ? field : '';
}
