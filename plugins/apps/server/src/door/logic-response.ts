import type { LogEntry, ResponseChanges } from '../logic/types';
import type { Exchange } from './exchange';
import { keepLog } from './pending-log';

/** Applies what logic made of the response (`context.request.response`) after everything else was set. */
export function applyLogicResponse(exchange: Exchange, done: { response: ResponseChanges; logs: LogEntry[] }): void {
  const { ctx } = exchange;
  if (done.response.status !== null) ctx.status = done.response.status;
  ctx.set(done.response.headers);
  if (done.response.redirect !== null) redirect(exchange, done.response.redirect, done.logs);
}

/** 303 See Other; the log of a debugged app goes along to the page that follows. */
export function redirect(exchange: Exchange, url: string, logs: LogEntry[]): void {
  const { ctx } = exchange;
  if (exchange.app.settings.debug) keepLog(exchange, logs);
  ctx.status = 303;
  ctx.set('Location', new URL(url).href);
  ctx.type = 'text/plain';
  ctx.body = 'See other';
}
