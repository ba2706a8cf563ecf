import type { Core } from '@strapi/strapi';
import { memoized } from '../../common/collections';
import { AppsError } from '../../common/errors';
import { coalesceReads } from '../../common/time/coalesce';
import { newRequester } from '../rights/acl';
import { appsActions } from '../rights/permissions';
import type { RoleRow, Roles, UserKey, UserRow } from '../rights/roles';
import type { CredentialKind, Requester, StrapiAuth } from '../types';

const USER = 'plugin::users-permissions.user';
const ROLE = 'plugin::users-permissions.role';

/** A hash that no password has: checked for unknown users, so that their answer takes as long as for known ones. */
const NO_HASH = `$2a$10$${'CwTycUXWue0Thq9StjUM0u'}${'J8e3V1H2p2l6WlR4F5oJm0bQ2m6lq2e'}`;

/**
 * Strapi's `auth` for users and anonymous: the same answers as the strategy of users-permissions, also for a Public
 * role without any permission, for which Strapi makes no `auth` at all.
 */
function authOf(user: UserRow | null, granted: ReadonlySet<string>): StrapiAuth {
  const strategy = {
    name: 'users-permissions',
    async verify(_auth: unknown, { scope }: { scope?: string | string[] }): Promise<void> {
      if (scope === undefined ? user !== null : [scope].flat().every((action) => granted.has(action))) return;
      throw new AppsError(user === null ? 'UnauthorizedError' : 'ForbiddenError', 'This action is not permitted.');
    },
  };
  return { strategy, credentials: user, ability: { can: (action: string) => granted.has(action) } };
}

/** A user who is not stored. */
const nameless: UserRow = {
  id: 0,
  documentId: '',
  username: '',
  email: '',
  password: null,
  provider: null,
  confirmed: true,
  blocked: false,
};

/** The users of users-permissions, read for each request: nothing about a user is cached. Concurrent requests share a read. */
export interface Users {
  /** The user with role and permissions, or null. */
  load(key: UserKey): Promise<UserRow | null>;
  /** Users who log in with one of these usernames or e-mails and have a password; without roles. */
  named(identifiers: readonly string[]): Promise<UserRow[]>;
  /** The only username that differs from this one in letter case alone; the name itself where a user has it, or several differ so. */
  spelled(name: string): Promise<string>;
  /** Whether the user may act: not blocked, confirmed where Strapi asks for it. */
  isActive(user: UserRow): Promise<boolean>;
  /** Whether the password is the user's; slow on purpose, also for null. */
  hasPassword(user: UserRow | null, password: string): Promise<boolean>;
  /** The user as a requester, or null if they may not act or have no role of their own. Expects a user from `load`. */
  requester(user: UserRow, credential: CredentialKind): Promise<Requester | null>;
  anonymous(): Promise<Requester>;
  /** Anonymous, with the groups and permissions of these roles besides those of the Public role. */
  anonymousIn(roles: readonly RoleRow[]): Promise<Requester>;
  /** A user without a name or records, who has the role. Anonymous for the role of those who are not logged in. */
  member(role: RoleRow): Promise<Requester>;
}

/** Whether an identifier is the user's username, or their e-mail in any case. */
export function isNamed(user: UserRow, identifier: string): boolean {
  return user.username === identifier || user.email?.toLowerCase() === identifier.toLowerCase();
}

/** Usernames that are read to find one in another letter case. */
const MAX_SPELLINGS = 50;

/** The one of these usernames that is meant: the same, else the only one in another letter case, else the name itself. */
export function spelledAs(name: string, usernames: readonly string[]): string {
  const [only, ...others] = usernames.filter((one) => one.toLowerCase() === name.toLowerCase());
  return only === undefined || others.length > 0 || usernames.includes(name) ? name : only;
}

