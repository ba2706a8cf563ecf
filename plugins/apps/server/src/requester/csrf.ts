import { randomBytes } from 'node:crypto';
import { AppsError } from '../errors';
import type { Keyring } from './keyring';
import type { Requester } from './types';

/** Anti-forgery tokens (contract, section 5): stateless, bound to the credential kind and the identity. */
export interface Csrf {
  /** A fresh token for this requester; what `x-csrf-token` and `_csrf` carry. */
  issue(requester: Requester): string;
  /** CsrfError unless `token` was issued to this identity with this kind of credential, and is not too old. */
  verify(token: unknown, requester: Requester): void;
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
/** `<time, base 36>.<salt>.<mac>`; the salt makes every response's token another one (BREACH). */
const TOKEN = /^([0-9a-z]{1,11})\.([\w-]{12})\.([\w-]{43})$/;

const messages = {
  missing: 'The CSRF token is missing: send the value of the x-csrf-token header of GET <app> as X-CSRF-TOKEN.',
  wrong: 'The CSRF token is not valid for this requester: get a new one with GET <app>, with the same credentials.',
  old: 'The CSRF token is too old: get a new one with GET <app>.',
};

/** The bound values as an unambiguous list; the first part keeps these hashes apart from the plugin's other ones. */
const bound = (time: string, salt: string, requester: Requester): string[] => [
  'csrf',
  time,
  salt,
  requester.credential,
  requester.identity,
];

export function createCsrf({ keyring, maxAge, now = Date.now }: CsrfOptions): Csrf {
  return {
    issue(requester) {
      const time = now().toString(36);
      const salt = randomBytes(9).toString('base64url');
      return `${time}.${salt}.${keyring.sign(bound(time, salt, requester))}`;
    },
    verify(token, requester) {
      if (token === undefined || token === null || token === '') throw new AppsError('CsrfError', messages.missing);
      const match = typeof token === 'string' ? TOKEN.exec(token) : null;
      if (match === null) throw new AppsError('CsrfError', messages.wrong);
      const [, time = '', salt = '', mac = ''] = match;
      if (!keyring.verify(bound(time, salt, requester), mac)) throw new AppsError('CsrfError', messages.wrong);
      const age = now() - Number.parseInt(time, 36);
      if (age > maxAge || age < -CLOCK_SKEW) throw new AppsError('CsrfError', messages.old);
    },
  };
}
