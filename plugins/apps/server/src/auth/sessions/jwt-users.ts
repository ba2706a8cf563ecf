import type { Core } from '@strapi/strapi';
import { LRUCache } from 'lru-cache';
import type { IsSessionActive } from '../credentials/active-sessions';
import type { Users } from '../credentials/users';
import type { UserRow } from '../rights/roles';
import { createPasswordChanges } from './password-changes';

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
