import { expect, test } from 'vitest';
import type { Host } from '../../support/host';
import { cookieOf, logIn } from '../../support/login';
import { createUser, grantRole, userToken } from '../../support/seed';
import { basic, bearer, send } from '../../support/send';
import type { Stage } from '../../support/stage';

export function deletedRole(stage: Stage, twin: Host): void {
  test('users of a role that was deleted in the panel are refused until they have another', async () => {
    const { host } = stage;
    const user = await createUser(host, { username: 'late', role: 'leaving' });
    const credentials: Record<string, string>[] = [
      bearer(await userToken(host, user)),
      basic(`late.${user.password}`),
      { cookie: cookieOf(await logIn(host.url, { name: 'late', password: user.password })) },
    ];
    const statuses = async () => {
      const asked = [host, twin].flatMap(({ url }) =>
        credentials.map((headers) =>
          send(url, { method: 'GET', path: '/site/@@apps/open', headers: { accept: 'application/json', ...headers } }),
        ),
      );
      return (await Promise.all(asked)).map(({ status }) => status);
    };
    const all = (status: number) => Array(6).fill(status);
    expect(await statuses()).toEqual(all(200));

    const id = await grantRole(host, 'leaving');
    const answer = await stage.send({ as: 'root', send: `DELETE /users-permissions/roles/${id}`, csrf: false });
    expect(answer.status, answer.text).toBe(200);
    expect(await statuses()).toEqual(all(401));
    const login = await logIn(host.url, { name: 'late', password: user.password });
    expect([login.status, cookieOf(login)]).toEqual([401, '']);

    await host.run(
      async (strapi, id, role) => {
        await strapi.plugin('users-permissions').service('user').edit(id, { role });
      },
      user.id,
      await grantRole(host, 'staying'),
    );
    expect(await statuses()).toEqual(all(200));
  });
}
