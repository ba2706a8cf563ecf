import type { Context } from 'koa';
import type { Address, Sites } from '../../sites/types';

/** What the path of a request is. */
interface Located {
  /** The path that was parsed: a middleware of the host may send the request to another one. */
  path: string;
  /** Null where it is not the plugin's, or wrong. */
  address: Address | null;
  /** Why an address of the plugin is wrong; null otherwise. */
  error: unknown;
}

/**
 * The address of a request. It is parsed once, by the first middleware that asks, and travels in the request's state. The token of a
 * signed link is then taken out of the path.
 */
export function locate(ctx: Context, sites: Pick<Sites, 'parse'>): Located {
  const known = locatedIn(ctx);
  if (known?.path === ctx.path) return known;
  const { address, error } = parsed(ctx.path, sites);
  if (linkToken(address) !== null) hideToken(ctx);
  const located: Located = { path: ctx.path, address, error };
  ctx.state.appsLocated = located;
  return located;
}

function parsed(path: string, sites: Pick<Sites, 'parse'>): Omit<Located, 'path'> {
  try {
    return { address: sites.parse(path), error: null };
  } catch (error) {
    return { address: null, error };
  }
}

/** The token of a signed link in an address; null without one. */
export const linkToken = (address: Address | null): string | null =>
  address?.kind === 'app' && 'token' in address.target ? address.target.token : null;

const locatedIn = (ctx: Context): Located | undefined => ctx.state.appsLocated as Located | undefined;

/** The address of a request that `locate` has seen; null where it is not the plugin's, or wrong. */
export const addressOf = (ctx: Context): Address | null => locatedIn(ctx)?.address ?? null;

/** Whether a request is the plugin's, even if its address is wrong. */
export function isOurs(ctx: Context, sites: Pick<Sites, 'parse'>): boolean {
  const { address, error } = locate(ctx, sites);
  return address !== null || error !== null;
}

/**
 * Takes the token of a signed link out of a request's path. It is as good as a password: neither logic, an error page nor a log sees it;
 * the request's address has it.
 */
function hideToken(ctx: Context): void {
  ctx.path = ctx.path.replace(/[^/]+(\/?)$/, 'hidden$1');
  ctx.originalUrl = ctx.url;
  ctx.request.originalUrl = ctx.url;
}

/** Headers by which a page keeps its address from others: that of a signed link has its token. */
export function hideAddress(ctx: Context): void {
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.set('Cache-Control', 'private, no-store');
  ctx.set('X-Robots-Tag', 'noindex, nofollow');
}

/** The address of a request as its sender has it, with the token of a signed link: for a form that is sent there again. */
export function sentAddress(ctx: Context, baseUrl: string): string {
  const address = baseUrl + ctx.originalUrl;
  const token = linkToken(addressOf(ctx));
  return token === null ? address : address.replace(/\/hidden(\/?(?:\?.*)?)$/s, `/${token}$1`);
}
