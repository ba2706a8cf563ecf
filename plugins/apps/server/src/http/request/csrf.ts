import type { Context } from 'koa';
import { hidesSender, type Requesters } from '../../auth';
import type { Requester } from '../../auth/types';
import { AppsError, isAppsError } from '../../common/errors';
import type { Identified } from './exchange';
import { linkToken } from './locate';

/** The token that a request carries, `''` without one: the header `X-CSRF-TOKEN`, or the hidden field `_csrf` of a rendered form. */
export function csrfOf(ctx: Context): string {
  const header = ctx.get('X-CSRF-TOKEN');
  if (header !== '') return header;
  const field = (ctx.request as { body?: { _csrf?: unknown } }).body?._csrf;
  return typeof field === 'string' ? field : '';
}

/**
 * CsrfError for a form that a page of another origin has sent, as far as the browser tells the origin. A request with the
 * header `X-CSRF-TOKEN` passes: no form can send one, and a script of another origin only where the host's CORS settings
 * allow it.
 */
export function requireOwnForm(ctx: Context, requesters: Pick<Requesters, 'takesCookies'>): void {
  if (ctx.get('X-CSRF-TOKEN') !== '' || requesters.takesCookies(ctx)) return;
  throw new AppsError('CsrfError', 'This form was sent from a page of another address.');
}

const STALE = 'This form was open for too long, or was opened under another name. Please check it and send it again.';

/**
 * Whether a changing request needs no token: no page can make a browser send a bearer token that it does not know
 * (docs/reference/http.md#csrf-tokens). A token that it sends all the same is checked.
 */
const needsNone = (ctx: Context, { credential }: Requester): boolean => credential === 'bearer' && csrfOf(ctx) === '';

/**
 * The same for a client that has the token of a signed link: no page that does not know it can make a browser send it. A browser that
 * says that a page of another origin sends the request is refused all the same.
 */
const isByLink = ({ ctx, services, address, isForm }: Identified): boolean =>
  linkToken(address) !== null && !isForm && csrfOf(ctx) === '' && services.requesters.takesCookies(ctx);

/**
 * CsrfError for the cookie of a visitor without a login, where the request hides its sender and its token is not this visitor's: any page
 * can fetch a token of anonymous visitors for itself, and the cookie owns records.
 */
function requireTokenOfVisitor({ ctx, services: { requesters }, site, requester }: Identified): void {
  if (requester.kind !== 'anonymous' || !hidesSender(ctx)) return;
  const { visitors, csrf } = requesters;
  const visitor = visitors.read(site.id, ctx.cookies.get(visitors.cookie));
  if (visitor !== null && !csrf.isOf(csrfOf(ctx), visitor)) throw new AppsError('CsrfError', STALE);
}

/**
 * Checks the token of a changing request: CsrfError. A form of one of the site's own pages whose token is no longer valid
 * is given back as an error instead: it is shown again with a fresh token and carries out nothing. What the panel sends stores nothing.
 */
export function checkToken(request: Identified): AppsError | undefined {
  const { ctx, services, sender, requester, isForm } = request;
  const { requesters } = services;
  if (sender.kind === 'panel' || needsNone(ctx, requester) || isByLink(request)) return undefined;
  if (requester.credential === 'cookie') requireOwnForm(ctx, requesters);
  try {
    requesters.csrf.verify(csrfOf(ctx), requester);
    requireTokenOfVisitor(request);
    return undefined;
  } catch (error) {
    const isOwn = ctx.get('X-CSRF-TOKEN') === '' && csrfOf(ctx) !== '' && requesters.takesCookies(ctx);
    if (!isForm || !isOwn || !isAppsError(error, 'CsrfError')) throw error;
    return new AppsError('CsrfError', STALE);
  }
}
