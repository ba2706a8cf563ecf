import type { Core } from '@strapi/strapi';
import { coalesceReads } from '../common/coalesce';
import type { AppsConfig } from '../config.types';
import { createActiveSessions, type IsSessionActive } from './credentials/active-sessions';
import {
  createAdministrators,
  MAX_ADMIN_SESSION_AGE,
  type PanelState,
  panelSession,
} from './credentials/administrators';
import { createApiTokens, createTokenRows, type ReadTokenRows } from './credentials/api-tokens';
import { createFormPosts, type FormPosts } from './credentials/form-posts';
import { createImpersonations, type Impersonations } from './credentials/impersonations';
import { createKeyring } from './credentials/keyring';
import { createPasswords, unauthorized } from './credentials/passwords';
import { createRateLimit } from './credentials/rate-limit';
import { type Authenticated, adminRequester, authenticate, tokenRequester } from './credentials/tokens';
import { createUsers } from './credentials/users';
import { createRoles, type Roles, type UserRow } from './rights/roles';
import type { RunStatement } from './rights/tables';
import { type Csrf, createCsrf } from './sessions/csrf';
import { createJwtUsers } from './sessions/jwt-users';
import { checkLoginForm, knownBrowser, LOGIN_COOKIE, type OpenedForm, openLoginForm } from './sessions/login-form';
import { createProofs, type Proofs } from './sessions/proofs';
import { isCrossOrigin, isUntrustedOrigin, type SenderContext } from './sessions/sender';
import { createSessions, SESSION_COOKIE } from './sessions/sessions';
import { createVisitors, type Visitors } from './sessions/visitors';
import type { CredentialKind, Requester, StrapiAuth } from './types';

/** The part of a Koa context that carries credentials. */
export interface CredentialContext extends SenderContext {
  request: { headers: SenderContext['request']['headers'] & { authorization?: string | undefined } };
  ip: string;
  /** Whether the connection is https. */
  secure: boolean;
  cookies: { get(name: string): string | undefined };
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
  fromStrapi(state: { auth?: StrapiAuth; user?: unknown }): Promise<Requester>;
  anonymous(): Promise<Requester>;
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
  proofs: Proofs;
  formPosts: FormPosts;
}

interface RequestersOptions {
  strapi: Core.Strapi;
  config: Pick<AppsConfig, 'csrf' | 'trustedOrigins'>;
  /** Runs the statements that every request needs. */
  run: RunStatement;
  now?: () => number;
  /** For tests; by default those of the host. */
  roles?: Roles;
  isSessionActive?: IsSessionActive;
  readTokenRows?: ReadTokenRows;
}

