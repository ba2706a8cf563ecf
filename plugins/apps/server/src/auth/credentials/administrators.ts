import { randomBytes } from 'node:crypto';
import type { Core } from '@strapi/strapi';
import { AppsError } from '../../common/errors';
import { createPermissionTables, type RunStatement } from '../rights/permissions';
import type { Roles } from '../rights/roles';
import type { CredentialKind, Requester, StrapiAuth } from '../types';
import type { Keyring } from './keyring';
import { adminRequester, hasExpired, isSuperAdmin } from './tokens';
import type { Users } from './users';

const SITE_USER = 'plugin::users-permissions.user';

/** A requester by name, without credentials: for previews and explanations of rights. */
export type Impersonation =
  | { kind: 'anonymous' }
  /** A user by document id or username. */
  | { kind: 'user'; id: string }
  /** A user without a name, with one role. */
  | { kind: 'group'; name: string }
  | { kind: 'administrator'; id: string };

/** Makes requesters of names. Only routes of the admin panel may ask for one. */
export interface Impersonations {
  /** Null when there is no such user, role or administrator, or when they may not act. */
  of(who: Impersonation): Promise<Requester | null>;
  /** The names of all roles, that of visitors without a login first; none without users-permissions. */
  groups(): Promise<string[]>;
  /** The requester whose identity is stored with a record or a run; null for a token, too. */
  withIdentity(identity: string): Promise<Requester | null>;
  /** Whether it is an administrator who may do everything in Strapi. */
  isSuperAdministrator(requester: Requester): Promise<boolean>;
}

interface ImpersonationOptions {
  users: Users;
  roles: Roles;
  administrators: Administrators;
}

export function createImpersonations(
  strapi: Core.Strapi,
  { users, roles, administrators }: ImpersonationOptions,
): Impersonations {
  const user = async (where: { documentId: string }): Promise<Requester | null> => {
    const row = await users.load(where);
    return row && users.requester(row, 'bearer');
  };
  const named = async (username: string): Promise<Requester | null> => {
    const row: { documentId: string } | null = strapi.contentType(SITE_USER)
      ? await strapi.db.query(SITE_USER).findOne({ where: { username } })
      : null;
    return row && user({ documentId: row.documentId });
  };
  const of: Impersonations['of'] = async (who) => {
    if (who.kind === 'anonymous') return users.anonymous();
    if (who.kind === 'administrator') return /^\d{1,9}$/.test(who.id) ? administrators.impersonate(who.id) : null;
    if (who.kind === 'user') return (await user({ documentId: who.id })) ?? named(who.id);
    const role = await roles.named(who.name);
    return role && users.member(role);
  };
  return {
    of,
    isSuperAdministrator: async ({ identity }) => {
      const [, id] = /^admin:(\d{1,15})$/.exec(identity) ?? [];
      return id !== undefined && administrators.isSuper(id);
    },
    groups: async () => (strapi.contentType(SITE_USER) ? roles.all() : []),
    async withIdentity(identity) {
      const [, kind, id = ''] = /^(user|admin):(.+)$/.exec(identity) ?? [];
      if (identity === '') return of({ kind: 'anonymous' });
      if (kind === 'user') return user({ documentId: id });
      return kind === 'admin' ? of({ kind: 'administrator', id }) : null;
    },
  };
}

/** Milliseconds within which a hand-over must be used. */
export const MAX_HAND_OVER_AGE = 60_000;
/** Milliseconds after which an administrator's session on the site ends. */
export const MAX_ADMIN_SESSION_AGE = 60 * 60_000;
/** How far the clock of the process that made a token may be ahead, in milliseconds. */
const CLOCK_SKEW = 60_000;

const USER = 'admin::user';
const SESSION = 'admin::session';
const TOKEN = 'admin::api-token';
/** `origin` of the rows: Strapi ends these sessions with the panel's, at its logout or after a change of the password. */
const ORIGIN = 'admin';

/** `handover.<id>.<time, base 36>.<one-use id>.<mac of the browser's login cookie>.<mac>` */
const HAND_OVER = /^handover\.(\d{1,9})\.([0-9a-z]{1,11})\.([0-9a-f]{32})\.([\w-]{43})\.([\w-]{43})$/;
/** `admin.<id>.<time, base 36>.<session id>.<mac>` */
const VALUE = /^admin\.(\d{1,9})\.([0-9a-z]{1,11})\.([\w-]{1,64})\.([\w-]{43})$/;

interface AdminRow {
  id: number;
  password: string | null;
  isActive: boolean;
  email: string;
  firstname: string | null;
  lastname: string | null;
  blocked: boolean | null;
  roles: { code: string }[];
}

