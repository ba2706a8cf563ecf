import { randomBytes } from 'node:crypto';
import type { Keyring } from '../credentials/keyring';

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
      return `${VISITOR_COOKIE}=${value}; Path=${path}; Max-Age=${MAX_AGE}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
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
