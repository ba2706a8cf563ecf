import type { Middleware } from 'koa';
import { AppsError } from '../errors';
import { type ErrorView, respondError } from './respond-error';

/**
 * Refuses every address of the Content Manager that names one of the plugin's own content types, whatever permissions a
 * role has kept: their entries are read and written by the plugin alone. `visible: false` in a schema only keeps a type out
 * of the Content Manager's menus.
 * @param uids of the content types
 */
export function createHiddenTypes(uids: readonly string[], logger: ErrorView['logger']): Middleware {
  const hidden = new Set(uids);
  return (ctx, next) => {
    // As Strapi's router reads them: in any case, and what it finds decoded.
    const [, root = '', ...segments] = ctx.path.split('/').map(decoded);
    if (root.toLowerCase() !== 'content-manager' || !segments.some((segment) => hidden.has(segment))) return next();
    return respondError(ctx, new AppsError('NotFoundError', 'This content type is not in the Content Manager'), {
      json: true,
      details: false,
      logger,
    });
  };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
