import type { Context, Middleware, Next } from 'koa';
import { type SpanAttributes, spanned } from '../../common/spans';
import type { HttpServices } from '../request/exchange';
import { addressOf, isOurs } from '../request/locate';
import { giveRequestId } from '../response/request-id';

/** What a span says of a request by its address. */
function aboutOf(ctx: Context): SpanAttributes {
  const { method } = ctx;
  const address = addressOf(ctx);
  if (!address) return { method };
  const about = { method, site: address.site, address: address.kind };
  return address.kind === 'app' ? { ...about, app: address.app } : about;
}

/**
 * A middleware around all of Strapi's for requests at the plugin's addresses: gives each an id, counts it and makes it a span. Must be
 * used before Strapi's own are, in `register`.
 */
export function createObservedRequests(running: () => HttpServices | undefined): Middleware {
  return async (ctx: Context, next: Next) => {
    const services = running();
    // Before anything names the address, such as Strapi's log: it may have a token.
    if (!services || !isOurs(ctx, services.sites)) return next();
    const id = giveRequestId(ctx);
    const begun = performance.now();
    try {
      const outcome = () => ({ attributes: { status: ctx.status }, isError: ctx.status >= 500 });
      await spanned('request', () => ({ ...aboutOf(ctx), request_id: id }), next, outcome);
    } finally {
      services.metrics.request(ctx.state.appsAbout ?? null, ctx.status, performance.now() - begun);
    }
  };
}
