import type { OutgoingHttpHeader } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { Core } from '@strapi/strapi';
import type { Context, Middleware, Next } from 'koa';
import { notFound } from '../../common/errors';
import { percentDecoded } from '../../common/text';
import type { HttpServices } from '../request/exchange';
import { isOurs } from '../request/locate';
import { type ErrorView, jsonErrors, REQUEST_ID_HEADER, respondError } from '../response/respond-error';

/** Strapi's factory of a middleware, called with its part of `config/middlewares`. */
type MiddlewareFactory = (config: object, tools: { strapi: Core.Strapi }) => Middleware;

type Headers = Record<string, OutgoingHttpHeader | undefined>;

/** Answers in a row with the same headers before these are remembered: none of them is random. */
const SAME_BEFORE = 3;

/**
 * Wraps `strapi::security` for the plugin's addresses: headers that were the same for several requests are set for the later
 * ones too. Strapi merges its configuration and makes all of helmet's functions for each request, a sixth of the time of
 * reading a record. See docs/decisions/host-middlewares.md.
 * @param running the plugin's services once it has started
 */
export function rememberedHeaders(
  security: MiddlewareFactory,
  running: () => HttpServices | undefined,
): MiddlewareFactory {
  return (config, tools) => {
    const secure = security(config, tools);
    // A function may choose by anything that a request has.
    if (hasFunction(config)) return secure;
    let made: Headers | undefined;
    let same = 0;
    let paths: string[] | undefined;
    const special = () => {
      // The configuration is complete when the first request comes, and looking into it showed in a profile of searches.
      paths ??= specialPaths(tools.strapi);
      return paths;
    };
    return (ctx: Context, next: Next) => {
      const services = running();
      const isUsual =
        services !== undefined &&
        ctx.res.getHeaderNames().every((name) => name === REQUEST_ID_HEADER) &&
        isOurs(ctx, services.sites) &&
        !special().some((path) => ctx.path.startsWith(path));
      if (!isUsual) return secure(ctx, next);
      if (made && same >= SAME_BEFORE) {
        for (const name in made) ctx.res.setHeader(name, made[name] as OutgoingHttpHeader);
        return next();
      }
      return secure(ctx, () => {
        const { [REQUEST_ID_HEADER]: _, ...headers } = ctx.res.getHeaders();
        same = made && isDeepStrictEqual(headers, made) ? same + 1 : 1;
        made = headers;
        return next();
      });
    };
  };
}

/** Beginnings of paths for which Strapi sets other headers: its documentation, GraphQL, and its panel in development. */
function specialPaths(strapi: Core.Strapi): string[] {
  const graphql = strapi.plugin('graphql') as { config(key: string): unknown } | undefined;
  const paths = ['/documentation', strapi.config.get('admin.path'), graphql?.config('endpoint')];
  return paths.filter((path): path is string => typeof path === 'string');
}

function hasFunction(value: unknown): boolean {
  if (typeof value === 'function') return true;
  return value !== null && typeof value === 'object' && Object.values(value).some(hasFunction);
}

/**
 * Lets a page that was opened under another name of the server (127.0.0.1 instead of localhost) use the site's addresses,
 * which all begin with the public URL: wherever the Content-Security-Policy allows 'self', it then allows the public URL's
 * origin too.
 */
export function createPublicOrigin(baseUrl: () => string): (ctx: Context) => void {
  const header = 'Content-Security-Policy';
  let known = '';
  let own = { host: '', origin: '' };
  return (ctx) => {
    const url = baseUrl();
    if (url !== known) {
      own = new URL(url);
      known = url;
    }
    if (ctx.get('Host') === own.host) return;
    const policy = ctx.response.get(header);
    if (policy !== '') ctx.set(header, policy.replaceAll("'self'", `'self' ${own.origin}`));
  };
}

/**
 * Refuses every address of the Content Manager that names one of the plugin's own content types, also for roles that still
 * have permissions for it: only the plugin reads and writes their entries. `visible: false` in a schema only keeps a type
 * out of the Content Manager's menus.
 * @param uids of the content types
 */
export function createHiddenTypes(uids: readonly string[], logger: ErrorView['logger']): Middleware {
  const hidden = new Set(uids);
  return (ctx, next) => {
    // As Strapi's router matches them: in any case, and percent-decoded.
    const [, root = '', ...segments] = ctx.path.split('/').map((segment) => percentDecoded(segment) ?? segment);
    if (root.toLowerCase() !== 'content-manager' || !segments.some((segment) => hidden.has(segment))) return next();
    return respondError(ctx, notFound('This content type is not in the Content Manager'), jsonErrors(logger));
  };
}
