import { randomUUID } from 'node:crypto';
import type { Context } from 'koa';

/** An id of a proxy or a client that is taken over: short, and nothing but what every log and page can show. */
const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/;

/** As Node.js names it. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Where a request's state has its id, and the app that it is about. */
interface Identified {
  state: { appsRequestId?: string; appsAbout?: { site: string; app: string } };
}

/** Gives a request an id, that of its `x-request-id` where it is well-formed, and says it in the answer's. */
export function giveRequestId(ctx: Context & Identified): string {
  const given = ctx.get(REQUEST_ID_HEADER);
  const id = REQUEST_ID.test(given) ? given : randomUUID();
  ctx.state.appsRequestId = id;
  ctx.set(REQUEST_ID_HEADER, id);
  return id;
}

/** What a line of the log says of the request in which it is written; undefined for one that is not at an address of the plugin. */
export const logFieldsOf = ({ state }: Identified): Record<string, string> | undefined =>
  state.appsRequestId === undefined ? undefined : { request: state.appsRequestId, ...state.appsAbout };

/** The id of a request at an address of the plugin: it is in its log lines, on its error page and in `x-request-id`. */
export const requestIdOf = ({ state }: Identified): string | undefined => state.appsRequestId;
