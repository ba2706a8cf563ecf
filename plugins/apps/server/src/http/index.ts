import type { Context, Middleware, Next } from 'koa';
import type { Address } from '../sites/types';
import { answer, isPublic } from './answer';
import { createPublicOrigin } from './middleware/headers';
import { type Checks, createOperate } from './operate';
import { closeUnlessEnded, defersForm, hasBody } from './request/body';
import type { HttpServices } from './request/exchange';
import { checkEncoded, checkUtf8 } from './request/text';
import { earlyView, respondError } from './response/respond-error';
import { addReloadScript } from './site/live';

export { adminInterface } from './admin/interface';
export { appDocument, siteDocument } from './app/openapi-handlers';
export { type CreateContext, inject } from './inject';
export { boundedBodies } from './middleware/bounded-body';
export { createErrorForm } from './middleware/error-form';
export { createHiddenTypes, rememberedHeaders } from './middleware/headers';
export { createObservedRequests } from './middleware/observed-requests';
export { type OpenRequests, watchRequests } from './middleware/open-requests';
export type { Checks } from './operate';
export type { HttpServices } from './request/exchange';
export { createBaseUrl, panelUrl } from './request/exchange';
export { logFieldsOf } from './response/request-id';
export { createReloads } from './site/live';

/** The page that sent a request decides whether its cookie counts: caches must tell the answers apart. */
function varyBySender(ctx: Context): void {
  if (ctx.get('Cookie') !== '') ctx.vary('Origin, Sec-Fetch-Site, Sec-Fetch-Mode, Sec-Fetch-Dest');
}

/**
 * The plugin's one Koa middleware: answers its addresses, and passes on every other request. It reads the raw path, because
 * a router's decoded parameters lose the difference between `/` and `%2F`.
 */
export function createMiddleware(services: HttpServices, checks: Checks): Middleware {
  const operate = createOperate(services, checks);
  const allowPublicOrigin = createPublicOrigin(services.baseUrl);
  return async (ctx: Context, next: Next) => {
    if (await operate(ctx)) {
      ctx.state.appsAnswered = true;
      return;
    }
    const view = earlyView(ctx, services);
    let address: Address | null = null;
    let version: string | undefined;
    try {
      address = addressOf(services, ctx);
      if (address) {
        allowPublicOrigin(ctx);
        if (!isPublic.has(address.kind)) {
          varyBySender(ctx);
          version = await services.reloads?.version();
        }
        await answer(ctx, services, address, view);
      }
    } catch (error) {
      ctx.state.appsAnswered = true;
      if (await view.login?.(error)) return;
      if (hasBody(ctx) && defersForm(ctx, services.sites)) closeUnlessEnded(ctx.req);
      return respondError(ctx, error, view);
    } finally {
      if (address && version !== undefined) addReloadScript(ctx, `${services.baseUrl()}/${address.site}`, version);
    }
    // Outside of the try: Strapi answers the errors of its own routes.
    if (!address) return next();
    ctx.state.appsAnswered = true;
  };
}

/** The address of a request, null if it is not the plugin's. BadRequestError for one of the plugin's that is not UTF-8. */
function addressOf({ sites }: HttpServices, ctx: Context): Address | null {
  const check = () => {
    checkUtf8(Buffer.from(ctx.url, 'latin1'), 'The address');
    checkEncoded(ctx.url, 'The address');
  };
  try {
    const address = sites.parse(ctx.path);
    if (address) check();
    return address;
  } catch (error) {
    check();
    throw error;
  }
}
