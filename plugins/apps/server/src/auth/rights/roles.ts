import type { Core } from '@strapi/strapi';
import { createPermissionTables, type KnexQuery, type RunStatement, type ValuePlaceholder } from './permissions';

const USER = 'plugin::users-permissions.user';
const ROLE = 'plugin::users-permissions.role';
const PERMISSION = 'plugin::users-permissions.permission';

/** A user of users-permissions as stored; never leaves auth/. */
export interface UserRow {
  id: number;
  documentId: string;
  username: string;
  email: string;
  /** Hash, or null for users of other providers. */
  password: string | null;
  provider: string | null;
  confirmed: boolean | null;
  blocked: boolean | null;
  role?: UserRole | null;
}

/** What identifies a user. */
export type UserKey = { id: number } | { documentId: string };

/** A role of users-permissions with what it may do. */
export interface RoleRow {
  name: string;
  type: string;
  permissions: { action: string }[];
}

/**
 * The roles of users-permissions, read for each request, because a changed role applies from the next request on in every
 * process. Each read is one statement on Strapi's own tables: every request needs one, and Strapi's query engine takes three
 * for a user, at many times the cost.
 */
export interface Roles {
  /** The role of that type (`public`); null when there is none. */
  ofType(type: string): Promise<RoleRow | null>;
  /** The names of all roles, that of visitors without a login first. */
  all(): Promise<string[]>;
  /** The role of that name; null when there is none. */
  named(name: string): Promise<RoleRow | null>;
  /** The user with their role, which is null when they have none; null when there is no such user. */
  ofUser(key: UserKey): Promise<UserRow | null>;
}

/** A user's role, and whether any role is called exactly as the user is. */
export interface UserRole extends RoleRow {
  nameIsGroup: boolean;
}

interface RoleLine {
  id: number;
  name: string;
  type: string;
  action: string | null;
}

/** The attributes of a user that are read, besides the id. */
const userAttributes = ['documentId', 'username', 'email', 'password', 'provider', 'confirmed', 'blocked'] as const;

/**
 * A line of a user: with a permission of their role, and the role of the user's name, if there are any. Some databases compare
 * without case, and some have numbers as truth values.
 */
type UserLine = Omit<UserRow, 'id' | 'role'> & { userId: number; namesake: string | null } & (
    | RoleLine
    | { [key in keyof RoleLine]: null }
  );

const truthOf = (value: unknown): boolean | null => (value === null ? null : Boolean(value));

/** Roles of one list. */
const MAX_ROLES = 200;

export function createRoles(strapi: Core.Strapi, run: RunStatement): Roles {
  const { tableOf, columnOf, linkOf, statement } = createPermissionTables(strapi, run);
  const ofRoles = (build: (query: KnexQuery, value: ValuePlaceholder) => KnexQuery) =>
    statement<RoleLine>(() => `${tableOf(ROLE)} as r`, build);

  /** Adds the permissions of the roles `r`. */
  const withPermissions = (query: KnexQuery): KnexQuery => {
    const granted = linkOf(PERMISSION, 'role');
    return query
      .leftJoin(`${granted.table} as g`, `g.${granted.other}`, 'r.id')
      .leftJoin(`${tableOf(PERMISSION)} as p`, 'p.id', `g.${granted.own}`)
      .select('r.id', 'r.name', 'r.type', 'p.action')
      .orderBy('r.id');
  };

  const roleOf = (lines: readonly RoleLine[]): RoleRow | null => {
    const [first] = lines;
    if (!first) return null;
    const permissions = lines.flatMap(({ id, action }) => (id === first.id && action !== null ? [{ action }] : []));
    return { name: first.name, type: first.type, permissions };
  };

  const userColumn = (attribute: string): string => `u.${columnOf(USER, attribute)}`;

  const withRole = (query: KnexQuery): KnexQuery => {
    const held = linkOf(USER, 'role');
    return withPermissions(
      query
        .leftJoin(`${held.table} as h`, `h.${held.own}`, 'u.id')
        .leftJoin(`${tableOf(ROLE)} as r`, 'r.id', `h.${held.other}`),
    )
      .leftJoin(`${tableOf(ROLE)} as n`, 'n.name', userColumn('username'))
      .select('u.id as userId', 'n.name as namesake')
      .select(userAttributes.map((attribute) => `${userColumn(attribute)} as ${attribute}`));
  };

  const userOf = (lines: readonly UserLine[]): UserRow | null => {
    const [first] = lines;
    if (!first) return null;
    const { userId, documentId, username, email, password, provider, confirmed, blocked } = first;
    const role = first.id === null ? null : roleOf(lines as readonly RoleLine[]);
    const nameIsGroup = lines.some(({ namesake }) => namesake === username);
    return {
      id: userId,
      documentId,
      username,
      email,
      password,
      provider,
      confirmed: truthOf(confirmed),
      blocked: truthOf(blocked),
      role: role && { ...role, nameIsGroup },
    };
  };

  const byType = ofRoles((query, value) => withPermissions(query).where('r.type', value(0)));
  const byName = ofRoles((query, value) => withPermissions(query).where('r.name', value(0)));
  const list = ofRoles((query) => query.select('r.name', 'r.type').orderBy('r.id').limit(MAX_ROLES));
  const userBy = (attribute: string) =>
    statement<UserLine>(
      () => `${tableOf(USER)} as u`,
      (query, value) => withRole(query).where(userColumn(attribute), value(0)),
    );
  const byId = userBy('id');
  const byDocumentId = userBy('documentId');

  return {
    ofType: async (type) => roleOf(await byType(type)),
    async all() {
      const lines = await list();
      const isPublic = ({ type }: RoleLine) => type === 'public';
      return [...lines.filter(isPublic), ...lines.filter((line) => !isPublic(line))].map(({ name }) => name);
    },
    // Some databases compare without case: the name itself decides.
    async named(name) {
      const role = roleOf(await byName(name));
      return role?.name === name ? role : null;
    },
    ofUser: async (key) => userOf(await ('id' in key ? byId(key.id) : byDocumentId(key.documentId))),
  };
}
