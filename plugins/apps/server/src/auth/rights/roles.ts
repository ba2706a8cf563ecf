import type { Core } from '@strapi/strapi';

const USER = 'plugin::users-permissions.user';
const ROLE = 'plugin::users-permissions.role';
const PERMISSION = 'plugin::users-permissions.permission';

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
  /** The user's role; null when they have none. */
  ofUser(id: number): Promise<UserRole | null>;
}

/** A user's role, and whether any role is called exactly as the user is. */
export interface UserRole extends RoleRow {
  nameIsGroup: boolean;
}

type Query = ReturnType<Core.Strapi['db']['connection']>;

/** The table behind a relation, and its columns for this side and the other. */
interface Link {
  table: string;
  own: string;
  other: string;
}

interface RoleLine {
  id: number;
  name: string;
  type: string;
  action: string | null;
}

/** A line of a user's role: with the role of the user's name, if there is one. Some databases compare without case. */
interface UserRoleLine extends RoleLine {
  username: string;
  namesake: string | null;
}

/** Roles of one list. */
const MAX_ROLES = 200;

export function createRoles(strapi: Core.Strapi): Roles {
  const tableOf = (uid: string) => strapi.db.metadata.get(uid).tableName;

  const linkOf = (uid: string, attribute: string): Link => {
    const { joinTable } = strapi.db.metadata.get(uid).attributes[attribute] as unknown as {
      joinTable: { name: string; joinColumn: { name: string }; inverseJoinColumn: { name: string } };
    };
    return { table: joinTable.name, own: joinTable.joinColumn.name, other: joinTable.inverseJoinColumn.name };
  };

  /** Runs a query on the roles `r`, in the transaction that the caller is in. */
  const ask = async <Row>(build: (query: Query) => Query): Promise<Row[]> => {
    const query = build(strapi.db.getConnection(`${tableOf(ROLE)} as r`));
    return strapi.db.inTransaction() ? query.transacting((await strapi.db.transaction()).get()) : query;
  };

  const withPermissions = (query: Query): Query => {
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

  return {
    ofType: async (type) => roleOf(await ask<RoleLine>((query) => withPermissions(query).where('r.type', type))),
    async all() {
      const lines = await ask<RoleLine>((query) => query.select('r.name', 'r.type').orderBy('r.id').limit(MAX_ROLES));
      const isPublic = ({ type }: RoleLine) => type === 'public';
      return [...lines.filter(isPublic), ...lines.filter((line) => !isPublic(line))].map(({ name }) => name);
    },
    // Some databases compare without case: the name itself decides.
    async named(name) {
      const role = roleOf(await ask<RoleLine>((query) => withPermissions(query).where('r.name', name)));
      return role?.name === name ? role : null;
    },
    async ofUser(id) {
      const held = linkOf(USER, 'role');
      const lines = await ask<UserRoleLine>((query) =>
        withPermissions(query)
          .join(`${held.table} as h`, `h.${held.other}`, 'r.id')
          .join(`${tableOf(USER)} as u`, 'u.id', `h.${held.own}`)
          .leftJoin(`${tableOf(ROLE)} as n`, 'n.name', 'u.username')
          .where('u.id', id)
          .select('u.username', 'n.name as namesake'),
      );
      const role = roleOf(lines);
      return role && { ...role, nameIsGroup: lines.some(({ username, namesake }) => namesake === username) };
    },
  };
}