/** What Strapi knows of a request to the admin panel's routes. */
export interface PanelState {
  auth?: StrapiAuth;
  session?: { id: string };
}

/**
 * The session of a request to the panel's routes by its `Authorization` header, for releases of Strapi that do not say it in
 * the request's state. Undefined without one: an admin token belongs to no session.
 */
export function panelSession(strapi: Core.Strapi, authorization: string): PanelState['session'] {
  const [, token = ''] = /^bearer\s+(\S+)$/i.exec(authorization) ?? [];
  const result = strapi.sessionManager('admin').validateAccessToken(token);
  return result.isValid ? { id: result.payload.sessionId } : undefined;
}

interface Known {
  user: AdminRow;
  ability: unknown;
}

/** Administrators on the site: how the panel hands them over, and their sessions (docs/decisions/hand-over.md). */
export interface Administrators {
  /**
   * A one-use token that identifies the administrator of a panel session to the site. ForbiddenError without such a session,
   * and for an administrator who does not manage apps.
   * @param browser value of the login cookie of the browser that is to be logged in
   */
  handOver(panel: PanelState, browser: string): Promise<string>;
  isHandOver(token: string): boolean;
  /**
   * Uses up a hand-over, in all processes; null when it is invalid, too old or used, or the administrator may no longer
   * manage.
   * @param browser the login cookie of a browser that is to be logged in. CsrfError unless the hand-over was made for it
   */
  redeem(token: string, login?: { browser: string | undefined }): Promise<Redeemed | null>;
  /** The administrator of a session cookie; null when it is not genuine or has ended, or they may no longer manage. */
  resolve(value: string): Promise<Requester | null>;
  isSession(value: string): boolean;
  /** An administrator without a session, with the rights of one; null for none who may act. */
  impersonate(id: string): Promise<Requester | null>;
  /** An administrator with the permissions of an admin token of theirs; null when it is gone or has expired, or they may not act. */
  withToken(id: string, token: string): Promise<Requester | null>;
  /** Whether an administrator may do everything in Strapi. */
  isSuper(id: string): Promise<boolean>;
  /** Ends the session in every process. */
  end(value: string): Promise<void>;
}

interface Redeemed {
  /** The administrator as a bearer. */
  requester: Requester;
  /** Starts a session; the value of its cookie. */
  start(): Promise<string>;
}

interface AdministratorsOptions {
  keyring: Keyring;
  isSessionActive: IsSessionActive;
  now?: () => number;
}

