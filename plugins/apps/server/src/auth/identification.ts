import type { Core } from '@strapi/strapi';
import { coalesceReads } from '../common/time/coalesce';
import type { Administrators } from './credentials/administrators';
import { type Passwords, unauthorized } from './credentials/passwords';
import { type Authenticated, adminRequester, authenticate, tokenRequester } from './credentials/tokens';
import type { Users } from './credentials/users';
import type { UserRow } from './rights/roles';
import type { SenderContext } from './sessions/cookies';
import { SESSION_COOKIE, type Sessions } from './sessions/sessions';
import type { CredentialKind, Requester, StrapiAuth } from './types';

/** The part of a Koa context that carries credentials. */
export interface CredentialContext extends SenderContext {
  request: { headers: SenderContext['request']['headers'] & { authorization?: string | undefined } };
  ip: string;
  /** Whether the connection is https. */
  secure: boolean;
  cookies: { get(name: string): string | undefined };
}

/** What Strapi leaves in the state of a request that it has authenticated itself. */
export interface StrapiState {
  auth?: StrapiAuth;
  user?: unknown;
}

export interface IdentificationTools {
  strapi: Core.Strapi;
  users: Users;
  passwords: Passwords;
  sessions: Sessions;
  administrators: Administrators;
  /** Authenticates a content API token; null for another bearer. */
  apiTokenAuth(token: string): Promise<StrapiAuth | null>;
  /** The user of a JWT; null when it is not one of users-permissions. */
  jwtUser(token: string): Promise<UserRow | null>;
  takesCookies(ctx: CredentialContext): boolean;
  isSecure(ctx: CredentialContext): boolean;
}

const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Requesters by the credentials of a request: `identify` of Requesters. */
export function createIdentification(tools: IdentificationTools): (ctx: CredentialContext) => Promise<Requester> {
  const { strapi, users, sessions, takesCookies, isSecure } = tools;
  const byHeader = headerCredentials(tools);
  const ofSession = sessionCredentials(tools);

  const bySession = async (value: string, ctx: CredentialContext): Promise<Requester> => {
    const requester = await ofSession(value);
    // The refusal deletes the cookie: a visitor has no other way to remove it.
    if (!requester) throw unauthorized({ 'Set-Cookie': sessions.header('', isSecure(ctx)) });
    return requester;
  };

  /**
   * The admin panel's session, which reaches a site only where `admin.auth.cookie.path` covers it. An invalid one is
   * ignored: it is not ours to refuse.
   */
  const byAdminPanel = async (ctx: CredentialContext): Promise<Requester | null> => {
    const token = ctx.cookies.get(strapi.config.get('admin.auth.cookie.name', 'jwtToken'));
    return token !== undefined && JWT.test(token) ? bearerAdmin(strapi, token, 'cookie') : null;
  };

  return async (ctx) => {
    const header = ctx.request.headers.authorization;
    if (header !== undefined) return byHeader(header, ctx);
    if (!takesCookies(ctx)) return users.anonymous();
    const session = ctx.cookies.get(SESSION_COOKIE);
    if (session) return bySession(session, ctx);
    return (await byAdminPanel(ctx)) ?? users.anonymous();
  };
}

/** The requester of an `Authorization` header; UnauthorizedError when there is none. */
function headerCredentials(tools: IdentificationTools) {
  const { strapi, users, passwords, administrators, apiTokenAuth, jwtUser } = tools;

  const bearer = coalesceReads(
    async (token): Promise<Requester | null> => {
      if (JWT.test(token))
        return (await userRequester(users, await jwtUser(token), 'bearer')) ?? bearerAdmin(strapi, token, 'bearer');
      const auth = await apiTokenAuth(token);
      return auth ? tokenRequester(auth) : bearerAdmin(strapi, token, 'bearer');
    },
    () => strapi.db.inTransaction(),
  );

  /** The supported schemes; others count as a wrong password. */
  const schemes: Record<string, (credentials: string, ctx: CredentialContext) => Promise<Requester | null>> = {
    // A hand-over is for one request: a read that several requests share would use it for all of them.
    bearer: async (token) =>
      administrators.isHandOver(token) ? ((await administrators.redeem(token))?.requester ?? null) : bearer(token),
    basic: async (encoded, ctx) => userRequester(users, await passwords.basic(encoded, ctx.ip), 'basic'),
  };

  return async (header: string, ctx: CredentialContext): Promise<Requester> => {
    const [, scheme = '', credentials = ''] = /^([\w-]+)\s+(\S+)\s*$/.exec(header) ?? [];
    const name = scheme.toLowerCase();
    const requester = Object.hasOwn(schemes, name) ? await schemes[name]?.(credentials, ctx) : null;
    if (!requester) throw unauthorized();
    return requester;
  };
}

/** The requester of a session cookie's value; null for an invalid one. */
function sessionCredentials({ strapi, users, sessions, administrators }: IdentificationTools) {
  return coalesceReads(
    async (value): Promise<Requester | null> =>
      administrators.isSession(value)
        ? administrators.resolve(value)
        : userRequester(users, await sessions.resolve(value), 'cookie'),
    () => strapi.db.inTransaction(),
  );
}

/** Requesters of Strapi's own requests, by the strategy that has authenticated them: `fromStrapi` of Requesters. */
export function createStrapiIdentification(users: Users): (state: StrapiState) => Promise<Requester> {
  const strategies: Record<string, (authenticated: Authenticated) => Promise<Requester | null>> = {
    'users-permissions': async ({ auth }) =>
      auth.credentials
        ? userRequester(users, await users.load({ id: (auth.credentials as UserRow).id }), 'bearer')
        : users.anonymous(),
    'content-api-token': async ({ auth }) => tokenRequester(auth),
    admin: async ({ auth }) => administrator({ auth, user: auth.credentials }, 'bearer'),
    'admin-token': async (authenticated) => administrator(authenticated, 'bearer'),
  };
  return async ({ auth, user }) => {
    if (!auth) return users.anonymous();
    const requester = await strategies[auth.strategy.name]?.({ auth, user });
    if (!requester) throw unauthorized();
    return requester;
  };
}

/** Null without a user. */
export async function userRequester(
  users: Users,
  user: UserRow | null,
  credential: CredentialKind,
): Promise<Requester | null> {
  return user && users.requester(user, credential);
}

function administrator({ auth, user }: Authenticated, credential: CredentialKind): Requester | null {
  return user
    ? adminRequester(user as never, auth.ability, { credential, session: auth.strategy.name === 'admin' })
    : null;
}

async function bearerAdmin(strapi: Core.Strapi, token: string, credential: CredentialKind): Promise<Requester | null> {
  const authenticated = await authenticate(strapi, 'admin', `Bearer ${token}`);
  return authenticated && administrator(authenticated, credential);
}
