/** Runs in a host (`host.run`): makes a user of the role for logged-in users, and an API token. @returns `jwt` and `token` */
export async function makeRequesters(strapi) {
  const member = await strapi.db.query('plugin::users-permissions.role').findOne({ where: { type: 'authenticated' } });
  const user = await strapi.plugin('users-permissions').service('user').add({
    username: 'bench',
    email: 'bench@example.com',
    password: 'Bench-Secret-1',
    provider: 'local',
    confirmed: true,
    blocked: false,
    role: member.id,
  });
  const jwt = await strapi.plugin('users-permissions').service('jwt').issue({ id: user.id });
  const token = await strapi
    .service('admin::api-token')
    .create({ name: 'bench', description: '', type: 'full-access', lifespan: null });
  return { jwt: String(jwt), token: token.accessKey };
}
