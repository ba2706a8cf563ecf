import type { Core } from '@strapi/strapi';
import type { IsSessionActive } from '../credentials/active-sessions';
import type { Keyring } from '../credentials/keyring';
import type { Users } from '../credentials/users';
import type { UserRow } from '../rights/roles';

/** Name of the plugin's session cookie. */
export const SESSION_COOKIE = 'apps_session';
/** Milliseconds after a login until its cookie expires. */
export const MAX_SESSION_AGE = 7 * 24 * 60 * 60_000;

/**
 * `origin` of the rows: Strapi ends them with the user's other sessions, after a change of the password or a logout
 * everywhere.
 */
const ORIGIN = 'users-permissions';
/** `<documentId>.<time, base 36>.<session id>.<mac>` */
const VALUE = /^([\w-]{1,64})\.([0-9a-z]{1,11})\.([\w-]{1,64})\.([\w-]{43})$/;

/**
 * Login sessions of the plugin's own form: a signed cookie over a row of Strapi's session table
 * (docs/reference/rights.md#login-and-logout).
 */
export interface Sessions {
  /** Starts a session; returns the cookie's value. */
  start(user: UserRow): Promise<string>;
  /** The user of a cookie, or null if it is forged, too old, ended, or their password has changed since. */
  resolve(value: string): Promise<UserRow | null>;
  /** Ends the session in every process; a bad cookie is ignored. */
  end(value: string): Promise<void>;
  /** The `Set-Cookie` header for a value; an empty one makes the browser forget the cookie. @param age in milliseconds */
  header(value: string, secure: boolean, age?: number): string;
}

interface SessionsOptions {
  users: Users;
  keyring: Keyring;
  isSessionActive: IsSessionActive;
  now?: () => number;
}

export function createSessions(
  strapi: Core.Strapi,
  { users, keyring, isSessionActive, now = Date.now }: SessionsOptions,
): Sessions {
  const signed = (user: UserRow, time: string, session: string): string[] => [
    'session',
    user.documentId,
    time,
    session,
    user.password ?? '',
  ];

  /** The user and session of a genuine cookie, whether or not the session is still active. */
  const open = async (value: string): Promise<{ user: UserRow; session: string } | null> => {
    const match = VALUE.exec(value);
    if (match === null) return null;
    const [, documentId = '', time = '', session = '', mac = ''] = match;
    const age = now() - Number.parseInt(time, 36);
    if (age > MAX_SESSION_AGE) return null;
    const user = await users.load({ documentId });
    if (!user?.password || !keyring.verify(signed(user, time, session), mac)) return null;
    return { user, session };
  };

  return {
    async start(user) {
      const time = now().toString(36);
      const manager = strapi.sessionManager(ORIGIN);
      const { sessionId } = await manager.generateRefreshToken(String(user.id), undefined, { type: 'refresh' });
      return [user.documentId, time, sessionId, keyring.sign(signed(user, time, sessionId))].join('.');
    },
    async resolve(value) {
      const opened = await open(value);
      return opened !== null && (await isSessionActive(ORIGIN, opened.session)) ? opened.user : null;
    },
    async end(value) {
      const opened = await open(value);
      if (opened === null) return;
      // Strapi's session manager ends a single session in its newer releases only.
      const where = { sessionId: opened.session, userId: String(opened.user.id), origin: ORIGIN };
      await strapi.db.query('admin::session').deleteMany({ where });
    },
    header(value, secure, age = MAX_SESSION_AGE) {
      const seconds = value === '' ? 0 : age / 1000;
      return `${SESSION_COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
    },
  };
}
