import type { Context, Middleware, Next } from 'koa';
import { AppsError, type ErrorName } from '../../common/errors';
import { MAX_FIELDS } from '../request/body';
import type { HttpServices } from '../request/exchange';
import { isOurs } from '../request/locate';
import { mediaType } from '../request/negotiate';
import { earlyView, respondError } from '../response/respond-error';

/** Refusals of Strapi's own middlewares, mostly of its body parser, by status. */
const refusals: Record<number, { name: ErrorName; message: string }> = {
  400: { name: 'BadRequestError', message: 'The body cannot be read' },
  413: { name: 'PayloadTooLargeError', message: 'The body is too large' },
  415: { name: 'UnsupportedMediaTypeError', message: 'The body is of a type that is not taken' },
  500: { name: 'InternalServerError', message: 'Something went wrong' },
};

/** Some unreadable bodies make the body parser fail with a 500. */
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
 * A middleware around all of Strapi's: if one of them refuses a request at one of the plugin's addresses, the answer
 * gets the form of the plugin's errors (docs/errors.md#form). Must be used before Strapi's own are, in `register`.
 */
export function createErrorForm(services: () => HttpServices | undefined): Middleware {
  return async (ctx: Context, next: Next) => {
    await next();
    const running = services();
    const refusal = refusalOf(ctx);
    if (!refusal || !running || ctx.state.appsAnswered || !isOurs(ctx, running.sites)) return;
    const said = (ctx.body as { error?: { message?: unknown } } | undefined)?.error?.message;
    const reason = ctx.status === 400 && typeof said === 'string' ? `${refusal.message}: ${said}` : refusal.message;
    await respondError(ctx, new AppsError(refusal.name, reason), earlyView(ctx, running));
  };
}