const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export function createRequesters({
  strapi,
  config,
  run,
  now = Date.now,
  roles = createRoles(strapi, run),
  isSessionActive = createActiveSessions(strapi, run),
  readTokenRows = createTokenRows(strapi, run),
}: RequestersOptions): Requesters {
  const keyring = createKeyring(strapi.config.get('server.app.keys'));
  const users = createUsers(strapi, roles);
  const passwords = createPasswords({ users, keyring, rateLimit: createRateLimit({}, now), now });
  const sessions = createSessions(strapi, { users, keyring, isSessionActive, now });
  const administrators = createAdministrators(strapi, { keyring, isSessionActive, now });
  const apiTokenAuth = createApiTokens(strapi, { readTokenRows, now });
  const jwtUser = createJwtUsers(strapi, { users, isSessionActive, now });
  const csrf = createCsrf({ keyring, maxAge: config.csrf.maxAge, now });
  const publicUrl = String(strapi.config.get('server.url', ''));
  const takesCookies = (ctx: CredentialContext): boolean =>
    !isUntrustedOrigin(ctx, { publicUrl, trusted: config.trustedOrigins });
  const isSecure = (ctx: CredentialContext): boolean => ctx.secure || publicUrl.startsWith('https:');

  const asUser = async (user: UserRow | null, credential: CredentialKind): Promise<Requester | null> =>
    user && users.requester(user, credential);

  const administrator = ({ auth, user }: Authenticated, credential: CredentialKind): Requester | null =>
    user ? adminRequester(user as never, auth.ability, { credential, session: auth.strategy.name === 'admin' }) : null;

  const bearerAdmin = async (token: string, credential: CredentialKind): Promise<Requester | null> => {
    const authenticated = await authenticate(strapi, 'admin', `Bearer ${token}`);
    return authenticated && administrator(authenticated, credential);
  };

  const inTransaction = (): boolean => strapi.db.inTransaction();

  const bearer = coalesceReads(async (token): Promise<Requester | null> => {
    if (JWT.test(token)) return (await asUser(await jwtUser(token), 'bearer')) ?? bearerAdmin(token, 'bearer');
    const auth = await apiTokenAuth(token);
    return auth ? tokenRequester(auth) : bearerAdmin(token, 'bearer');
  }, inTransaction);

  const ofSession = coalesceReads(
    async (value) =>
      administrators.isSession(value) ? administrators.resolve(value) : asUser(await sessions.resolve(value), 'cookie'),
    inTransaction,
  );

  const endSession = async (value: string): Promise<void> =>
    administrators.isSession(value) ? administrators.end(value) : sessions.end(value);

  /** The supported schemes of `Authorization`; others count as a wrong password. */
  const schemes: Record<string, (credentials: string, ctx: CredentialContext) => Promise<Requester | null>> = {
    // A hand-over is for one request: a read that several requests share would use it for all of them.
    bearer: async (token) =>
      administrators.isHandOver(token) ? ((await administrators.redeem(token))?.requester ?? null) : bearer(token),
    basic: async (encoded, ctx) => asUser(await passwords.basic(encoded, ctx.ip), 'basic'),
  };

  const byHeader = async (header: string, ctx: CredentialContext): Promise<Requester> => {
    const [, scheme = '', credentials = ''] = /^([\w-]+)\s+(\S+)\s*$/.exec(header) ?? [];
    const name = scheme.toLowerCase();
    const requester = Object.hasOwn(schemes, name) ? await schemes[name]?.(credentials, ctx) : null;
    if (!requester) throw unauthorized();
    return requester;
  };

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
    return token !== undefined && JWT.test(token) ? bearerAdmin(token, 'cookie') : null;
  };

  /** Requesters of Strapi's own requests by strategy. */
  const strategies: Record<string, (authenticated: Authenticated) => Promise<Requester | null>> = {
    'users-permissions': async ({ auth }) =>
      auth.credentials
        ? asUser(await users.load({ id: (auth.credentials as UserRow).id }), 'bearer')
        : users.anonymous(),
    'content-api-token': async ({ auth }) => tokenRequester(auth),
    admin: async ({ auth }) => administrator({ auth, user: auth.credentials }, 'bearer'),
    'admin-token': async (authenticated) => administrator(authenticated, 'bearer'),
  };

  return {
    csrf,
    visitors: createVisitors({ keyring, now }),
    proofs: createProofs({ keyring, now }),
    formPosts: createFormPosts(strapi, { keyring, now }),
    anonymous: users.anonymous,
    impersonations: createImpersonations(strapi, { users, roles, administrators }),
    takesCookies,
    async identify(ctx) {
      const header = ctx.request.headers.authorization;
      if (header !== undefined) return byHeader(header, ctx);
      if (!takesCookies(ctx)) return users.anonymous();
      const session = ctx.cookies.get(SESSION_COOKIE);
      if (session) return bySession(session, ctx);
      return (await byAdminPanel(ctx)) ?? users.anonymous();
    },
    async fromStrapi({ auth, user }) {
      if (!auth) return users.anonymous();
      const requester = await strategies[auth.strategy.name]?.({ auth, user });
      if (!requester) throw unauthorized();
      return requester;
    },
    loginForm: (ctx) => openLoginForm(csrf, ctx.cookies.get(LOGIN_COOKIE), isSecure(ctx)),
    checkLoginForm: (ctx, token) => checkLoginForm(csrf, ctx.cookies.get(LOGIN_COOKIE), token),
    async login(ctx, identifier, password) {
      const user = await passwords.check(identifier, password, ctx.ip);
      const requester = await asUser(user, 'cookie');
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
