/**
 * The host of record-requests.mjs, in a process of its own: starts Strapi as `strapi start` does, makes the users and
 * articles that the requests use, and sends its address and every requester's `Authorization` header.
 */
const { createStrapi } = require('@strapi/strapi');

const password = (name) => `Secret-${name}-1`;

const readArticles = ['api::article.article.find', 'api::article.article.findOne'];

/** Users by name: their group and its Strapi actions besides reading articles. */
const users = {
  una: ['strangers', []],
  rita: ['readers', []],
  anna: ['authors', []],
  abel: ['authors', []],
  eric: ['editors', ['api::article.article.update']],
  sam: ['submitters', []],
  mona: ['managers', ['plugin::apps.app.manage']],
};

const tokens = {
  readToken: { type: 'read-only' },
  fullToken: { type: 'full-access' },
  findToken: { type: 'custom', permissions: ['plugin::apps.record.find'] },
};

const articles = [
  { title: 'First', slug: 'first', summary: 'One & only', body: 'Text <b>', secret: 'hidden', tiles: [] },
  { title: 'Second', slug: 'second', summary: '', body: '', secret: 'hidden', tiles: [] },
];

const action = 'plugin::users-permissions.permission';

async function grant(strapi, role, actions) {
  for (const name of actions) await strapi.db.query(action).create({ data: { action: name, role } });
}

/** Makes the users that the demo has not made; @returns the `Authorization` headers of all. */
async function makeUsers(strapi) {
  const query = strapi.db.query('plugin::users-permissions.role');
  const headers = {};
  for (const [username, [group, actions]] of Object.entries(users)) {
    let role = await query.findOne({ where: { type: group } });
    if (!role) {
      role = await query.create({ data: { name: group, type: group } });
      await grant(strapi, role.id, [...readArticles, ...actions]);
    }
    const service = strapi.plugin('users-permissions').service('user');
    const known = await strapi.db.query('plugin::users-permissions.user').findOne({ where: { username } });
    const account = { email: `${username}@example.com`, provider: 'local', confirmed: true, blocked: false };
    const data = { username, password: password(username), role: role.id, ...account };
    const { id } = known ? await service.edit(known.id, data) : await service.add(data);
    headers[username] = `Bearer ${await strapi.plugin('users-permissions').service('jwt').issue({ id })}`;
  }
  return headers;
}

async function makeTokens(strapi) {
  const headers = {};
  for (const [name, token] of Object.entries(tokens)) {
    const data = { name, description: '', lifespan: null, ...token };
    headers[name] = `Bearer ${(await strapi.service('admin::api-token').create(data)).accessKey}`;
  }
  return headers;
}

async function makeAdministrator(strapi, url) {
  const email = 'recorder@example.com';
  const role = await strapi.service('admin::role').getSuperAdmin();
  const data = { email, password: password('Root'), firstname: 'Root', isActive: true, registrationToken: null };
  await strapi.service('admin::user').create({ ...data, roles: [role.id] });
  const response = await fetch(`${url}/admin/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: data.password }),
  });
  return { root: `Bearer ${(await response.json()).data.token}` };
}

/** Makes articles that everyone may read. */
async function makeArticles(strapi) {
  const role = await strapi.db.query('plugin::users-permissions.role').findOne({ where: { type: 'public' } });
  await grant(strapi, role.id, readArticles);
  for (const data of articles) await strapi.documents('api::article.article').create({ data, status: 'published' });
}

async function main() {
  const appDir = process.cwd();
  const strapi = await createStrapi({ appDir, distDir: `${appDir}/dist` }).start();
  const url = strapi.config.get('server.absoluteUrl');
  if (process.env.APPS_DEMO === 'false') await makeArticles(strapi);
  const credentials = { ...(await makeUsers(strapi)), ...(await makeTokens(strapi)) };
  process.on('disconnect', () => process.exit(1));
  process.send({ url, credentials: { ...credentials, ...(await makeAdministrator(strapi, url)) } });
}

main();
