import { randomBytes } from 'node:crypto';
import type { Keyring } from '../credentials/keyring';
import { setCookie } from './cookies';

/** Name of the cookie that tells visitors without a login from each other. */
const VISITOR_COOKIE = 'apps_visitor';

/** Seconds for which a browser keeps it. */
const MAX_AGE = 365 * 24 * 60 * 60;

/** `<id>.<mac>` */
const VALUE = /^([\w-]{22})\.([\w-]{43})$/;

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
      const [, id = '', mac = ''] = VALUE.exec(value ?? '') ?? [];
      return id !== '' && keyring.verify(['visitor', site, id], mac) ? id : null;
    },
    header(site, id, path, secure) {
      const value = `${id}.${keyring.sign(['visitor', site, id])}`;
      return setCookie(VISITOR_COOKIE, value, { path, maxAge: MAX_AGE, secure });
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
