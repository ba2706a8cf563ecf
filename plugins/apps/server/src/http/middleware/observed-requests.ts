import type { Context, Middleware, Next } from 'koa';
import { type SpanAttributes, spanned } from '../../common/spans';
import { withoutTokens } from '../../common/text';
import type { HttpServices } from '../request/exchange';
import { giveRequestId } from '../response/request-id';

/** The attributes of a request's span; null for a request that is not the plugin's. */
function attributesOf({ sites }: HttpServices, { method, path }: Context): SpanAttributes | null {
  try {
    const address = sites.parse(path);
    if (!address) return null;
    const found = { method, site: address.site, address: address.kind };
    return address.kind === 'app' ? { ...found, app: address.app } : found;
  } catch {
    return { method };
  }
}

/**
 * A middleware around all of Strapi's for requests at the plugin's addresses: gives each an id, counts it and makes it a span. Must be
 * used before Strapi's own are, in `register`.
 */
export function createObservedRequests(running: () => HttpServices | undefined): Middleware {
  return async (ctx: Context, next: Next) => {
    const services = running();
    const attributes = services && attributesOf(services, ctx);
    if (!services || !attributes) return next();
    const id = giveRequestId(ctx);
    const begun = performance.now();
    try {
      await spanned('request', () => ({ ...attributes, request_id: id }), next);
    } finally {
      // Strapi's log names the address after this.
      ctx.url = withoutTokens(ctx.url);
      services.metrics.request(ctx.state.appsAbout ?? null, ctx.status, performance.now() - begun);
    }
  };
}