export function createUsers(strapi: Core.Strapi, roles: Roles): Users {
  const manages = (actions: ReadonlySet<string>): boolean => actions.has('plugin::apps.app.manage');

  const can = (actions: ReadonlySet<string>): Requester['can'] => {
    const all = manages(actions);
    return (action) => appsActions.includes(action) && (all || actions.has(action));
  };

  /** A requester with the permissions of roles. */
  const requesterOf = (
    held: readonly Pick<RoleRow, 'name' | 'permissions'>[],
    user: UserRow | null,
    own: Omit<Requester, 'groups' | 'isManager' | 'can' | 'auth'>,
  ): Requester => {
    const actions = new Set(held.flatMap(({ permissions }) => permissions.map(({ action }) => action)));
    return newRequester({
      groups: [...new Set(held.map(({ name }) => name))],
      isManager: manages(actions),
      can: can(actions),
      auth: authOf(user, actions),
      ...own,
    });
  };

  const isActive = async (user: UserRow): Promise<boolean> => {
    if (user.blocked === true) return false;
    if (user.confirmed === true) return true;
    const advanced = await strapi.store({ type: 'plugin', name: 'users-permissions' }).get({ key: 'advanced' });
    return (advanced as { email_confirmation?: boolean } | null)?.email_confirmation !== true;
  };

  const inTransaction = (): boolean => strapi.db.inTransaction();

  const load = coalesceReads((key) => roles.ofUser(JSON.parse(key)), inTransaction);

  const asVisitor = (held: readonly Pick<RoleRow, 'name' | 'permissions'>[]): Requester =>
    requesterOf(held, null, {
      kind: 'anonymous',
      credential: 'anonymous',
      identity: '',
      username: null,
      profile: null,
    });
  const noRole: RoleRow = { name: 'Public', type: 'public', permissions: [] };
  let lastRole = { text: '', role: noRole };

  /** A role that grants the same as at the last read is the same object, so that what follows from it is made once. */
  const publicRole = coalesceReads(async (type) => {
    const role = (strapi.contentType(ROLE) && (await roles.ofType(type))) ?? noRole;
    const text = JSON.stringify(role);
    if (text !== lastRole.text) lastRole = { text, role };
    return lastRole.role;
  }, inTransaction);
  const visitorWith = memoized((role: RoleRow) => asVisitor([role]));

  const anonymous = async (): Promise<Requester> => visitorWith(await publicRole('public'));

  const anonymousIn = async (held: readonly RoleRow[]): Promise<Requester> =>
    held.length === 0 ? anonymous() : asVisitor([await publicRole('public'), ...held]);

  return {
    isActive,
    load: (key) => load(JSON.stringify(key)),
    async named(identifiers) {
      const emails = identifiers.map((identifier) => identifier.toLowerCase());
      const found: UserRow[] = await strapi.db.query(USER).findMany({
        where: { $or: [{ username: { $in: identifiers } }, { email: { $in: emails } }] },
      });
      return found.filter((user) => user.password && (user.provider ?? 'local') === 'local');
    },
    async spelled(name) {
      const where = { username: { $eqi: name } };
      const found = await strapi.db.query(USER).findMany({ where, select: ['username'], limit: MAX_SPELLINGS });
      return spelledAs(name, found.length < MAX_SPELLINGS ? found.map(({ username }) => String(username)) : []);
    },
    async hasPassword(user, password) {
      const service = strapi.plugin('users-permissions').service('user');
      const same: boolean = await service.validatePassword(password, user?.password ?? NO_HASH);
      return same && user !== null;
    },
    async requester(user, credential) {
      const { id, documentId, username, email, role } = user;
      // Strapi moves the users of a deleted role to Public, the role of those who are not logged in.
      if (!role || role.type === 'public') return null;
      if (!(await isActive(user))) return null;
      return requesterOf([role], user, {
        kind: 'user',
        credential,
        identity: `user:${documentId}`,
        username,
        // A user must not join a group by choosing its name as username.
        nameIsGroup: role.nameIsGroup,
        profile: { id, documentId, username, email, role: { name: role.name, type: role.type } },
      });
    },
    anonymous,
    anonymousIn,
    async member(role) {
      if (role.type === 'public') return anonymous();
      return requesterOf(
        [role],
        { ...nameless, role: { ...role, nameIsGroup: false } },
        {
          kind: 'user',
          credential: 'bearer',
          identity: 'user:',
          username: null,
          profile: { id: 0, documentId: '', username: '', email: '', role: { name: role.name, type: role.type } },
        },
      );
    },
  };
}

