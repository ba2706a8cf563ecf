import type { Core } from '@strapi/strapi';
import type { User } from '../index';

const USER = 'plugin::users-permissions.user';
const ROLE = 'plugin::users-permissions.role';
const PERMISSION = 'plugin::users-permissions.permission';

const PASSWORD = 'Secret-of-tests-1';
/** Its hash by bcrypt with the lowest cost: users log in often, and Strapi's cost of 10 takes most of a test's time. */
const HASH = '$2a$04$1kigCbaQOHCe4dkAm.vNXeGRaN5VTMjLTTR.zRlExvvNOfMcDEU3q';

/** Users and groups of users-permissions, made when a test needs them; they stay until the host ends. */
export interface People {
  /** Lets every role read the host's content, as on a public site. Before the first test. */
  openContent(): Promise<void>;
  /** Makes the user, and the group, if there are none, and puts the user into the group. */
  ensure(user: User): Promise<{ username: string; password: string; identity: string }>;
  /** Takes from groups what tests have given them. */
  reset(): Promise<void>;
}

export function createPeople(strapi: Core.Strapi): People {
  const readActions = Object.keys(strapi.contentTypes)
    .filter((uid) => uid.startsWith('api::'))
    .flatMap((uid) => [`${uid}.find`, `${uid}.findOne`]);
  const query = (uid: string) => strapi.db.query(uid as typeof ROLE);
  /** Ids of permissions that tests have added. */
  let added: number[] = [];

  const grant = async (role: number, actions: readonly string[]): Promise<number[]> => {
    const ids: number[] = [];
    for (const action of actions) {
      if (await query(PERMISSION).findOne({ where: { action, role } })) continue;
      ids.push((await query(PERMISSION).create({ data: { action, role } })).id);
    }
    return ids;
  };

  const roleOf = async (name: string): Promise<number> => {
    const known = await query(ROLE).findOne({ where: { name } });
    if (known) return known.id;
    const made = await query(ROLE).create({ data: { name, type: name.toLowerCase(), description: 'Made by tests' } });
    await grant(made.id, readActions);
    return made.id;
  };

  const add = async (username: string, role: number) => {
    const email = `${username}@apps.test`.toLowerCase();
    const account = { username, email, password: PASSWORD, provider: 'local', confirmed: true, blocked: false, role };
    const user = await strapi.plugin('users-permissions').service('user').add(account);
    await query(USER).update({ where: { id: user.id }, data: { password: HASH } });
    return user;
  };

  return {
    async openContent() {
      for (const { id } of await query(ROLE).findMany({})) await grant(id, readActions);
    },
    async ensure({ user: username, groups = [], permissions = [] }) {
      if (groups.length > 1)
        throw new Error(`app.as: Strapi gives a user one role, so "${username}" cannot be in ${groups.join(' and ')}`);
      const role = await roleOf(groups[0] ?? 'Authenticated');
      added.push(...(await grant(role, permissions)));
      const known = await query(USER).findOne({ where: { username }, populate: ['role'] });
      const user = known ?? (await add(username, role));
      const wrong = known && known.role?.id !== role;
      if (wrong) await query(USER).update({ where: { id: known.id }, data: { role } });
      return { username, password: PASSWORD, identity: `user:${user.documentId}` };
    },
    async reset() {
      if (added.length > 0) await query(PERMISSION).deleteMany({ where: { id: { $in: added } } });
      added = [];
    },
  };
}
