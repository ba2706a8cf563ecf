import type { Core } from '@strapi/strapi';
import { coalesceReads } from '../common/time/coalesce';
import type { AppsConfig } from '../config.types';
import type { Redis } from '../processes/types';
import {
  type Administrators,
  createActiveSessions,
  createAdministrators,
  createImpersonations,
  type Impersonations,
  type IsSessionActive,
  MAX_ADMIN_SESSION_AGE,
  type PanelState,
  panelSession,
} from './credentials/administrators';
import { createKeyring, type Keyring } from './credentials/keyring';
import { createPasswords, type Passwords, unauthorized } from './credentials/passwords';
import {
  addressGroup,
  type Counters,
  createCounters,
  createFormPosts,
  createParts,
  createRateLimit,
  createRedisCounters,
  type FormPosts,
  type SharedCounts,
} from './credentials/rate-limit';
import {
  type Authenticated,
  adminRequester,
  authenticate,
  createApiTokens,
  createTokenRows,
  type ReadTokenRows,
  tokenRequester,
  tokenWithId,
} from './credentials/tokens';
import { createUsers, type Users } from './credentials/users';
import type { RunStatement } from './rights/permissions';
import { createRoles, type Roles, type UserRow } from './rights/roles';
import {
  createFlashes,
  createVisitors,
  type Flashes,
  isCrossOrigin,
  isUntrustedOrigin,
  type SenderContext,
  type Visitors,
} from './sessions/cookies';
import {
  type Csrf,
  checkLoginForm,
  createCsrf,
  knownBrowser,
  LOGIN_COOKIE,
  type OpenedForm,
  openLoginForm,
} from './sessions/csrf';
import { createProofs, type Proofs } from './sessions/proofs';
import { createJwtUsers, createSessions, SESSION_COOKIE, type Sessions } from './sessions/sessions';
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
interface StrapiState {
  auth?: StrapiAuth;
  user?: unknown;
}