/** Who has created a record, as the admin panel shows it. */
export interface Creator {
  /** Their name; the identity itself where there is no such account any more. */
  name: string;
  /** Path of the panel's page about them; null where there is no such account any more. */
  path: string | null;
}

interface Kind {
  uid: string;
  /** The attribute that the identity names. */
  key: 'id' | 'documentId';
  name: string;
  path(id: string): string;
}

/** Kinds of identities by their prefix (`Requester.identity`). */
const kinds: Record<string, Kind> = {
  user: {
    uid: 'plugin::users-permissions.user',
    key: 'documentId',
    name: 'username',
    path: (id) => `/content-manager/collection-types/plugin::users-permissions.user/${id}`,
  },
  admin: { uid: 'admin::user', key: 'id', name: 'email', path: (id) => `/settings/users/${id}` },
  token: { uid: 'admin::api-token', key: 'id', name: 'name', path: (id) => `/settings/api-tokens/${id}` },
};

/** An account of users-permissions. */
export interface Account {
  identity: string;
  username: string;
  email: string | null;
}

/** Accounts that are read to find one whose e-mail is written otherwise. */
const MAX_ACCOUNTS = 1_000;

/** The accounts that have this username or identity, or one of these e-mails in any case; others too, where a text has wildcards of SQL. */
export async function accountsOf(strapi: Core.Strapi, who: string, emails: readonly string[]): Promise<Account[]> {
  const { uid } = kinds.user as Kind;
  if (strapi.contentType(uid as never) === undefined) return [];
  const byEmail = emails.map((email) => ({ email: { $eqi: email } }));
  const named = [{ username: who }, { documentId: who.replace(/^user:/, '') }, ...byEmail];
  const select = ['id', 'documentId', 'username', 'email'];
  const rows: Record<string, unknown>[] = await strapi.db
    .query(uid)
    .findMany({ where: { $or: named }, select, limit: MAX_ACCOUNTS });
  return rows.map(({ documentId, username, email }) => ({
    identity: `user:${documentId}`,
    username: String(username),
    email: (email as string | null) ?? null,
  }));
}

/** The accounts of identities, by identity; each kind is read once. */
export async function creatorsOf(
  strapi: Core.Strapi,
  identities: readonly string[],
): Promise<ReadonlyMap<string, Creator>> {
  const found = new Map<string, Creator>(identities.map((identity) => [identity, { name: identity, path: null }]));
  for (const [prefix, { uid, key, name, path }] of Object.entries(kinds)) {
    const ids = [...found.keys()].flatMap((identity) =>
      identity.startsWith(`${prefix}:`) ? [identity.slice(prefix.length + 1)] : [],
    );
    // An id that is no number would be an error of the database.
    const wanted = key === 'id' ? ids.filter((id) => /^\d{1,9}$/.test(id)).map(Number) : ids;
    if (wanted.length === 0 || strapi.contentType(uid as never) === undefined) continue;
    const rows: Record<string, unknown>[] = await strapi.db
      .query(uid)
      .findMany({ where: { [key]: { $in: wanted } }, select: [...new Set(['id', key, name])] });
    for (const row of rows) {
      const id = String(row[key]);
      found.set(`${prefix}:${id}`, { name: String(row[name] ?? id), path: path(id) });
    }
  }
  return found;
}
