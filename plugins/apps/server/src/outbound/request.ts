import type { IncomingHttpHeaders } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { AppsError, isAppsError } from '../common/errors';
import { badGateway, hostOf, namesSecret, secretOf } from './hosts';
import type { Outbound, OutboundAnswer, OutboundRequest } from './types';

/** Characters of an address. */
const MAX_URL = 4000;
/** Headers of a call; characters of all their names and values. */
const MAX_HEADERS = 50;
const MAX_HEADER_TEXT = 16_000;

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
export interface CheckedCall {
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
export function checkRequest(request: OutboundRequest, limits: { timeout: number; size: number }): CheckedCall {
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
function urlOf(text: string, base?: URL): URL {
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

/** What `accept-encoding` offers, and the decoder of each. */
const decoders: Record<string, () => Transform> = { gzip: createGunzip, br: createBrotliDecompress };

export const acceptedEncodings = Object.keys(decoders).join(', ');

/**
 * The text of an answer, decoded and in its charset (UTF-8 without one). PayloadTooLargeError above `size` bytes, before or after
 * decoding: no more than that is held in memory, whatever a compressed answer would become.
 */
export async function readText(body: Readable, headers: IncomingHttpHeaders, size: number): Promise<string> {
  const encoding = String(headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase();
  const known = encoding === '' || encoding === 'identity' || Object.hasOwn(decoders, encoding);
  if (!known) {
    body.destroy();
    throw badGateway('its answer has an encoding that was not asked for');
  }
  const decoder = decoders[encoding]?.();
  const chunks: Buffer[] = [];
  const counted = bounded(size);
  const keep = async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of bounded(size)(source)) chunks.push(chunk);
  };
  if (decoder) await pipeline(body, counted, decoder, keep).catch(decodingFailed);
  else await pipeline(body, keep);
  return decoded(Buffer.concat(chunks), String(headers['content-type'] ?? ''));
}

/** Passes chunks on, up to `size` bytes. */
function bounded(size: number) {
  return async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > size)
        throw new AppsError(
          'PayloadTooLargeError',
          `The answer to the call is larger than ${size} bytes ("fetch.size")`,
        );
      yield chunk;
    }
  };
}

function decodingFailed(error: unknown): never {
  const { code } = Object(error) as { code?: unknown };
  if (typeof code === 'string' && /^(?:Z_|ERR_(?:_?ZLIB|BROTLI|_ERROR))/.test(code))
    throw badGateway('its answer cannot be decoded');
  throw error;
}

function decoded(bytes: Buffer, type: string): string {
  const [, label = 'utf-8'] = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(type) ?? [];
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    // A charset that is not known.
    return new TextDecoder().decode(bytes);
  }
}

/** Headers as logic sees them, in lower case. @param hide removes secrets */
export function shownHeaders(headers: IncomingHttpHeaders, hide: (text: string) => string): Record<string, string> {
  const shown = Object.entries(headers).map(([name, value]): [string, string] => {
    const text = Array.isArray(value) ? value.join(name === 'set-cookie' ? '\n' : ', ') : String(value);
    return [hide(name), hide(text)];
  });
  return Object.fromEntries(shown);
}

/** Answers the calls of an app in place of other hosts; null: it has no answer. */
export type Answerer = (appId: string, request: OutboundRequest) => OutboundAnswer | null;

/** Signs the webhooks of a test whose configuration lacks the secret. */
const SECRET = `whsec_${Buffer.from('tests of apps sign with this').toString('base64')}`;

/**
 * Calls out that tests of apps answer: while there is an answerer, nothing is sent, and neither hosts nor secrets of the configuration
 * are asked for (docs/reference/app-tests.md#web-services).
 */
export function answered(outbound: Outbound, answerer: () => Answerer | null): Outbound {
  return {
    ...outbound,
    check(appId, request) {
      if (!answerer()) outbound.check(appId, request);
    },
    secret: (name) => (answerer() ? (secretOf(outbound, name) ?? SECRET) : outbound.secret(name)),
    async call(appId, request) {
      const find = answerer();
      if (!find) return outbound.call(appId, request);
      const answer = find(appId, request);
      if (answer) return answer;
      const { method, url } = request;
      throw new AppsError(
        'BadRequestError',
        `The test has no answer for ${method} ${url}: give one with app.fetch.answer`,
      );
    },
  };
}

const redirecting: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Headers that are for the first host only. */
const credentials: ReadonlySet<string> = new Set(['authorization', 'cookie']);

/** Headers about a body, dropped with it. */
const aboutBody = /^content-/;

/**
 * The request that an answer redirects to, as the fetch standard makes it; null for an answer that is the last. BadGatewayError for
 * an address that no call can have.
 */
export function nextDraft(
  draft: CheckedCall,
  status: number,
  location: string | string[] | undefined,
): CheckedCall | null {
  if (!redirecting.has(status) || typeof location !== 'string' || location === '') return null;
  const url = target(location, draft.url);
  const { method } = draft;
  const becomesGet = (status === 303 && method !== 'GET' && method !== 'HEAD') || (status <= 302 && method === 'POST');
  const isSameHost = url.protocol === draft.url.protocol && hostOf(url) === hostOf(draft.url);
  const headers = [...draft.headers].filter(
    ([name, value]) =>
      !(becomesGet && aboutBody.test(name)) && (isSameHost || !(credentials.has(name) || namesSecret(value))),
  );
  return {
    ...draft,
    url,
    headers: new Map(headers),
    ...(becomesGet ? { method: 'GET', body: null } : {}),
  };
}

function target(location: string, base: URL): URL {
  try {
    return urlOf(location, base);
  } catch (error) {
    if (!isAppsError(error)) throw error;
    throw badGateway('it redirects to an address that cannot be called');
  }
}