export function createAdministrators(
  strapi: Core.Strapi,
  { keyring, isSessionActive, now = Date.now }: AdministratorsOptions,
): Administrators {
  const sessions = () => strapi.db.query(SESSION);
  const browserMac = (browser: string) => ['hand-over-browser', browser];
  const isRecent = (time: string, maxAge: number): boolean => {
    const age = now() - Number.parseInt(time, 36);
    return age <= maxAge && age >= -CLOCK_SKEW;
  };

  const engine = () => strapi.service('admin::permission').engine;

  const active = async (id: string): Promise<AdminRow | null> => {
    const user: AdminRow | null = await strapi.db
      .query(USER)
      .findOne({ where: { id: Number(id) }, populate: ['roles'] });
    return user?.isActive === true ? user : null;
  };

  const load = async (id: string): Promise<Known | null> => {
    const user = await active(id);
    return user && { user, ability: await engine().generateUserAbility(user) };
  };

  /** Only administrators who manage apps are handed over; the session ends when they no longer do. */
  const manager = ({ user, ability }: Known, credential: CredentialKind): Requester | null => {
    const requester = adminRequester(user, ability, { credential, token: null });
    return requester?.isManager ? requester : null;
  };

  const signed = ({ id, password }: AdminRow, time: string, session: string) => [
    'admin-session',
    id,
    time,
    session,
    password ?? '',
  ];

  const handOverOf = ({ id, password }: AdminRow, time: string, once: string, browser: string) => [
    'hand-over',
    id,
    time,
    once,
    browser,
    password ?? '',
  ];

  const deviceOf = async (session: string): Promise<string | undefined> =>
    (await sessions().findOne({ where: { sessionId: session } }))?.deviceId ?? undefined;

  const start = async (user: AdminRow, device: string | undefined): Promise<string> => {
    const time = now().toString(36);
    const made = await strapi.sessionManager(ORIGIN).generateRefreshToken(String(user.id), device, { type: 'session' });
    return ['admin', user.id, time, made.sessionId, keyring.sign(signed(user, time, made.sessionId))].join('.');
  };

  /** The administrator and session of a genuine cookie, whether or not the session is still active. */
  const open = async (value: string): Promise<{ known: Known; session: string } | null> => {
    const [, id = '', time = '', session = '', mac = ''] = VALUE.exec(value) ?? [];
    if (id === '' || !isRecent(time, MAX_ADMIN_SESSION_AGE)) return null;
    const known = await load(id);
    return known && keyring.verify(signed(known.user, time, session), mac) ? { known, session } : null;
  };

  return {
    isHandOver: (token) => HAND_OVER.test(token),
    isSession: (value) => VALUE.test(value),
    async impersonate(id) {
      const known = await load(id);
      return known && adminRequester(known.user, known.ability, { credential: 'bearer', token: null });
    },

    async withToken(id, token) {
      const where = { id: Number(token), kind: 'admin', adminUserOwner: { id: Number(id) } };
      const row = await strapi.db.query(TOKEN).findOne({ where, populate: ['adminPermissions'] });
      const user = row && !hasExpired(row, now()) ? await active(id) : null;
      if (!user) return null;
      const ability = await engine().generateTokenAbility(row.adminPermissions ?? [], user);
      return adminRequester(user, ability, { credential: 'bearer', token: Number(token) });
    },

    async isSuper(id) {
      return isSuperAdmin((await load(id))?.user);
    },

    async handOver({ auth, session }, browser) {
      // An admin token has fewer rights than its owner.
      const user = auth?.strategy.name === 'admin' ? (auth.credentials as AdminRow) : null;
      if (!user || !session || !manager({ user, ability: auth?.ability }, 'bearer'))
        throw new AppsError('ForbiddenError', 'This takes a session of the admin panel, and the right to manage apps.');
      const { id } = user;
      const [time, once] = [now().toString(36), randomBytes(16).toString('hex')];
      const until = new Date(now() + MAX_HAND_OVER_AGE);
      const data = {
        userId: String(id),
        sessionId: once,
        origin: ORIGIN,
        deviceId: await deviceOf(session.id),
        type: 'session',
        status: 'active',
        childId: null,
        expiresAt: until,
        absoluteExpiresAt: until,
      };
      await sessions().create({ data });
      const mac = keyring.sign(browserMac(browser));
      return ['handover', id, time, once, mac, keyring.sign(handOverOf(user, time, once, mac))].join('.');
    },

    async redeem(token, login) {
      const [, id = '', time = '', once = '', browser = '', mac = ''] = HAND_OVER.exec(token) ?? [];
      const known = id !== '' && isRecent(time, MAX_HAND_OVER_AGE) ? await load(id) : null;
      if (!known || !keyring.verify(handOverOf(known.user, time, once, browser), mac)) return null;
      if (login && !(login.browser !== undefined && keyring.verify(browserMac(login.browser), browser)))
        throw new AppsError('CsrfError', 'The admin panel has not opened this page in this browser.');
      const requester = manager(known, 'bearer');
      const device = await deviceOf(once);
      // One statement, so that only one of several requests in any process succeeds.
      const { count } = await sessions().deleteMany({ where: { sessionId: once, origin: ORIGIN } });
      if (count !== 1 || !requester) return null;
      return { requester, start: () => start(known.user, device) };
    },

    async resolve(value) {
      const opened = await open(value);
      if (opened === null || !(await isSessionActive(ORIGIN, opened.session))) return null;
      return manager(opened.known, 'cookie');
    },

    async end(value) {
      const opened = await open(value);
      if (opened === null) return;
      const where = { sessionId: opened.session, userId: String(opened.known.user.id), origin: ORIGIN };
      await sessions().deleteMany({ where });
    },
  };
}

/**
 * Whether a session of Strapi's session manager has neither ended nor expired: what its `isSessionActive` answers.
 * @param origin whose sessions: `users-permissions`, or `admin`
 */
export type IsSessionActive = (origin: string, id: string) => Promise<boolean>;

export function createActiveSessions(strapi: Core.Strapi, run: RunStatement): IsSessionActive {
  const { tableOf, columnOf, statement } = createPermissionTables(strapi, run);
  const column = (attribute: string) => columnOf(SESSION, attribute);
  const active = statement<object>(
    () => tableOf(SESSION),
    (query, value) =>
      query
        .where({ [column('sessionId')]: value(0), [column('origin')]: value(1) })
        .where(column('expiresAt'), '>', value(2))
        .select('id')
        .limit(1),
  );
  return async (origin, id) => (await active(id, origin, new Date())).length > 0;
}
