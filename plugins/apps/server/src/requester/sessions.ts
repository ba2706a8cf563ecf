import type { Core } from '@strapi/strapi';
import type { Keyring } from './keyring';
import type { UserRow, Users } from './users';

/** Name of the plugin's session cookie. */
export const SESSION_COOKIE = 'apps_session';
/** Milliseconds after a login at which its cookie stops being taken. */
export const SESSION_AGE = 7 * 24 * 60 * 60_000;

/** Whose sessions ours are: ended with the user's others when they change their password or log out everywhere. */
const ORIGIN = 'users-permissions';
/** `<documentId>.<time, base 36>.<session id>.<mac>` */
const VALUE = /^([\w-]{1,64})\.([0-9a-z]{1,11})\.([\w-]{1,64})\.([\w-]{43})$/;

/** Login sessions of the plugin's own form: a signed cookie over a row of Strapi's session table (contract, section 5). */
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

export function createSessions(
  strapi: Core.Strapi,
  { users, keyring, now = Date.now }: { users: Users; keyring: Keyring; now?: () => number },
): Sessions {
  const signed = (user: UserRow, time: string, session: string): string[] => [
    'session',
    user.documentId,
    time,
    session,
    user.password ?? '',
  ];

  /** The user and session of a genuine cookie, whether or not the session still goes on. */
  const open = async (value: string): Promise<{ user: UserRow; session: string } | null> => {
    const match = VALUE.exec(value);
    if (match === null) return null;
    const [, documentId = '', time = '', session = '', mac = ''] = match;
    const age = now() - Number.parseInt(time, 36);
    if (age > SESSION_AGE) return null;
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
      return opened !== null && (await strapi.sessionManager(ORIGIN).isSessionActive(opened.session))
        ? opened.user
        : null;
    },
    async end(value) {
      const opened = await open(value);
      if (opened !== null)
        await strapi.sessionManager(ORIGIN).revokeSessionById(String(opened.user.id), opened.session);
    },
    header(value, secure, age = SESSION_AGE) {
      const seconds = value === '' ? 0 : age / 1000;
      return `${SESSION_COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
    },
  };
}
