import { randomUUID } from 'node:crypto';
import type { Context } from 'koa';

/** An id of a proxy or a client that is taken over: short, and nothing but what every log and page can show. */
const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/;

/** Where a request's state has its id. */
interface Identified {
  state: { appsRequestId?: string };
}

/** Gives a request an id, that of its `x-request-id` where it is well-formed, and says it in the answer's. */
export function giveRequestId(ctx: Context & Identified): string {
  const given = ctx.get('X-Request-Id');
  const id = REQUEST_ID.test(given) ? given : randomUUID();
  ctx.state.appsRequestId = id;
  ctx.set('X-Request-Id', id);
  return id;
}

/** The id of a request at an address of the plugin: it is in its log lines, on its error page and in `x-request-id`. */
export const requestIdOf = ({ state }: Identified): string | undefined => state.appsRequestId;
