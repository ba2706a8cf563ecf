import { randomBytes } from 'node:crypto';
import type { Core } from '@strapi/strapi';

/** A user who can log in to the demo, as printed once. */
export interface DemoUser {
  username: string;
  password: string;
  about: string;
}

interface DemoRole {
  /** Group name, as `settings.yaml` and `view_permission` of the demo's apps use it. */
  group: string;
  username: string;
  about: string;
  /** Strapi actions beyond reading the site's content. */
  actions: readonly string[];
}

const content = 'api::article.article';

/** Actions that everyone may do in the demo. */
const readContent = ['article.article', 'page.page'].flatMap((type) => [`api::${type}.find`, `api::${type}.findOne`]);

/** Further actions of every user: their own account. */
const ownAccount = ['plugin::users-permissions.user.me', 'plugin::users-permissions.auth.changePassword'];

/** One user for each kind of right (docs/reference/rights.md#records-acl-in-settingsyaml). */
const roles: readonly DemoRole[] = [
  { group: 'readers', username: 'rita', about: 'reader: sees records', actions: [] },
  { group: 'submitters', username: 'sam', about: 'submitter: creates records', actions: [] },
  { group: 'authors', username: 'anna', about: 'author: creates records, changes her own', actions: [] },
  {
    group: 'editors',
    username: 'eric',
    about: 'editor: changes all records, edits articles',
    actions: [`${content}.create`, `${content}.update`],
  },
  { group: 'managers', username: 'mona', about: 'manager of all apps', actions: ['plugin::apps.app.manage'] },
];

/** A password that satisfies Strapi's rules for administrators too: upper and lower case and a digit. */
function newPassword(username: string): string {
  const name = username.charAt(0).toUpperCase() + username.slice(1);
  return `${name}-${randomBytes(6).toString('hex')}-1`;
}

async function grant(strapi: Core.Strapi, role: number, actions: readonly string[]): Promise<void> {
  const permissions = strapi.db.query('plugin::users-permissions.permission');
  for (const action of actions) {
    const known = await permissions.findOne({ where: { action, role } });
    if (!known) await permissions.create({ data: { action, role } });
  }
}

async function makeUser(strapi: Core.Strapi, demoRole: DemoRole): Promise<DemoUser> {
  const { group, username, about, actions } = demoRole;
  const role = await strapi.db
    .query('plugin::users-permissions.role')
    .create({ data: { name: group, type: group, description: `Demo: ${about}` } });
  await grant(strapi, role.id, [...readContent, ...ownAccount, ...actions]);
  const password = newPassword(username);
  await strapi
    .plugin('users-permissions')
    .service('user')
    .add({
      username,
      email: `${username}@example.com`,
      password,
      provider: 'local',
      confirmed: true,
      blocked: false,
      role: role.id,
    });
  return { username, password, about: `${about} (group '${group}')` };
}

/** Opens the site's content to everybody and makes one user, in a group of their own, for each kind of right. */
export async function makeUsers(strapi: Core.Strapi): Promise<DemoUser[]> {
  for (const type of ['public', 'authenticated']) {
    const role = await strapi.db.query('plugin::users-permissions.role').findOne({ where: { type } });
    if (role) await grant(strapi, role.id, readContent);
  }
  const users: DemoUser[] = [];
  for (const role of roles) users.push(await makeUser(strapi, role));
  return users;
}

/** Makes the administrator of the panel, a super admin. */
export async function makeAdministrator(strapi: Core.Strapi): Promise<DemoUser> {
  const email = 'admin@example.com';
  const password = newPassword('admin');
  const superAdmin = await strapi.service('admin::role').getSuperAdmin();
  await strapi.service('admin::user').create({
    email,
    firstname: 'Ada',
    lastname: 'Admin',
    password,
    isActive: true,
    registrationToken: null,
    roles: [superAdmin.id],
  });
  return { username: email, password, about: 'administrator of the panel' };
}
