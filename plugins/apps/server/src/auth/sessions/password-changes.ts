import type { Core } from '@strapi/strapi';

const USER = 'plugin::users-permissions.user';
const CHANGE = 'plugin::apps.password-change';

/** When users changed their passwords: a JWT of users-permissions does not tell which password it was issued for. */
export interface PasswordChanges {
  /**
   * Whether the user's password has changed since a token was issued, in any process.
   * @param issuedAt the token's `iat`, seconds since the epoch; a token without it is older than any change
   */
  since(user: number, issuedAt: number | undefined): Promise<boolean>;
}

export function createPasswordChanges(strapi: Core.Strapi): PasswordChanges {
  return {
    async since(user, issuedAt) {
      // `iat` has whole seconds: the token that Strapi gives out along with a change may have the change's own second.
      const end = new Date(((issuedAt ?? -1) + 1) * 1000);
      const change: object | null = await strapi.db
        .query(CHANGE)
        .findOne({ select: ['id'], where: { user, createdAt: { $gte: end } } });
      return change !== null;
    },
  };
}

/** The event of Strapi's database before an update of users. */
interface UserUpdate {
  params: { where?: object; data?: { password?: unknown } };
}

/**
 * Notes every change of a password that goes through Strapi (its users-permissions routes, the Content Manager, code), and
 * ends the user's sessions: those of this plugin's login form and those of users-permissions in its refresh mode. A row is
 * kept for each user who ever changed their password. Once, in the plugin's `bootstrap`.
 */
export function watchPasswordChanges(strapi: Core.Strapi): void {
  const note = async ({ params: { where, data } }: UserUpdate): Promise<void> => {
    if (typeof data?.password !== 'string' || data.password === '') return;
    const users: { id: number }[] = await strapi.db.query(USER).findMany({ select: ['id'], where });
    for (const { id: user } of users) {
      const { id } = await strapi.db.query(CHANGE).create({ data: { user } });
      await strapi.db.query(CHANGE).deleteMany({ where: { user, id: { $lt: id } } });
      await strapi.sessionManager('users-permissions').invalidateRefreshToken(String(user));
    }
  };
  strapi.db.lifecycles.subscribe({ models: [USER], beforeUpdate: note, beforeUpdateMany: note });
}
