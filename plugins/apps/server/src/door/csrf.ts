import type { Context } from 'koa';
import { AppsError } from '../errors';

/** The token that a request carries: the header `X-CSRF-TOKEN`, or the hidden field `_csrf` of a rendered form. */
export function csrfOf(ctx: Context): string {
  const header = ctx.get('X-CSRF-TOKEN');
  if (header !== '') return header;
  const field = (ctx.request as { body?: { _csrf?: unknown } }).body?._csrf;
  return typeof field === 'string' ? field : '';
}

/**
 * CsrfError for a form that a page of another origin has sent, as far as the browser says where it comes from
 * (`Sec-Fetch-Site`, else `Origin`). A request with the header `X-CSRF-TOKEN` passes: no form can send one, and a script of
 * another origin only where the host's CORS settings allow it.
 * @param baseUrl the site's public URL
 */
export function requireOwnForm(ctx: Context, baseUrl: string): void {
  if (ctx.get('X-CSRF-TOKEN') === '' && isForeign(ctx, baseUrl)) {
    throw new AppsError('CsrfError', 'This form was sent from a page of another address.');
  }
}

function isForeign(ctx: Context, baseUrl: string): boolean {
  const site = ctx.get('Sec-Fetch-Site').toLowerCase();
  if (site !== '') return site !== 'same-origin' && site !== 'none';
  const origin = ctx.get('Origin');
  // `null` is what browsers send for forms of pages without a referrer, which Strapi's own pages are by default.
  if (origin === '' || origin === 'null') return false;
  return ![ctx.get('Host'), new URL(baseUrl).host].includes(/^https?:\/\/(.+)$/.exec(origin)?.[1] ?? '');
}
