import type { Core } from '@strapi/strapi';
import { LRUCache } from 'lru-cache';
import { permissionUid } from '../../../../shared/admin-api';
import { AppsError } from '../../common/errors';
import { newRequester } from '../rights/acl';
import {
  actionsByPermission,
  appsActions,
  createPermissionTables,
  MANAGE_PERMISSION,
  type RunStatement,
} from '../rights/permissions';
import type { AppsAction, CredentialKind, Requester, StrapiAuth } from '../types';

interface Ability {
  can(action: string, subject?: string): boolean;
}

interface TokenRow {
  id: number;
  name: string;
  type: 'read-only' | 'full-access' | 'custom';
}

interface AdminRow {
  id: number;
  email: string;
  firstname: string | null;
  lastname: string | null;
  blocked: boolean | null;
  roles?: { code: string }[];
}

/** Rights of each type of content API token (docs/reference/rights.md#credentials). */
const tokenActions: Record<TokenRow['type'], (ability: Ability | null) => readonly AppsAction[]> = {
  'read-only': () => ['plugin::apps.record.find'],
  'full-access': () => appsActions,
  custom: (ability) => appsActions.filter((action) => ability?.can(action) === true),
};

/** The requester of a content API token that Strapi has authenticated. */
export function tokenRequester(auth: StrapiAuth): Requester {
  const { id, name, type } = auth.credentials as TokenRow;
  const granted = tokenActions[type]?.((auth.ability as Ability | null | undefined) ?? null) ?? [];
  const isManager = granted.includes('plugin::apps.app.manage');
  return newRequester({
    kind: 'token',
    credential: 'bearer',
    identity: `token:${id}`,
    username: name,
    groups: [],
    isManager,
    can: (action) => granted.includes(action) || (isManager && appsActions.includes(action)),
    profile: { id, name, type },
    auth,
  });
}

/** When a stored token expires; empty: never. */
interface Expiring {
  expiresAt?: string | Date | null;
}

/** @param now milliseconds since the epoch */
export const hasExpired = ({ expiresAt }: Expiring, now: number): boolean =>
  Boolean(expiresAt) && new Date(expiresAt as string | Date).getTime() <= now;

/** A token as its service gives it. */
interface StoredToken extends TokenRow, Expiring {
  permissions?: string[];
}

interface TokenService {
  getById(id: number): Promise<StoredToken | null>;
}

/**
 * The requester of a content API token, by its id: for work that goes on after its request. Null for one that is gone or has
 * expired.
 */
export async function tokenWithId(strapi: Core.Strapi, id: number, now: number): Promise<Requester | null> {
  const service = (strapi.service('admin::api-token-content-api' as never) ??
    strapi.service('admin::api-token')) as unknown as TokenService;
  const token = await service.getById(id);
  if (!token || hasExpired(token, now)) return null;
  const permissions = (token.permissions ?? []).map((action) => ({ action }));
  const ability =
    token.type === 'custom' ? await strapi.contentAPI.permissions.engine.generateAbility(permissions) : null;
  return tokenRequester({ strategy: tokenStrategy, credentials: token, ability });
}

const isReadScope = (scope: string): boolean => /find(One)?$/.test(scope);

/** Strapi's own strategy for tokens cannot be asked for; this one allows the same. */
const tokenStrategy = {
  name: 'content-api-token',
  async verify({ credentials, ability }: StrapiAuth, { scope }: { scope?: string | string[] }): Promise<void> {
    const { type } = credentials as TokenRow;
    const scopes = scope === undefined ? [] : [scope].flat();
    const allowed: Record<TokenRow['type'], () => boolean> = {
      'full-access': () => true,
      'read-only': () => scopes.length > 0 && scopes.every(isReadScope),
      custom: () => scopes.every((one) => (ability as Ability | null)?.can(one) === true),
    };
    if (!allowed[type]()) throw new AppsError('ForbiddenError', 'This action is not permitted.');
  },
};

/** The Content Manager's permissions that administrators need for content-API actions. */
const explorerActions: Record<string, string> = {
  find: 'read',
  findOne: 'read',
  create: 'create',
  update: 'update',
  delete: 'delete',
  publish: 'publish',
};

/**
 * An administrator's `auth` with a `verify`: Strapi's own admin strategy has none, so that `auth.verify` would let every
 * administrator do everything. A scope `<uid>.<action>` needs the Content Manager's permission for that type.
 */
function adminAuth(user: AdminRow, ability: Ability): StrapiAuth {
  const allowed = (scope: string): boolean => {
    const at = scope.lastIndexOf('.');
    const action = explorerActions[scope.slice(at + 1)];
    return action !== undefined && ability.can(`plugin::content-manager.explorer.${action}`, scope.slice(0, at));
  };
  const strategy = {
    name: 'admin',
    async verify(_auth: unknown, { scope }: { scope?: string | string[] }): Promise<void> {
      if (scope !== undefined && [scope].flat().every(allowed)) return;
      throw new AppsError('ForbiddenError', 'This action is not permitted.');
    },
  };
  return { strategy, credentials: user, ability };
}

/** Whether an administrator may do everything in Strapi. */
export const isSuperAdmin = (user: Pick<AdminRow, 'roles'> | undefined): boolean =>
  user?.roles?.some(({ code }) => code === 'strapi-super-admin') === true;

