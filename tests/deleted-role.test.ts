import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Host } from './support/host';
import { cookieOf, logIn } from './support/login';
import { createUser, grantRole, userToken } from './support/seed';
import { send } from './support/send';
import { openStage, type Stage, startTwin } from './support/stage';

let stage: Stage;
let twin: Host;
beforeAll(async () => {
  stage = await openStage();
  twin = await startTwin(stage);
});
afterAll(async () => {
  await twin?.stop();
  await stage?.close();
});

test('users of a role that was deleted in the panel are refused until they have another', async () => {
  const { host } = stage;
  const user = await createUser(host, { username: 'late', role: 'leaving' });
  const basic = `Basic ${Buffer.from(`late.${user.password}`).toString('base64')}`;
  const credentials: Record<string, string>[] = [
    { authorization: `Bearer ${await userToken(host, user)}` },
    { authorization: basic },
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
