import { AppsError } from '../common/errors';
import { namesSecret } from './secrets';
import type { OutboundRequest } from './types';

/** Characters of an address. */
export const MAX_URL = 4000;
/** Headers of a call; characters of all their names and values. */
export const MAX_HEADERS = 50;
export const MAX_HEADER_TEXT = 16_000;

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Headers that the connection has, which only the server may set. */
const ownHeaders: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What HTTP allows: no control characters but the tab, and nothing above Latin-1. */
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A call with checked arguments; secrets are not put in yet. */
export interface Draft {
  url: URL;
  method: string;
  /** By name in lower case. */
  headers: ReadonlyMap<string, string>;
  body: string | null;
  /** Milliseconds. */
  timeout: number;
  /** Whether no secret is put in, and no redirect is followed. */
  isExact: boolean;
}

/** Throws BadRequestError for arguments that no call can have, and PayloadTooLargeError. */
export function draftOf(request: OutboundRequest, limits: { timeout: number; size: number }): Draft {
  const method = request.method.toUpperCase();
  if (!methods.has(method)) throw wrong(`the method must be one of ${[...methods].join(', ')}`);
  const { body } = request;
  if (body !== null && (method === 'GET' || method === 'HEAD')) throw wrong(`a ${method} request has no body`);
  if (body !== null) requireSize(body, limits.size);
  const timeout = request.timeout ?? limits.timeout;
  if (!(timeout >= 1 && timeout <= limits.timeout))
    throw wrong(`the timeout must be a number of milliseconds from 1 to ${limits.timeout}, which is "fetch.timeout"`);
  const { url, headers, isExact = false } = request;
  return { url: urlOf(url), method, headers: headersOf(headers), body, timeout, isExact };
}

/** PayloadTooLargeError for a body of more than `size` bytes. */
export function requireSize(body: string, size: number): void {
  if (Buffer.byteLength(body) > size)
    throw new AppsError('PayloadTooLargeError', `The body of the call is larger than ${size} bytes ("fetch.size")`, {
      isOfLogic: true,
    });
}

/** A checked address without its fragment, which is never sent. @param base that of the answer which redirects */
export function urlOf(text: string, base?: URL): URL {
  if (text.length > MAX_URL) throw wrong(`the address has more than ${MAX_URL} characters`);
  if (!URL.canParse(text, base?.href)) throw wrong('the address cannot be read; it must begin with https://');
  const url = new URL(text, base);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw wrong('the address must begin with https://');
  if (url.username !== '' || url.password !== '') throw wrong('credentials belong in a header, not in the address');
  if (namesSecret(text) || /%7b%7bsecret(?::|%3a)/i.test(url.href))
    throw wrong('a secret may be in a header or in the body, not in the address');
  url.hash = '';
  return url;
}

function headersOf(given: Record<string, string>): Map<string, string> {
  const headers = new Map<string, string>();
  let size = 0;
  for (const [name, value] of Object.entries(given)) {
    const key = name.toLowerCase();
    const shown = JSON.stringify(name.slice(0, 100));
    if (!namePattern.test(name)) throw wrong(`${shown} is not a name of a header`);
    if (ownHeaders.has(key)) throw wrong(`the header ${shown} is set by the server`);
    if (headers.has(key)) throw wrong(`the header ${shown} is given twice`);
    if (!valuePattern.test(value)) throw wrong(`the header ${shown} has a character that headers cannot have`);
    headers.set(key, value);
    size += name.length + value.length;
  }
  if (headers.size > MAX_HEADERS || size > MAX_HEADER_TEXT)
    throw wrong(`there are more than ${MAX_HEADERS} headers, or ${MAX_HEADER_TEXT} characters of them`);
  return headers;
}

const wrong = (what: string) => new AppsError('BadRequestError', `The call is wrong: ${what}`);
