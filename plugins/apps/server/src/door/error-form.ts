import type { Context, Middleware, Next } from 'koa';
import { AppsError, type ErrorName } from '../errors';
import { MAX_FIELDS } from './body';
import type { DoorServices } from './exchange';
import { isOurs, mediaType, prefersJson } from './negotiate';
import { respondError } from './respond-error';

/** What Strapi's own middlewares refuse before the door is reached, by status: above all the body parser. */
const refusals: Record<number, { name: ErrorName; message: string }> = {
  400: { name: 'BadRequestError', message: 'The body cannot be read' },
  413: { name: 'PayloadTooLargeError', message: 'The body is too large' },
  415: { name: 'UnsupportedMediaTypeError', message: 'The body is of a type that is not taken' },
  500: { name: 'InternalServerError', message: 'Something went wrong' },
};

/** The body parser has no word for some bodies that cannot be read: it fails. */
const unreadable: { is(ctx: Context): boolean; message: string }[] = [
  {
    is: (ctx) => mediaType(ctx) === 'multipart/form-data',
    message: `The form cannot be read: it has more than ${MAX_FIELDS} fields, or is not well formed`,
  },
  { is: (ctx) => ctx.get('Content-Encoding') !== '', message: 'The body cannot be read' },
];

function refusalOf(ctx: Context): { name: ErrorName; message: string } | undefined {
  const body = ctx.status === 500 && unreadable.find(({ is }) => is(ctx));
  return body ? { name: 'BadRequestError', message: body.message } : refusals[ctx.status];
}

/**
 * A middleware around all of Strapi's: what those refuse at one of the plugin's addresses gets the form of the
 * plugin's errors (contract, section 4). Must be used before Strapi's own are, in `register`.
 */
export function createErrorForm(services: () => DoorServices | undefined): Middleware {
  return async (ctx: Context, next: Next) => {
    await next();
    const running = services();
    const refusal = refusalOf(ctx);
    if (!refusal || !running || ctx.state.appsAnswered || !isOurs(running.sites, ctx.path)) return;
    const said = (ctx.body as { error?: { message?: unknown } } | undefined)?.error?.message;
    const reason = ctx.status === 400 && typeof said === 'string' ? `${refusal.message}: ${said}` : refusal.message;
    await respondError(ctx, new AppsError(refusal.name, reason), {
      json: prefersJson(ctx),
      details: false,
      logger: running.logger,
    });
  };
}
