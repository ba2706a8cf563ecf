import { randomBytes } from 'node:crypto';
import { AppsError } from '../../common/errors';
import type { Keyring } from '../credentials/keyring';
import type { Requester } from '../types';

/** Anti-forgery tokens (docs/reference/http.md#csrf-tokens): stateless, so that every process verifies them. */
export interface Csrf {
  /** A fresh token for this requester; what `x-csrf-token` and `_csrf` carry. */
  issue(requester: Requester): string;
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
/** `<time, base 36>.<salt>.<mac>`; the salt makes the token of every response different (BREACH). */
const TOKEN = /^([0-9a-z]{1,11})\.([\w-]{12})\.([\w-]{43})$/;

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

  const issue = (purpose: string, holder: readonly string[]): string => {
    const time = now().toString(36);
    const salt = randomBytes(9).toString('base64url');
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
    issue: ({ credential, identity }) => issue('csrf', [credential, identity]),
    verify: (token, { credential, identity }) => verify(token, 'csrf', [credential, identity], messages),
    issueLogin: (browser) => issue('login', [browser]),
    verifyLogin: (token, browser) => verify(token, 'login', [browser], loginMessages),
  };
}
