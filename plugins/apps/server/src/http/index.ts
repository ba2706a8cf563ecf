import type { Context, Middleware, Next } from 'koa';
import type { Address } from '../sites/types';
import { createPublicOrigin } from './middleware/headers';
import { type Checks, createOperate } from './operate';
import { answer, errorViewOf } from './pipeline';
import { closeUnlessEnded, defersForm, hasBody } from './request/body';
import { type Arrived, arrivedRequest, type HttpServices, type RequestSender } from './request/exchange';
import { hideAddress, isOurs, linkToken, locate } from './request/locate';
import { prefersJson } from './request/negotiate';
import { checkEncoded, checkUtf8 } from './request/text';
import { earlyView, respondError } from './response/respond-error';
import { addReloadScript } from './site/live';
import { offerLogin } from './site/login';
import { isPublic } from './site/own-addresses';

export { adminInterface } from './admin/interface';
export { type CreateContext, inject } from './inject';
export { boundedBodies, createErrorForm } from './middleware/bounded-body';
export { createHiddenTypes, rememberedHeaders } from './middleware/headers';
export { createObservedRequests, type OpenRequests, watchRequests } from './middleware/observed-requests';
export { appDocument, siteDocument } from './openapi/document';
export type { Checks } from './operate';
export { createBaseUrl, type HttpServices, panelUrl } from './request/exchange';
export { logFieldsOf } from './response/respond-error';
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
    const operated = operate(ctx);
    if (operated && (await operated)) {
      ctx.state.appsAnswered = true;
      return;
    }
    // Outside of the try: Strapi answers the errors of its own routes.
    if (!isOurs(ctx, services.sites)) return next();
    ctx.state.appsAnswered = true;
    let arrived: Arrived | undefined;
    let version: string | undefined;
    try {
      const address = checkedAddress(services, ctx);
      arrived = arrivedRequest({ ctx, services, address, sender: client, json: prefersJson(ctx) });
      allowPublicOrigin(ctx);
      if (!isPublic.has(address.kind)) {
        varyBySender(ctx);
        if (services.reloads) version = await services.reloads.version();
      }
      await answer(arrived);
    } catch (error) {
      if (!arrived) return respondError(ctx, error, earlyView(ctx, services));
      if (await offerLogin(arrived, error)) return;
      if (hasBody(ctx) && defersForm(ctx)) closeUnlessEnded(ctx.req);
      return respondError(ctx, error, errorViewOf(arrived));
    } finally {
      if (arrived && version !== undefined)
        addReloadScript(ctx, `${services.baseUrl()}/${arrived.address.site}`, version);
    }
  };
}

const client: RequestSender = { kind: 'client' };

/** The address of a request that is the plugin's. BadRequestError for one that is not UTF-8; the parser's error for a wrong one. */
function checkedAddress({ sites }: HttpServices, ctx: Context): Address {
  const { address, error } = locate(ctx, sites);
  // Not earlier: Strapi's own headers, which the host configures, would replace them.
  if (linkToken(address) !== null) hideAddress(ctx);
  checkUtf8(Buffer.from(ctx.url, 'latin1'), 'The address');
  checkEncoded(ctx.url, 'The address');
  if (!address) throw error;
  return address;
}
