import type { Host } from './host';

export interface User {
  id: number;
  username: string;
  email: string;
  password: string;
}

/** Makes a users-permissions role (a group) with the given Strapi actions, or adds them to an existing one. */
export function grantRole(host: Host, name: string, actions: string[] = []): Promise<number> {
  return host.run(
    async (strapi, name, actions) => {
      const roles = strapi.db.query('plugin::users-permissions.role');
      const where = { $or: [{ name }, { type: name.toLowerCase() }] };
      const role =
        (await roles.findOne({ where })) ?? (await roles.create({ data: { name, type: name.toLowerCase() } }));
      const permissions = strapi.db.query('plugin::users-permissions.permission');
      for (const action of actions) await permissions.create({ data: { action, role: role.id } });
      return role.id as number;
    },
    name,
    actions,
  );
}

/** The content type of the host that has drafts and a private field. */
export const article = 'api::article.article';

/** Lets a group do more with articles over REST; without actions, read them. */
export function grantArticles(host: Host, name: string, actions: string[] = ['find', 'findOne']): Promise<number> {
  return grantRole(
    host,
    name,
    actions.map((action) => `${article}.${action}`),
  );
}

/** Makes a users-permissions user in a group, which is made if there is none. */
export async function createUser(
  host: Host,
  user: { username: string; password?: string; email?: string; role?: string; blocked?: boolean; confirmed?: boolean },
): Promise<User> {
  const { username, password = `Secret-${username}-1`, email = `${username}@example.com` } = user;
  const role = await grantRole(host, user.role ?? 'Authenticated');
  const data = {
    username,
    email,
    password,
    role,
    provider: 'local',
    blocked: user.blocked ?? false,
    confirmed: user.confirmed ?? true,
  };
  const id = await host.run(
    async (strapi, data) => (await strapi.plugin('users-permissions').service('user').add(data)).id as number,
    data,
  );
  return { id, username, email, password };
}

/** A users-permissions JWT of the user, as a login gives it. */
export function userToken(host: Host, user: Pick<User, 'id'>): Promise<string> {
  return host.run(
    async (strapi, id) => (await strapi.plugin('users-permissions').service('jwt').issue({ id })) as string,
    user.id,
  );
}

/** A content API token; `permissions` are the actions of a custom one. */
export function apiToken(
  host: Host,
  token: { name: string; type: 'read-only' | 'full-access' | 'custom'; permissions?: string[] },
): Promise<string> {
  return host.run(async (strapi, token) => {
    const data = { description: '', lifespan: null, ...token };
    return (await strapi.service('admin::api-token').create(data)).accessKey as string;
  }, token);
}

/** Makes an administrator (a super admin, or of a new role with the given admin permissions, `<action>` or `<action> <subject>`) and logs in. */
export async function adminToken(host: Host, options: { email?: string; actions?: string[] } = {}): Promise<string> {
  const { email = 'root@example.com', actions } = options;
  const password = 'Root-Secret-1';
  await host.run(
    async (strapi, email, password, actions) => {
      const roles = strapi.service('admin::role');
      const role = actions ? await roles.create({ name: email, description: '' }) : await roles.getSuperAdmin();
      if (actions) {
        await roles.assignPermissions(
          role.id,
          actions.map((text) => {
            const [action, subject = null] = text.split(' ');
            return { action, subject };
          }),
        );
      }
      const data = { email, password, firstname: 'Test', isActive: true, registrationToken: null, roles: [role.id] };
      await strapi.service('admin::user').create(data);
    },
    email,
    password,
    actions ?? null,
  );
  const response = await fetch(`${host.url}/admin/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  const { data } = (await response.json()) as { data: { token: string } };
  return data.token;
}

/** Counts of the entries that a first start makes. */
export function countsOf(host: Host) {
  return host.run(async (strapi) => ({
    administrators: await strapi.db.query('admin::user').count(),
    users: await strapi.db.query('plugin::users-permissions.user').count(),
    roles: await strapi.db.query('plugin::users-permissions.role').count(),
    permissions: await strapi.db.query('plugin::users-permissions.permission').count(),
    articles: await strapi.db.query('api::article.article').count(),
    pages: await strapi.db.query('api::page.page').count(),
    publicReads: await strapi.db
      .query('plugin::users-permissions.permission')
      .count({ where: { action: { $startsWith: 'api::' } } }),
  }));
}