interface IdentificationTools {
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
function createIdentification(tools: IdentificationTools): (ctx: CredentialContext) => Promise<Requester> {
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
function createStrapiIdentification(users: Users): (state: StrapiState) => Promise<Requester> {
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
async function userRequester(
  users: Users,
  user: UserRow | null,
  credential: CredentialKind,
): Promise<Requester | null> {
  return user && users.requester(user, credential);
}

function administrator({ auth, user }: Authenticated, credential: CredentialKind): Requester | null {
  const token = auth.strategy.name === 'admin' ? null : (auth.credentials as { id: number }).id;
  return user ? adminRequester(user as never, auth.ability, { credential, token }) : null;
}

async function bearerAdmin(strapi: Core.Strapi, token: string, credential: CredentialKind): Promise<Requester | null> {
  const authenticated = await authenticate(strapi, 'admin', `Bearer ${token}`);
  return authenticated && administrator(authenticated, credential);
}

/** Identifies requesters by their credentials, logs them in and out (docs/reference/rights.md#credentials). */
export interface Requesters {
  /**
   * The requester of a request. An `Authorization` header wins over cookies; cookies of a request that a page of another
   * origin has sent are ignored. Any other invalid, expired or blocked credential is an UnauthorizedError, never anonymous;
   * too many failed passwords are a RateLimitError with Retry-After.
   */
  identify(ctx: CredentialContext): Promise<Requester>;
  /** The requester of a request that Strapi itself has authenticated (`ctx.state`); without an `auth`, anonymous. */
  fromStrapi(state: StrapiState): Promise<Requester>;
  anonymous(): Promise<Requester>;
  /** Anonymous, with the rights of the roles of these names too; a name that no role has gives none. */
  anonymousIn(roles: readonly string[]): Promise<Requester>;
  /**
   * The requester with the rights that they have now, for work that goes on after their request. Null for one who is gone,
   * blocked or expired.
   * @param authority as of `authorityOf`
   */
  withAuthority(authority: string): Promise<Requester | null>;
  impersonations: Impersonations;
  /** Opens the login form in the request's browser. */
  loginForm(ctx: CredentialContext): OpenedForm;
  /** CsrfError unless `token` was issued for a login form in the request's browser. */
  checkLoginForm(ctx: CredentialContext, token: string): void;
  /** Whether the request's cookies count: not if a page of another origin has sent it. */
  takesCookies(ctx: CredentialContext): boolean;
  /**
   * Logs a user in by the login form; the session that the browser had before ends. UnauthorizedError, RateLimitError.
   * @returns the requester, and the `Set-Cookie` header that keeps them logged in
   */
  login(
    ctx: CredentialContext,
    identifier: string,
    password: string,
  ): Promise<{ requester: Requester; cookie: string }>;
  /**
   * Hands the administrator of a session of the panel over to the sites, in the browser that asks: a one-use token,
   * valid for a minute as a bearer or for `loginByHandOver`. ForbiddenError without such a session, or the right to manage apps.
   * @param state of Strapi's own request
   * @returns the token, and the `Set-Cookie` header that ties it to the browser; null when it has its cookie already
   */
  handOver(ctx: CredentialContext, state: PanelState): Promise<{ token: string; cookie: string | null }>;
  /**
   * Logs the administrator of a hand-over in; the session that the browser had before ends. UnauthorizedError;
   * CsrfError when the panel has not opened the page in this browser.
   * @returns the `Set-Cookie` header that keeps them logged in
   */
  loginByHandOver(ctx: CredentialContext, token: string): Promise<string>;
  /** Ends the request's session, if it has one, in every process; returns the `Set-Cookie` header that forgets it. */
  logout(ctx: CredentialContext): Promise<string>;
  csrf: Csrf;
  visitors: Visitors;
  flashes: Flashes;
  proofs: Proofs;
  formPosts: FormPosts;
  /**
   * A name that all requests of one sender have in common: of a user, else of an address (`addressGroup`). A keyed hash, because
   * it may be stored. @param ip as Koa gives it (`ctx.ip`)
   */
  senderName(requester: Pick<Requester, 'identity'>, ip: string): string;
  /** Counts of which each server process has a part. */
  parts: SharedCounts;
  /** Signs what the plugin gives to people, such as links. */
  keyring: Keyring;
  /** A keyed hash that names a request by who has sent it, where to, and under which key. */
  requestName(parts: readonly string[]): string;
}

/** A content API token, or an administrator by an admin token. */
const AUTHORITY_OF_TOKEN = /^(?:admin:(\d{1,9})\/)?token:(\d{1,9})$/;

/** Whose rights the later work of a requester has: their identity, and the admin token by which they have asked. */
export const authorityOf = ({ identity, adminToken }: Pick<Requester, 'identity' | 'adminToken'>): string =>
  adminToken === undefined ? identity : `${identity}/token:${adminToken}`;

const ROLE = 'plugin::users-permissions.role';

interface RequestersOptions {
  strapi: Core.Strapi;
  config: Pick<AppsConfig, 'csrf' | 'trustedOrigins'>;
  /** Runs the statements that every request needs. */
  run: RunStatement;
  now?: () => number;
  /** Called when a login is refused: the password was wrong, or too many were. */
  refused?: (result: 'failed' | 'limited') => void;
  /** For tests; by default those of the host. */
  roles?: Roles;
  isSessionActive?: IsSessionActive;
  readTokenRows?: ReadTokenRows;
  /** Counts in the database. */
  stored?: Counters;
  /** Where attempts and rates are counted instead, while it can be reached. */
  redis?: Redis | null;
}

export function createRequesters({
  strapi,
  config,
  run,
  now = Date.now,
  refused = () => {},
  roles = createRoles(strapi, run),
  isSessionActive = createActiveSessions(strapi, run),
  readTokenRows = createTokenRows(strapi, run),
  stored = createCounters(strapi, now),
  redis = null,
}: RequestersOptions): Requesters {
  const keyring = createKeyring(strapi.config.get('server.app.keys'));
  const users = createUsers(strapi, roles);
  const counters = redis ? createRedisCounters(redis, stored, now) : stored;
  const rateLimit = createRateLimit({ counters, known: stored, keyring, now });
  const passwords = createPasswords({ users, keyring, rateLimit, now, refused });
  const sessions = createSessions(strapi, { users, keyring, isSessionActive, now });
  const administrators = createAdministrators(strapi, { keyring, isSessionActive, now });
  const csrf = createCsrf({ keyring, maxAge: config.csrf.maxAge, now });
  const publicUrl = String(strapi.config.get('server.url', ''));
  const takesCookies = (ctx: CredentialContext): boolean =>
    !isUntrustedOrigin(ctx, { publicUrl, trusted: config.trustedOrigins });
  const isSecure = (ctx: CredentialContext): boolean => ctx.secure || publicUrl.startsWith('https:');

  const impersonations = createImpersonations(strapi, { users, roles, administrators });

  const endSession = async (value: string): Promise<void> =>
    administrators.isSession(value) ? administrators.end(value) : sessions.end(value);

  return {
    csrf,
    keyring,
    visitors: createVisitors({ keyring, now }),
    flashes: createFlashes({ keyring, now }),
    proofs: createProofs({ keyring, now }),
    formPosts: createFormPosts({ counters, keyring, now }),
    parts: createParts(strapi, keyring, now),
    requestName: (parts) => keyring.sign(['request', ...parts]),
    senderName: ({ identity }, ip) => keyring.sign(['sender', identity || '', identity ? '' : addressGroup(ip)]),
    anonymous: users.anonymous,
    async anonymousIn(names) {
      const found = strapi.contentType(ROLE) ? await Promise.all(names.map((name) => roles.named(name))) : [];
      return users.anonymousIn(found.filter((role) => role !== null));
    },
    impersonations,
    async withAuthority(authority) {
      const [, owner, token] = AUTHORITY_OF_TOKEN.exec(authority) ?? [];
      if (token === undefined) return impersonations.withIdentity(authority);
      return owner === undefined ? tokenWithId(strapi, Number(token), now()) : administrators.withToken(owner, token);
    },
    takesCookies,
    identify: createIdentification({
      strapi,
      users,
      passwords,
      sessions,
      administrators,
      takesCookies,
      isSecure,
      apiTokenAuth: createApiTokens(strapi, { readTokenRows, now }),
      jwtUser: createJwtUsers(strapi, { users, isSessionActive, now }),
    }),
    fromStrapi: createStrapiIdentification(users),
    loginForm: (ctx) => openLoginForm(csrf, ctx.cookies.get(LOGIN_COOKIE), isSecure(ctx)),
    checkLoginForm: (ctx, token) => checkLoginForm(csrf, ctx.cookies.get(LOGIN_COOKIE), token),
    async login(ctx, identifier, password) {
      const user = await passwords.check(identifier, password, ctx.ip);
      const requester = await userRequester(users, user, 'cookie');
      if (!user || !requester) throw unauthorized();
      await endSession(ctx.cookies.get(SESSION_COOKIE) ?? '');
      return { requester, cookie: sessions.header(await sessions.start(user), isSecure(ctx)) };
    },
    async handOver(ctx, state) {
      const { browser, cookie } = knownBrowser(ctx.cookies.get(LOGIN_COOKIE), isSecure(ctx));
      const session = state.session ?? panelSession(strapi, ctx.request.headers.authorization ?? '');
      return { token: await administrators.handOver({ ...state, session }, browser), cookie };
    },
    async loginByHandOver(ctx, token) {
      const browser = isCrossOrigin(ctx) ? undefined : ctx.cookies.get(LOGIN_COOKIE);
      const redeemed = await administrators.redeem(token, { browser });
      if (!redeemed) throw unauthorized();
      await endSession(ctx.cookies.get(SESSION_COOKIE) ?? '');
      return sessions.header(await redeemed.start(), isSecure(ctx), MAX_ADMIN_SESSION_AGE);
    },
    async logout(ctx) {
      await endSession(ctx.cookies.get(SESSION_COOKIE) ?? '');
      return sessions.header('', isSecure(ctx));
    },
  };
}

/** `WWW-Authenticate` of a 401 on JSON requests (docs/reference/http.md#statuses). */
export const BASIC_CHALLENGE = 'Basic realm="apps", charset="UTF-8"';
