import { describe, expect, test } from 'vitest';
import { article } from '../../support/seed';
import type { Stage } from '../../support/stage';
import { rulesOf } from './requests';

export function callsFromCode(stage: Stage): void {
  const { createByApi } = rulesOf(stage);

  describe('calls from code', () => {
    test('a call has content, parameters and a requester', async () => {
      await createByApi('eight');
      const result = await stage.host.run(async (strapi) => {
        const { call } = strapi.plugin('apps').service('apps');
        const user = await strapi.db.query('plugin::users-permissions.user').findOne({ where: { username: 'eric' } });
        const auth = { strategy: { name: 'users-permissions' }, credentials: user };
        return [
          await call('watch/content/answer'),
          await call('watch/content/answer', { content: 'articles/eight', params: { a: [1] }, requester: { auth } }),
        ];
      });
      expect(result).toEqual([
        { params: {}, type: 'portal', title: 'Demo site', user: null },
        { params: { a: [1] }, type: article, title: 'eight', user: 'eric' },
      ]);
    });

    test('a call is a transaction', async () => {
      await stage.host.run(async (strapi) => {
        const { call } = strapi.plugin('apps').service('apps');
        await call('watch/content/write');
        await call('watch/content/half').catch(() => undefined);
      });
      expect(await stage.items('watch', 'written')).toMatchObject({ by: null });
      expect(await stage.items('watch', 'half')).toBeNull();
    });

    test.each([
      ['nonsense', 'BadRequestError'],
      ['nowhere/content/answer', 'NotFoundError'],
      ['watch/nowhere/answer', 'NotFoundError'],
      ['watch/content/nothing', 'NotFoundError'],
      ['watch/content/constructor', 'NotFoundError'],
      ['watch/content/fail', 'LogicError'],
    ])('a call of %s fails with %s', async (target, name) => {
      const error = await stage.host.run(
        (strapi, target) =>
          strapi
            .plugin('apps')
            .service('apps')
            .call(target)
            .catch((error: Error) => error.name),
        target,
      );
      expect(error).toBe(name);
    });
  });
}
