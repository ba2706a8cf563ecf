import { randomBytes } from 'node:crypto';
import { AppsError } from '../../common/errors';
import { setCookie } from './cookies';
import type { Csrf } from './csrf';

/** Name of the cookie that ties the login form to the browser it was opened in, before there is a session. */
export const LOGIN_COOKIE = 'apps_login';

/** 128 random bits, base64url. */
const VALUE = /^[\w-]{22}$/;

/** The token of a login form, and the cookie that goes with it. */
export interface OpenedForm {
  /** The hidden field `_csrf`. */
  token: string;
  /** The `Set-Cookie` header; null when the browser has its cookie already. */
  cookie: string | null;
}

/**
 * Opens a login form in a browser. Its token is valid only together with the browser's login cookie: a token from one
 * browser cannot log in another one (docs/decisions/login-form.md).
 * @param cookie value of the request's login cookie, if it has one
 */
export function openLoginForm(csrf: Csrf, cookie: string | undefined, secure: boolean): OpenedForm {
  const known = knownBrowser(cookie, secure);
  return { token: csrf.issueLogin(known.browser), cookie: known.cookie };
}

/** The value of a browser's login cookie, and the `Set-Cookie` header for a browser that had none. */
export function knownBrowser(cookie: string | undefined, secure: boolean): { browser: string; cookie: string | null } {
  if (cookie !== undefined && VALUE.test(cookie)) return { browser: cookie, cookie: null };
  const fresh = randomBytes(16).toString('base64url');
  return { browser: fresh, cookie: setCookie(LOGIN_COOKIE, fresh, { secure }) };
}

/** CsrfError unless the token was issued for a login form in the browser with this cookie. */
export function checkLoginForm(csrf: Csrf, cookie: string | undefined, token: unknown): void {
  if (cookie === undefined || !VALUE.test(cookie)) {
    throw new AppsError('CsrfError', 'The login form was not opened in this browser, or it keeps no cookies.');
  }
  csrf.verifyLogin(token, cookie);
}

/**
 * Where to go after a login: `next` if it is a path inside the site, else the site's root. Safe against open redirects:
 * the path is resolved as a browser would (`..`, `%2e%2e`), and hosts, backslashes and control characters are refused.
 * @param next the request's parameter, of any type
 * @param siteUrl absolute URL of the site without trailing slash (`Site.url`)
 * @returns a path with query and fragment, starting with the site's path
 */
export function safeNext(next: unknown, siteUrl: string): string {
  const site = new URL(siteUrl);
  const root = `${site.pathname}/`;
  // Browsers drop tabs and line breaks, so that `/\t/host` would become `//host`.
  if (typeof next !== 'string' || !/^\/(?![/\\])[^\\\u0000-\u0020\u007f]*$/.test(next)) return root;
  let target: URL;
  try {
    target = new URL(next, site.origin);
  } catch {
    return root;
  }
  const inside =
    target.origin === site.origin && (target.pathname === site.pathname || target.pathname.startsWith(root));
  const ends = [`${root}@@login`, `${root}@@logout`].includes(target.pathname.replace(/%40/g, '@'));
  return inside && !ends ? `${target.pathname}${target.search}${target.hash}` : root;
}
