import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Context } from 'koa';
import { setCookie } from '../../auth';
import type { LogEntry } from '../../logic/types';
import type { Site } from '../../sites/types';
import type { Exchange } from '../request/exchange';

/**
 * A cookie of the visitor carries log entries across a redirect: no process has to store them, and no other visitor can see
 * them (docs/reference/logic.md#contextapp). They are compressed, because a cookie holds about 4 kB in all; entries that do
 * not fit are counted.
 */
const COOKIE = 'apps_log';
const MAX_PACKED = 2_800;

/** Characters of one message, and of all entries before they are packed. */
const MAX_MESSAGE = 2_000;
const MAX_ENTRIES = 60_000;

/** Keeps entries of the log in a cookie, for the console of the page that a redirect leads to. */
export function keepLog(exchange: Exchange, logs: LogEntry[]): void {
  if (logs.length === 0) return;
  exchange.ctx.append('Set-Cookie', cookie(exchange.ctx, exchange.site, packed(logs), 60));
}

/** The first entries that fit, and a last one that says how many do not. */
export function packed(logs: readonly LogEntry[]): string {
  let size = 0;
  let kept = logs.map(cut).filter((entry) => {
    size += entry.message.length + 100;
    return size <= MAX_ENTRIES;
  });
  for (;;) {
    const text = pack([...kept, ...restOf(logs, kept.length)]);
    if (text.length <= MAX_PACKED || kept.length === 0) return text;
    kept = kept.slice(0, Math.floor((kept.length * 3) / 4));
  }
}

function cut(entry: LogEntry): LogEntry {
  const { message } = entry;
  if (message.length <= MAX_MESSAGE) return entry;
  const rest = message.length - MAX_MESSAGE;
  return { ...entry, message: `${message.slice(0, MAX_MESSAGE)}… (${rest} more characters in the server's log)` };
}

/** A note instead of the entries from `start` on. */
function restOf(logs: readonly LogEntry[], start: number): LogEntry[] {
  const [first] = logs.slice(start);
  if (!first) return [];
  const message = `… and ${logs.length - start} more, too long for a redirect: the server's log has them`;
  return [{ app: first.app, block: null, line: null, message }];
}

const pack = (entries: LogEntry[]): string => deflateRawSync(JSON.stringify(entries)).toString('base64url');

/** Reads the entries from the cookie and deletes it; a malformed cookie counts as empty. */
export function takeLog(ctx: Context, site: Site): LogEntry[] {
  const value = ctx.cookies.get(COOKIE);
  if (!value) return [];
  ctx.append('Set-Cookie', cookie(ctx, site, '', 0));
  return unpacked(value);
}

/** Reverses `packed`; the unpacked size is bounded, because a visitor can set the cookie. */
export function unpacked(value: string): LogEntry[] {
  try {
    const bytes = inflateRawSync(Buffer.from(value, 'base64url'), { maxOutputLength: 5 * MAX_ENTRIES });
    const entries: unknown = JSON.parse(bytes.toString());
    return Array.isArray(entries) ? entries.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function cookie(ctx: Context, { url }: Site, value: string, age: number): string {
  const secure = ctx.secure || url.startsWith('https:');
  return setCookie(COOKIE, value, { path: new URL(url).pathname, maxAge: age, secure });
}

function isEntry(value: unknown): value is LogEntry {
  return typeof value === 'object' && value !== null && typeof (value as LogEntry).message === 'string';
}
