import type { Core } from '@strapi/strapi';
import { LRUCache } from 'lru-cache';
import type { IsSessionActive } from '../credentials/administrators';
import type { Keyring } from '../credentials/keyring';
import type { Users } from '../credentials/users';
import type { UserRow } from '../rights/roles';
import { setCookie } from './cookies';

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
      return setCookie(SESSION_COOKIE, value, { maxAge: value === '' ? 0 : age / 1000, secure });
    },
  };
}

const USER = 'plugin::users-permissions.user';
const CHANGE = 'plugin::apps.password-change';

/** When users changed their passwords: a JWT of users-permissions does not tell which password it was issued for. */
interface PasswordChanges {
  /**
   * Whether the user's password has changed since a token was issued, in any process.
   * @param issuedAt the token's `iat`, seconds since the epoch; a token without it is older than any change
   */
  since(user: number, issuedAt: number | undefined): Promise<boolean>;
}

function createPasswordChanges(strapi: Core.Strapi): PasswordChanges {
  return {
    async since(user, issuedAt) {
      // `iat` has whole seconds: the token that Strapi gives out along with a change may have the change's own second.
      const end = new Date(((issuedAt ?? -1) + 1) * 1000);
      const change: object | null = await strapi.db
        .query(CHANGE)
        .findOne({ select: ['id'], where: { user, createdAt: { $gte: end } } });
      return change !== null;
    },
  };
}

/** The event of Strapi's database before an update of users. */
interface UserUpdate {
  params: { where?: object; data?: { password?: unknown } };
}

/**
 * Notes every change of a password that goes through Strapi (its users-permissions routes, the Content Manager, code), and
 * ends the user's sessions: those of this plugin's login form and those of users-permissions in its refresh mode. A row is
 * kept for each user who ever changed their password. Once, in the plugin's `bootstrap`.
 */
export function watchPasswordChanges(strapi: Core.Strapi): void {
  const note = async ({ params: { where, data } }: UserUpdate): Promise<void> => {
    if (typeof data?.password !== 'string' || data.password === '') return;
    const users: { id: number }[] = await strapi.db.query(USER).findMany({ select: ['id'], where });
    for (const { id: user } of users) {
      const { id } = await strapi.db.query(CHANGE).create({ data: { user } });
      await strapi.db.query(CHANGE).deleteMany({ where: { user, id: { $lt: id } } });
      await strapi.sessionManager('users-permissions').invalidateRefreshToken(String(user));
    }
  };
  strapi.db.lifecycles.subscribe({ models: [USER], beforeUpdate: note, beforeUpdateMany: note });
}

const PLUGIN = 'users-permissions';

/** Verified tokens that are kept, and the characters of one. */
const MAX_VERIFIED = 1000;
const MAX_LENGTH = 2000;

/** What a genuine token says. */
interface Claims {
  id: unknown;
  /** Undefined in the mode `legacy-support`, whose tokens belong to no session. */
  session?: string;
  /** Seconds since the epoch. */
  issuedAt?: number | undefined;
}

interface JwtUsersOptions {
  users: Users;
  isSessionActive: IsSessionActive;
  now: () => number;
}

/**
 * Identifies users by a JWT of users-permissions, in either of the plugin's modes (`jwtManagement`). Null for a token that is
 * not genuine, whose session has ended, or that is older than the user's password.
 */
export function createJwtUsers(
  strapi: Core.Strapi,
  { users, isSessionActive, now }: JwtUsersOptions,
): (token: string) => Promise<UserRow | null> {
  const passwordChanges = createPasswordChanges(strapi);
  const verified = new LRUCache<string, { second: number; claims: Claims }>({ max: MAX_VERIFIED });

  /** The service of users-permissions reads the user to verify a token of this mode; here the user is read with their role. */
  const accessClaims = (token: string): Claims | null => {
    const result = strapi.sessionManager(PLUGIN).validateAccessToken(token);
    if (!result.isValid || result.payload.type !== 'access') return null;
    return { id: Number(result.payload.userId), session: result.payload.sessionId };
  };

  /** The times in a token are whole seconds: within one second, verifying it again has the same result. */
  const accessClaimsOfSecond = (token: string): Claims | null => {
    const second = Math.floor(now() / 1000);
    const known = verified.get(token);
    if (known?.second === second) return known.claims;
    const claims = accessClaims(token);
    if (claims && token.length <= MAX_LENGTH) verified.set(token, { second, claims });
    return claims;
  };

  const legacyClaims = async (token: string): Promise<Claims | null> => {
    try {
      const { id, iat: issuedAt } = await strapi.plugin(PLUGIN).service('jwt').verify(token);
      return { id, issuedAt };
    } catch (error) {
      if ((error as Error).message === 'Invalid token.') return null;
      throw error;
    }
  };

  return async (token) => {
    if (!strapi.plugin(PLUGIN)) return null;
    const mode: string = strapi.config.get(`plugin::${PLUGIN}.jwtManagement`, 'legacy-support');
    const claims = mode === 'refresh' ? accessClaimsOfSecond(token) : await legacyClaims(token);
    if (!claims || !Number.isSafeInteger(claims.id)) return null;
    const [user, active] = await Promise.all([
      users.load({ id: claims.id as number }),
      // Strapi takes an access token until it expires; here an ended session ends it too.
      claims.session === undefined || isSessionActive(PLUGIN, claims.session),
    ]);
    if (!user || !active) return null;
    // A token with a session ends with it; a token without one is valid if it is newer than the password.
    const outlived = claims.session === undefined && (await passwordChanges.since(user.id, claims.issuedAt));
    return outlived ? null : user;
  };
}
