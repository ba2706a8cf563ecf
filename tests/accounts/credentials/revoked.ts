import { describe, expect, test } from 'vitest';
import type { Host } from '../../support/host';
import { cookieOf, logIn } from '../../support/login';
import { createUser, grantRole, userToken } from '../../support/seed';
import { basic, bearer, cookie } from '../../support/send';
import type { Stage } from '../../support/stage';
import { changedPassword } from './changed-password';
import { askersOf, changeUser, expectRefused } from './who';

export function revokedCredentials(stage: Stage, twin: Host): void {
  const { whoIs } = askersOf(stage);

  describe('a revoked credential is refused from the next request on, in every process', () => {
    const changes: [string, (name: string) => Promise<unknown>][] = [
      ['a blocked user', (name) => changeUser(stage.host, name, { blocked: true })],
      [
        'a deleted user',
        (name) =>
          stage.host.run(
            (strapi, username) => strapi.db.query('plugin::users-permissions.user').delete({ where: { username } }),
            name,
          ),
      ],
      [
        'users of a deleted role',
        (name) =>
          stage.host.run(
            (strapi, role) => strapi.db.query('plugin::users-permissions.role').delete({ where: { name: role } }),
            `of-${name}`,
          ),
      ],
    ];
    test.each(changes)('the credentials of %s are refused', async (what, change) => {
      const name = what.replace(/\W/g, '-');
      const user = await createUser(stage.host, { username: name, role: `of-${name}` });
      const session = cookieOf(await logIn(stage.host.url, { name, password: user.password }));
      const all = [basic(`${name}.${user.password}`), bearer(await userToken(stage.host, user)), cookie(session)];
      for (const host of [stage.host, twin]) {
        for (const headers of all) expect((await whoIs(headers, host)).json).toMatchObject({ user: name });
      }
      await change(name);
      for (const host of [twin, stage.host]) for (const headers of all) expectRefused(await whoIs(headers, host));
    });

    test('credentials with a changed password are refused', async () => {
      const user = await createUser(stage.host, { username: 'changer', role: 'readers' });
      const session = cookie(cookieOf(await logIn(stage.host.url, { name: 'changer', password: user.password })));
      const old = basic(`changer.${user.password}`);
      for (const host of [stage.host, twin])
        for (const headers of [old, session]) expect((await whoIs(headers, host)).status).toBe(200);
      await changeUser(stage.host, 'changer', { password: 'Other-Secret-2' });
      for (const host of [twin, stage.host])
        for (const headers of [old, session]) expectRefused(await whoIs(headers, host));
      for (const host of [twin, stage.host])
        expect((await whoIs(basic('changer.Other-Secret-2'), host)).json).toMatchObject({ user: 'changer' });
    });

    changedPassword(stage, twin);

    test('a changed group counts at once', async () => {
      const user = await createUser(stage.host, { username: 'mover', role: 'readers' });
      const headers = basic(`mover.${user.password}`);
      expect((await whoIs(headers)).json).toMatchObject({ groups: ['readers'], rights: ['reader'] });
      await changeUser(stage.host, 'mover', { role: await grantRole(stage.host, 'authors') });
      for (const host of [twin, stage.host])
        expect((await whoIs(headers, host)).json).toMatchObject({ groups: ['authors'] });
    });

    test('an unconfirmed user is refused where confirmation is required', async () => {
      const confirmation = (wanted: boolean) =>
        stage.host.run(async (strapi, wanted) => {
          const store = strapi.store({ type: 'plugin', name: 'users-permissions', key: 'advanced' });
          await store.set({ value: { ...((await store.get({})) as object), email_confirmation: wanted } });
        }, wanted);
      const user = await createUser(stage.host, { username: 'doubtful', confirmed: false, role: 'readers' });
      const token = await userToken(stage.host, user);
      await confirmation(true);
      try {
        for (const headers of [basic(`doubtful.${user.password}`), bearer(token)]) expectRefused(await whoIs(headers));
      } finally {
        await confirmation(false);
      }
    });

    const tokenChanges: [string, object | null][] = [
      ['a revoked API token', null],
      ['an expired API token', { expiresAt: String(Date.now() - 1_000), lifespan: '604800000' }],
    ];
    test.each(tokenChanges)('%s is refused', async (name, data) => {
      const { accessKey, id } = await stage.host.run(
        (strapi, name) =>
          strapi.service('admin::api-token').create({ name, description: '', type: 'full-access', lifespan: null }),
        name,
      );
      for (const host of [stage.host, twin])
        expect((await whoIs(bearer(accessKey), host)).json).toMatchObject({ manager: true });
      await stage.host.run(
        async (strapi, id, data) => {
          const tokens = strapi.db.query('admin::api-token');
          await (data ? tokens.update({ where: { id }, data }) : strapi.service('admin::api-token').revoke(id));
        },
        id,
        data,
      );
      for (const host of [twin, stage.host]) expectRefused(await whoIs(bearer(accessKey), host));
    });

    test('the changed permissions of an API token count at once', async () => {
      const { accessKey, id } = await stage.host.run((strapi) =>
        strapi.service('admin::api-token').create({
          name: 'changing',
          description: '',
          lifespan: null,
          type: 'custom',
          permissions: ['plugin::apps.app.manage'],
        }),
      );
      for (const permission of ['plugin::apps.app.manage', 'plugin::apps.record.find', 'plugin::apps.app.manage']) {
        await stage.host.run(
          (strapi, id, permissions) => strapi.service('admin::api-token').update(id, { type: 'custom', permissions }),
          id,
          [permission],
        );
        for (const host of [twin, stage.host, twin])
          expect((await whoIs(bearer(accessKey), host)).json).toMatchObject({
            manager: permission === 'plugin::apps.app.manage',
          });
      }
    });

    test('a deactivated administrator is refused', async () => {
      const { bearer: token } = (await stage.credential('ada')) as { bearer: string };
      expect((await whoIs(bearer(token))).json).toMatchObject({ manager: true });
      await stage.host.run((strapi) =>
        strapi.db.query('admin::user').update({ where: { email: 'ada@example.com' }, data: { isActive: false } }),
      );
      for (const host of [twin, stage.host]) expectRefused(await whoIs(bearer(token), host));
    });
  });
}
