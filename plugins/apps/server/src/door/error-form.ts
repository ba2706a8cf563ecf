import type { Context, Middleware, Next } from 'koa';
import { AppsError, type ErrorName } from '../errors';
import type { DoorServices } from './exchange';
import { prefersJson } from './negotiate';
import { respondError } from './respond-error';

/** What Strapi's own middlewares refuse before the door is reached, by status: above all the body parser. */
const refusals: Record<number, { name: ErrorName; message: string }> = {
  400: { name: 'BadRequestError', message: 'The body cannot be read' },
  413: { name: 'PayloadTooLargeError', message: 'The body is too large' },
  415: { name: 'UnsupportedMediaTypeError', message: 'The body is of a type that is not taken' },
  500: { name: 'InternalServerError', message: 'Something went wrong' },
};

/** The body parser has no word for a compressed body that is broken: it fails. */
const isBrokenEncoding = (ctx: Context) => ctx.status === 500 && ctx.get('Content-Encoding') !== '';

/**
 * A middleware around all of Strapi's: what those refuse at one of the plugin's addresses gets the form of the
 * plugin's errors (contract, section 4). Must be used before Strapi's own are, in `register`.
 */
export function createErrorForm(services: () => DoorServices | undefined): Middleware {
  return async (ctx: Context, next: Next) => {
    await next();
    const running = services();
    const refusal = refusals[isBrokenEncoding(ctx) ? 400 : ctx.status];
    if (!refusal || !running || ctx.state.appsAnswered || !isOurs(running, ctx.path)) return;
    const said = (ctx.body as { error?: { message?: unknown } } | undefined)?.error?.message;
    const reason = ctx.status === 400 && typeof said === 'string' ? `${refusal.message}: ${said}` : refusal.message;
    respondError(ctx, new AppsError(refusal.name, reason), {
      json: prefersJson(ctx),
      details: false,
      logger: running.logger,
    });
  };
}

function isOurs(services: DoorServices, path: string): boolean {
  try {
    return services.sites.parse(path) !== null;
  } catch {
    return true;
  }
}
