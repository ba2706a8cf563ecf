import { randomBytes } from 'node:crypto';
import { AppsError } from '../../common/errors';
import type { Keyring } from '../credentials/keyring';
import type { Requester } from '../types';
import { setCookie } from './cookies';

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

/** Anti-forgery tokens (docs/reference/http.md#csrf-tokens): stateless, so that every process verifies them. */
export interface Csrf {
  /**
   * A fresh token for this requester; what `x-csrf-token` and `_csrf` carry.
   * @param visitor the id in the visitor's cookie; null without one
   */
  issue(requester: Requester, visitor?: string | null): string;
  /** Whether the token was issued to the visitor with this id. Whether it is valid is what `verify` tells. */
  isOf(token: unknown, visitor: string): boolean;
  /** CsrfError unless `token` was issued to this identity with this kind of credential, and is not too old. */
  verify(token: unknown, requester: Requester): void;
  /** A fresh token for the login form, good only in the browser whose login cookie has this value. */
  issueLogin(browser: string): string;
  /** CsrfError unless `token` was issued for the login form of this browser, and is not too old. */
  verifyLogin(token: unknown, browser: string): void;
}

interface CsrfOptions {
  keyring: Keyring;
  /** Age limit in milliseconds. */
  maxAge: number;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/** How far the clock of the process that issued a token may be ahead, in milliseconds. */
const CLOCK_SKEW = 60_000;
/**
 * `<time, base 36>.<salt>.<mac>`; the salt makes the token of every response different (BREACH). That of a visitor ends with a mac of
 * the visitor: so a token of their own page differs from one that another page has requested.
 */
const TOKEN = /^([0-9a-z]{1,11})\.([\w-]{12})\.([\w-]{43})$/;

const SALT = 12;
/** Characters of a salt that are random where the others are a mac. */
const RANDOM = 4;

interface Messages {
  missing: string;
  wrong: string;
  old: string;
}

const messages: Messages = {
  missing: 'The CSRF token is missing: send the value of the x-csrf-token header of GET <app> as X-CSRF-TOKEN.',
  wrong: 'The CSRF token is not valid for this requester: get a new one with GET <app>, with the same credentials.',
  old: 'The CSRF token is too old: get a new one with GET <app>.',
};

const notThisForm = 'This form was not opened in this browser, or too long ago, or the browser keeps no cookies.';
const loginMessages: Messages = { missing: notThisForm, wrong: notThisForm, old: notThisForm };

export function createCsrf({ keyring, maxAge, now = Date.now }: CsrfOptions): Csrf {
  /** The bound values as an unambiguous list; `purpose` keeps these hashes apart from the plugin's other ones. */
  const bound = (purpose: string, time: string, salt: string, holder: readonly string[]): string[] => [
    purpose,
    time,
    salt,
    ...holder,
  ];

  const ofVisitor = (time: string, random: string, visitor: string): string[] => [
    'csrf-visitor',
    time,
    random,
    visitor,
  ];

  const issue = (purpose: string, holder: readonly string[], visitor: string | null = null): string => {
    const time = now().toString(36);
    const random = randomBytes(9).toString('base64url');
    const start = random.slice(0, RANDOM);
    const salt = visitor === null ? random : (start + keyring.sign(ofVisitor(time, start, visitor))).slice(0, SALT);
    return `${time}.${salt}.${keyring.sign(bound(purpose, time, salt, holder))}`;
  };

  const verify = (token: unknown, purpose: string, holder: readonly string[], say: Messages): void => {
    if (token === undefined || token === null || token === '') throw new AppsError('CsrfError', say.missing);
    const match = typeof token === 'string' ? TOKEN.exec(token) : null;
    if (match === null) throw new AppsError('CsrfError', say.wrong);
    const [, time = '', salt = '', mac = ''] = match;
    if (!keyring.verify(bound(purpose, time, salt, holder), mac)) throw new AppsError('CsrfError', say.wrong);
    const age = now() - Number.parseInt(time, 36);
    if (age > maxAge || age < -CLOCK_SKEW) throw new AppsError('CsrfError', say.old);
  };

  return {
    issue: ({ credential, identity }, visitor) => issue('csrf', [credential, identity], visitor),
    isOf(token, visitor) {
      const [, time = '', salt = ''] = (typeof token === 'string' && TOKEN.exec(token)) || [];
      const start = salt.slice(0, RANDOM);
      const macs = keyring.all(ofVisitor(time, start, visitor));
      return macs.some((mac) => salt === (start + mac).slice(0, SALT));
    },
    verify: (token, { credential, identity }) => verify(token, 'csrf', [credential, identity], messages),
    issueLogin: (browser) => issue('login', [browser]),
    verifyLogin: (token, browser) => verify(token, 'login', [browser], loginMessages),
  };
}
