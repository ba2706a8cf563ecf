import type { Core } from '@strapi/strapi';
import type { Roles } from '../rights/roles';
import type { Requester } from '../types';
import type { Administrators } from './administrators';
import type { Users } from './users';

const USER = 'plugin::users-permissions.user';

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
    const row: { documentId: string } | null = strapi.contentType(USER)
      ? await strapi.db.query(USER).findOne({ where: { username } })
      : null;
    return row && user({ documentId: row.documentId });
  };
  const of: Impersonations['of'] = async (who) => {
    if (who.kind === 'anonymous') return users.anonymous();
    if (who.kind === 'administrator') return /^\d{1,15}$/.test(who.id) ? administrators.impersonate(who.id) : null;
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
    groups: async () => (strapi.contentType(USER) ? roles.all() : []),
    async withIdentity(identity) {
      const [, kind, id = ''] = /^(user|admin):(.+)$/.exec(identity) ?? [];
      if (identity === '') return of({ kind: 'anonymous' });
      if (kind === 'user') return user({ documentId: id });
      return kind === 'admin' ? of({ kind: 'administrator', id }) : null;
    },
  };
}
