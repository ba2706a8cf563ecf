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

/** 303 See Other; what the visitor's console shows goes along to the page that follows. */
export function redirect(exchange: Exchange, url: string, console: LogEntry[]): void {
  const { ctx } = exchange;
  keepLog(exchange, console);
  ctx.status = 303;
  ctx.set('Location', new URL(url).href);
  ctx.type = 'text/plain';
  ctx.body = 'See other';
}
