import type { Context } from 'koa';
import type { LogEntry } from '../logic/types';
import type { Site } from '../sites/types';
import type { Exchange } from './exchange';

/**
 * Log entries on their way across a redirect, in a cookie of that visitor: no process has to remember them, and nobody
 * else can see them (contract, section 8).
 */
const COOKIE = 'apps_log';
/** A cookie holds about 4 kB in all; the rest of a long log is in the server's. */
const ROOM = 2_800;

export function keepLog(exchange: Exchange, logs: LogEntry[]): void {
  if (logs.length === 0) return;
  const kept: LogEntry[] = [];
  let size = 2;
  for (const entry of logs) {
    const short = { ...entry, message: entry.message.slice(0, 1_000) };
    size += Buffer.byteLength(JSON.stringify(short)) + 1;
    if (size > ROOM) break;
    kept.push(short);
  }
  const value = Buffer.from(JSON.stringify(kept)).toString('base64url');
  exchange.ctx.append('Set-Cookie', cookie(exchange.ctx, exchange.site, value, 60));
}

/** The entries that came along, and forgets them; anything malformed is no log. */
export function takeLog(ctx: Context, site: Site): LogEntry[] {
  const value = ctx.cookies.get(COOKIE);
  if (!value) return [];
  ctx.append('Set-Cookie', cookie(ctx, site, '', 0));
  try {
    const entries: unknown = JSON.parse(Buffer.from(value, 'base64url').toString());
    return Array.isArray(entries) ? entries.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function cookie(ctx: Context, { url }: Site, value: string, age: number): string {
  const secure = ctx.secure || url.startsWith('https:') ? '; Secure' : '';
  return `${COOKIE}=${value}; Path=${new URL(url).pathname}; Max-Age=${age}; HttpOnly; SameSite=Lax${secure}`;
}

function isEntry(value: unknown): value is LogEntry {
  return typeof value === 'object' && value !== null && typeof (value as LogEntry).message === 'string';
}
