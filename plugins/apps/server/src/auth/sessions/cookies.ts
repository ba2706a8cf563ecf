import { randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { stringifySetCookie } from 'cookie';
import type { Keyring } from '../credentials/keyring';

interface CookieOptions {
  /** The paths to which the browser sends it; by default all. */
  path?: string;
  /** Seconds for which the browser keeps it, 0 to delete it; by default until it is closed. */
  maxAge?: number;
  /** Whether the browser sends it over https only. */
  secure: boolean;
}

/**
 * The `Set-Cookie` header of a cookie of the plugin: no script reads it, and requests of other sites do not send it.
 * @param value of the characters that a cookie may have: it is not encoded. TypeError for others
 */
export function setCookie(name: string, value: string, { path = '/', ...options }: CookieOptions): string {
  return stringifySetCookie(name, value, { path, ...options, httpOnly: true, sameSite: 'lax', encode: String });
}

/** A message for a visitor, which the next page shows once. */
export interface FlashMessage {
  text: string;
  /** The address of a link after the message, for those who go on. */
  to?: string;
  /** The text of that link; by default that one goes on. */
  label?: string;
}

/** Name of the cookie that carries messages across a redirect. */
const FLASH_COOKIE = 'apps_flash';

/** Seconds for which a browser keeps it. */
const FLASH_AGE = 60;

/** Characters of the packed messages: a cookie holds about 4 kB in all. */
export const MAX_PACKED = 2_800;

/** Bytes of the messages before they are packed. */
const MAX_BYTES = 32_000;

/** `<messages>.<end, base 36>.<mac>` */
const FLASH_VALUE = /^([\w-]{1,2800})\.([0-9a-z]{1,11})\.([\w-]{43})$/;

/**
 * Signed messages in a cookie of the visitor (docs/decisions/flash-messages.md): no process stores them, and neither a link
 * nor a page of another site can put words into a page.
 */
export interface Flashes {
  readonly cookie: string;
  /** The messages in the value of a site's cookie; none of a forged one, of another site's, and of one that is too old. */
  read(site: string, value: string | undefined): FlashMessage[];
  /** The `Set-Cookie` header; it deletes the cookie where there are no messages. The oldest of too many are left out. */
  header(site: { id: string; path: string }, messages: readonly FlashMessage[], secure: boolean): string;
}

export function createFlashes({ keyring, now }: { keyring: Keyring; now: () => number }): Flashes {
  const signed = (site: string, packed: string): string => {
    const end = (now() + FLASH_AGE * 1000).toString(36);
    return `${packed}.${end}.${keyring.sign(['flash', site, packed, end])}`;
  };
  return {
    cookie: FLASH_COOKIE,
    read(site, value) {
      const [, packed = '', end = '', mac = ''] = FLASH_VALUE.exec(value ?? '') ?? [];
      if (packed === '' || !keyring.verify(['flash', site, packed, end], mac)) return [];
      return Number.parseInt(end, 36) < now() ? [] : unpack(packed);
    },
    header({ id, path }, messages, secure) {
      const value = messages.length === 0 ? '' : signed(id, pack(messages));
      return setCookie(FLASH_COOKIE, value, { path, maxAge: messages.length === 0 ? 0 : FLASH_AGE, secure });
    },
  };
}

function pack(messages: readonly FlashMessage[]): string {
  const packed = deflateRawSync(JSON.stringify(messages)).toString('base64url');
  return packed.length <= MAX_PACKED || messages.length === 1 ? packed : pack(messages.slice(1));
}

/** The value was signed here, so that it is what `pack` has made. */
const unpack = (packed: string): FlashMessage[] =>
  JSON.parse(inflateRawSync(Buffer.from(packed, 'base64url'), { maxOutputLength: MAX_BYTES }).toString());

/** Name of the cookie that tells visitors without a login from each other. */
const VISITOR_COOKIE = 'apps_visitor';

/** Seconds for which a browser keeps it. */
const VISITOR_AGE = 365 * 24 * 60 * 60;

/** `<id>.<mac>` */
const VISITOR_VALUE = /^([\w-]{22})\.([\w-]{43})$/;

/** `<time, base 36>.<mac>` */
const SHOWN = /^([0-9a-z]{1,11})\.([\w-]{43})$/;

/** Signed marks of visitors without a login, and of when they were shown a form. */
export interface Visitors {
  /** A new visitor of a site. */
  create(): string;
  /** The id in the value of a site's cookie; null for a forged one, and for one of another site. */
  read(site: string, value: string | undefined): string | null;
  /** The `Set-Cookie` header. @param path of the site */
  header(site: string, id: string, path: string, secure: boolean): string;
  /** The mark of a form that is shown now. @param form names of the site, app and block */
  shown(form: readonly string[]): string;
  /** Milliseconds since the form was shown; null for a mark that is forged, or of another form. */
  age(form: readonly string[], mark: string): number | null;
  readonly cookie: string;
}

export function createVisitors({ keyring, now }: { keyring: Keyring; now: () => number }): Visitors {
  return {
    cookie: VISITOR_COOKIE,
    create: () => randomBytes(16).toString('base64url'),
    read(site, value) {
      const [, id = '', mac = ''] = VISITOR_VALUE.exec(value ?? '') ?? [];
      return id !== '' && keyring.verify(['visitor', site, id], mac) ? id : null;
    },
    header(site, id, path, secure) {
      const value = `${id}.${keyring.sign(['visitor', site, id])}`;
      return setCookie(VISITOR_COOKIE, value, { path, maxAge: VISITOR_AGE, secure });
    },
    shown(form) {
      const time = now().toString(36);
      return `${time}.${keyring.sign(['shown', ...form, time])}`;
    },
    age(form, mark) {
      const [, time = '', mac = ''] = SHOWN.exec(mark) ?? [];
      return time !== '' && keyring.verify(['shown', ...form, time], mac) ? now() - Number.parseInt(time, 36) : null;
    },
  };
}

/** The part of a request that tells which page has sent it. */
export interface SenderContext {
  method?: string;
  /** Name and port of the server in the request. */
  host?: string;
  request: {
    headers: {
      origin?: string | undefined;
      'sec-fetch-site'?: string | string[] | undefined;
      'sec-fetch-mode'?: string | string[] | undefined;
      'sec-fetch-dest'?: string | string[] | undefined;
    };
  };
}

interface OwnOrigins {
  /** Strapi's `server.url`: '' or a path where the host has none. */
  publicUrl: string;
  /** Other origins whose pages may act for a visitor, as browsers send them. */
  trusted: readonly string[];
}

/** Methods that change nothing unless logic does: they need no CSRF token (docs/reference/http.md#csrf-tokens). */
export const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a page of another origin has sent a request, as far as the browser says. Its cookies then prove nothing about the
 * requester: `SameSite` lets them pass from other ports and subdomains, whose pages may be anyone's. A link from elsewhere
 * is not foreign: a visitor who follows it sees the page, not the site that linked to it.
 *
 * `Sec-Fetch-Site` is the most reliable, but is sent to https and localhost only; elsewhere `Origin` is used, except for a
 * form on a page without a referrer (Strapi's default), which sends `Origin: null`: there the CSRF token is the proof.
 */
export function isUntrustedOrigin(sent: SenderContext, { publicUrl, trusted }: OwnOrigins): boolean {
  const { headers } = sent.request;
  const { origin, 'sec-fetch-site': site } = headers;
  const method = sent.method ?? 'GET';
  if (origin !== undefined && trusted.includes(origin)) return false;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none' && !isTopNavigation(method, headers);
  if (origin === undefined) return false;
  if (origin === 'null') return safeMethods.has(method);
  const from = hostOf(origin);
  return from === null || ![sent.host, hostOf(publicUrl)].includes(from);
}

/**
 * Whether a changing request does not say which page has sent it. A page that sends no referrer may be any page of this host's ports and
 * subdomains, to which the browser sends cookies, too: they prove nothing without a CSRF token of the same browser.
 */
export const hidesSender = ({ method = 'GET', request: { headers } }: SenderContext): boolean =>
  headers.origin === 'null' && headers['sec-fetch-site'] === undefined && !safeMethods.has(method);

/** Whether the browser says that a page of another origin sent the request or linked to it. */
export function isCrossOrigin({ request: { headers } }: SenderContext): boolean {
  const { 'sec-fetch-site': site } = headers;
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

/** A followed link or an entered address: the page replaces another one. */
function isTopNavigation(method: string, headers: SenderContext['request']['headers']): boolean {
  const isDocument = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return isDocument && safeMethods.has(method);
}

/** Host and port of a URL; null for anything else. */
function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).host : null;
}
