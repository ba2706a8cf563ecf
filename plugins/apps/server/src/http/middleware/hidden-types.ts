import type { Middleware } from 'koa';
import { notFound } from '../../common/errors';
import { percentDecoded } from '../../common/values/percent';
import { type ErrorView, respondError } from '../response/respond-error';

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
    return respondError(ctx, notFound('This content type is not in the Content Manager'), {
      json: true,
      details: false,
      logger,
    });
  };
}
