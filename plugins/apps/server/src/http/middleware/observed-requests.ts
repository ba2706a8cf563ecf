import type { Context, Middleware, Next } from 'koa';
import { type SpanAttributes, spanned } from '../../common/spans';
import type { HttpServices } from '../request/exchange';
import { hideToken } from '../request/request-data';
import { giveRequestId } from '../response/request-id';

/** What is known of a request by its address; null for a request that is not the plugin's. */
function knownOf({ sites }: HttpServices, { method, path }: Context): { about: SpanAttributes; token?: string } | null {
  try {
    const address = sites.parse(path);
    if (!address) return null;
    const about = { method, site: address.site, address: address.kind };
    if (address.kind !== 'app') return { about };
    const { app, target } = address;
    return { about: { ...about, app }, ...('token' in target && { token: target.token }) };
  } catch {
    return { about: { method } };
  }
}

/**
 * A middleware around all of Strapi's for requests at the plugin's addresses: gives each an id, counts it and makes it a span. Must be
 * used before Strapi's own are, in `register`.
 */
export function createObservedRequests(running: () => HttpServices | undefined): Middleware {
  return async (ctx: Context, next: Next) => {
    const services = running();
    const known = services && knownOf(services, ctx);
    if (!services || !known) return next();
    // Before anything names the address, such as Strapi's log.
    if (known.token !== undefined) hideToken(ctx, known.token);
    const id = giveRequestId(ctx);
    const begun = performance.now();
    try {
      const outcome = () => ({ attributes: { status: ctx.status }, isError: ctx.status >= 500 });
      await spanned('request', () => ({ ...known.about, request_id: id }), next, outcome);
    } finally {
      services.metrics.request(ctx.state.appsAbout ?? null, ctx.status, performance.now() - begun);
    }
  };
}
