import { afterAll, expect, test } from 'vitest';
import type { Host } from '../../support/host';
import { cookieOf, logIn } from '../../support/login';
import { createUser, grantRole, userToken } from '../../support/seed';
import { basic, bearer, cookie, send } from '../../support/send';
import type { Stage } from '../../support/stage';
import { askersOf, changeUser, expectRefused } from './who';

export function changedPassword(stage: Stage, twin: Host): void {
  const { whoIs } = askersOf(stage);

  /** A token that users-permissions issued some seconds ago. */
  const olderToken = (id: number, seconds: number): Promise<string> =>
    stage.host.run(
      (strapi, id, iat) => strapi.plugin('users-permissions').service('jwt').issue({ id, iat }) as string,
      id,
      Math.floor(Date.now() / 1000) - seconds,
    );

  const ways: [string, (name: string, id: number) => Promise<string | undefined>][] = [
    ['by code', (name) => changeUser(stage.host, name, { password: 'Other-Secret-2' }).then(() => undefined)],
    [
      'in the Content Manager',
      async (name) => {
        const documentId = await stage.host.run(
          async (strapi, username) =>
            (await strapi.db.query('plugin::users-permissions.user').findOne({ where: { username } })).documentId,
          name,
        );
        const answer = await stage.send({
          as: 'root',
          send: `PUT /content-manager/collection-types/plugin::users-permissions.user/${documentId}`,
          json: { password: 'Other-Secret-2' },
        });
        expect(answer.status, answer.text).toBe(200);
        return undefined;
      },
    ],
    [
      'by its owner',
      async (name, id) => {
        const actions = ['plugin::users-permissions.auth.changePassword'];
        await grantRole(stage.host, 'readers', actions);
        const answer = await send<{ jwt: string }>(stage.host.url, {
          method: 'POST',
          path: '/api/auth/change-password',
          headers: bearer(await olderToken(id, 5)),
          json: {
            currentPassword: `Secret-${name}-1`,
            password: 'Other-Secret-2',
            passwordConfirmation: 'Other-Secret-2',
          },
        });
        expect(answer.status, answer.text).toBe(200);
        return answer.json.jwt;
      },
    ],
    [
      'by a reset',
      async (_name, id) => {
        await stage.host.run(
          (strapi, id) =>
            strapi.db
              .query('plugin::users-permissions.user')
              .update({ where: { id }, data: { resetPasswordToken: `reset-${id}` } }),
          id,
        );
        await grantRole(stage.host, 'Public', ['plugin::users-permissions.auth.resetPassword']);
        const password = 'Other-Secret-2';
        const answer = await send<{ jwt: string }>(stage.host.url, {
          method: 'POST',
          path: '/api/auth/reset-password',
          json: { code: `reset-${id}`, password, passwordConfirmation: password },
        });
        expect(answer.status, answer.text).toBe(200);
        return answer.json.jwt;
      },
    ],
  ];
  /** How users-permissions makes its JWTs: bound to a session, or by themselves. */
  const modes = ['legacy-support', 'refresh'];
  const useMode = (mode: string) =>
    Promise.all(
      [stage.host, twin].map((host) =>
        host.run((strapi, mode) => strapi.config.set('plugin::users-permissions.jwtManagement', mode) && null, mode),
      ),
    );
  afterAll(() => useMode('refresh'));

  test.each(modes.flatMap((mode) => ways.map((way) => [mode, ...way] as const)))(
    'in the mode %s, every token of a user whose password was changed %s is refused',
    async (mode, way, change) => {
      await useMode(mode);
      const name = `changed-${mode}-${way}`.replace(/\W/g, '-');
      const user = await createUser(stage.host, { username: name, role: 'readers' });
      const session = cookieOf(await logIn(stage.host.url, { name, password: user.password }));
      const { refresh, active } = await stage.host.run(async (strapi, id) => {
        const manager = strapi.sessionManager('users-permissions');
        const { sessionId } = await manager.generateRefreshToken(String(id), undefined, { type: 'refresh' });
        return { refresh: sessionId, active: await manager.isSessionActive(sessionId) };
      }, user.id);
      expect(active).toBe(true);
      const all = [bearer(await olderToken(user.id, 10)), cookie(session), basic(`${name}.${user.password}`)];
      await stage.host.run(
        (strapi, id) =>
          strapi
            .plugin('users-permissions')
            .service('user')
            .edit(id, { email: `new-${id}@example.com` }),
        user.id,
      );
      for (const host of [stage.host, twin])
        for (const headers of all) expect((await whoIs(headers, host)).json).toMatchObject({ user: name });
      const given = await change(name, user.id);
      for (const host of [twin, stage.host]) for (const headers of all) expectRefused(await whoIs(headers, host));
      // Tokens that are issued with the change and after it are valid at once.
      const fresh = [bearer(given ?? (await userToken(stage.host, user))), basic(`${name}.Other-Secret-2`)];
      for (const host of [twin, stage.host])
        for (const headers of fresh) expect((await whoIs(headers, host)).json).toMatchObject({ user: name });
      expect(
        await stage.host.run((strapi, id) => strapi.sessionManager('users-permissions').isSessionActive(id), refresh),
      ).toBe(false);
    },
  );
}