/**
 * An administrator. With a session, super admins are managers; an admin token has only its own permissions. Null for a
 * blocked one.
 * @param token id of the admin token; null: with a session
 */
export function adminRequester(
  user: AdminRow,
  ability: unknown,
  { credential, token }: { credential: CredentialKind; token: number | null },
): Requester | null {
  if (user.blocked === true) return null;
  const { id, email, firstname, lastname } = user;
  const abilities = ability as Ability;
  const isManager = (token === null && isSuperAdmin(user)) || abilities.can(MANAGE_PERMISSION);
  const granted = (['read', 'records'] as const)
    .filter((permission) => abilities.can(permissionUid(permission)))
    .flatMap((permission) => actionsByPermission[permission]);
  return newRequester({
    kind: 'administrator',
    credential,
    identity: `admin:${id}`,
    ...(token !== null && { adminToken: token }),
    username: email,
    groups: [],
    isManager,
    can: (action) => (isManager ? appsActions : granted).includes(action),
    profile: { id, email, firstname: firstname ?? null, lastname: lastname ?? null },
    auth: adminAuth(user, abilities),
  });
}

/** The result of Strapi's strategies for a credential. */
export interface Authenticated {
  auth: StrapiAuth;
  /** The administrator behind an admin session or admin token. */
  user: unknown;
}

/**
 * Runs Strapi's own strategies without a route. Null when none of them accepts the header.
 * @param type `admin`, or `content-api`, for which only the strategy of API tokens runs (auth/ loads users itself)
 */
export async function authenticate(
  strapi: Core.Strapi,
  type: 'admin' | 'content-api',
  authorization: string,
): Promise<Authenticated | null> {
  const auth = type === 'content-api' ? { strategies: ['content-api-token'] } : undefined;
  const state: { route: unknown; auth?: StrapiAuth; user?: unknown } = { route: { info: { type }, config: { auth } } };
  const header = { authorization };
  const shim = { request: { header, headers: header }, state, unauthorized: () => undefined };
  await strapi.get('auth').authenticate(shim, async () => undefined);
  return state.auth ? { auth: state.auth, user: state.user } : null;
}

const TOKEN = 'admin::api-token';
const PERMISSION = 'admin::api-token-permission';

/** Tokens that are kept, and the milliseconds until Strapi authenticates one again, which also notes when it was last used. */
const MAX_KEPT = 500;
const MAX_AGE = 60_000;

interface ApiTokenRow extends Expiring {
  id: number;
}

interface Kept {
  auth: StrapiAuth;
  rows: string;
  end: number;
}

/** Reads the rows of a token and of its permissions, as a text that differs when any of them does. */
export type ReadTokenRows = (id: number) => Promise<string>;

export function createTokenRows(strapi: Core.Strapi, run: RunStatement): ReadTokenRows {
  const { tableOf, columnOf, linkOf, statement } = createPermissionTables(strapi, run);
  const rows = statement<object>(
    () => `${tableOf(TOKEN)} as t`,
    (query, value) => {
      const granted = linkOf(TOKEN, 'permissions');
      return query
        .leftJoin(`${granted.table} as g`, `g.${granted.own}`, 't.id')
        .leftJoin(`${tableOf(PERMISSION)} as p`, 'p.id', `g.${granted.other}`)
        .where('t.id', value(0))
        .select('t.*', `p.id as permission`, `p.${columnOf(PERMISSION, 'action')} as action`)
        .orderBy('p.id');
    },
  );
  return async (id) => JSON.stringify(await rows(id));
}

interface ApiTokensOptions {
  readTokenRows: ReadTokenRows;
  now: () => number;
}

/**
 * Authenticates content API tokens as Strapi's own strategy does; null for a token that it refuses. Strapi takes four statements,
 * some of them costly. Its result is used again while the rows that it was made of are the same, which one statement tells
 * (docs/decisions/requester-roles.md).
 */
export function createApiTokens(
  strapi: Core.Strapi,
  { readTokenRows, now }: ApiTokensOptions,
): (token: string) => Promise<StrapiAuth | null> {
  const kept = new LRUCache<string, Kept>({ max: MAX_KEPT });
  const rowOf = (auth: StrapiAuth) => auth.credentials as ApiTokenRow;
  const ask = async (token: string) => (await authenticate(strapi, 'content-api', `Bearer ${token}`))?.auth ?? null;

  const isValid = async ({ auth, rows, end }: Kept): Promise<boolean> => {
    const row = rowOf(auth);
    if (end <= now() || hasExpired(row, now())) return false;
    return (await readTokenRows(row.id)) === rows;
  };

  /** Authenticates after the rows were read, so that a change between the two is noticed at the next request. */
  const keep = async (token: string, id: number): Promise<StrapiAuth | null> => {
    const rows = await readTokenRows(id);
    const auth = await ask(token);
    if (auth && rowOf(auth).id === id) kept.set(token, { auth, rows, end: now() + MAX_AGE });
    return auth;
  };

  return async (token) => {
    const known = kept.get(token);
    if (known && (await isValid(known))) return known.auth;
    kept.delete(token);
    if (known) return keep(token, rowOf(known.auth).id);
    const auth = await ask(token);
    return auth && keep(token, rowOf(auth).id);
  };
}
