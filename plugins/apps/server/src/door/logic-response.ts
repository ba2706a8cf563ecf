import type { Json } from '../../../shared/json';
import type { LogEntry, ResponseChanges } from '../logic/types';
import type { Exchange } from './exchange';
import { keepLog } from './pending-log';

/** Applies what logic made of the response (`context.request.response`) after everything else was set. */
export function applyLogicResponse(exchange: Exchange, done: { response: ResponseChanges; console: LogEntry[] }): void {
  const { ctx } = exchange;
  if (done.response.status !== null) ctx.status = done.response.status;
  ctx.set(done.response.headers);
  if (done.response.redirect !== null) redirect(exchange, done.response.redirect, done.console);
}

/**
 * Sends the text of an element with the media type that logic has set. A browser runs nothing in it, for the text may
 * hold what visitors have written, and it comes from the site's own address.
 */
export function answerTyped({ ctx }: Exchange, type: string, value: Json): void {
  ctx.set('Content-Type', `${type}; charset=utf-8`);
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.set('Content-Security-Policy', "default-src 'none'; sandbox");
  ctx.set('Cache-Control', 'private, no-store');
  ctx.body = typeof value === 'string' ? value : JSON.stringify(value);
}

/** 303 See Other; what the visitor's console shows goes along to the page that follows. */
export function redirect(exchange: Exchange, url: string, console: LogEntry[]): void {
  const { ctx } = exchange;
  keepLog(exchange, console);
  ctx.status = 303;
  ctx.set('Location', new URL(url).href);
  ctx.type = 'text/plain';
  ctx.body = 'See other';
}
