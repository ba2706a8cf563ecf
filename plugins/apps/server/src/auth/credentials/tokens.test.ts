import { describe, expect, test } from 'vitest';
import { authorityOf } from '../requesters';
import { appsActions } from '../rights/permissions';
import type { AppsAction, Requester } from '../types';
import { adminRequester, tokenRequester } from './tokens';

const ability = (...granted: string[]) => ({
  can: (action: string, subject?: string) => granted.includes(subject === undefined ? action : `${action} ${subject}`),
});

describe('content API tokens', () => {
  const find: AppsAction = 'plugin::apps.record.find';
  test.each([
    ['read-only', null, false, [find]],
    ['full-access', null, true, appsActions],
    ['custom', ability('plugin::apps.record.create', 'api::x.y.find'), false, ['plugin::apps.record.create']],
    ['custom', ability('plugin::apps.app.manage'), true, appsActions],
    ['custom', null, false, []],
    ['unheard-of', ability(find), false, []],
  ])('%s', (type, abilities, isManager, actions) => {
    const credentials = { id: 7, name: 'ci', type };
    const token = tokenRequester({ strategy: { name: 'content-api-token' }, credentials, ability: abilities });
    expect(token).toMatchObject({ kind: 'token', identity: 'token:7', groups: [], isManager });
    expect(appsActions.filter((action) => token.can(action))).toEqual(actions);
  });
});

describe('administrators', () => {
  const user = {
    id: 3,
    email: 'a@example.com',
    firstname: 'A',
    lastname: null,
    blocked: false,
    roles: [{ code: 'author' }],
  };
  const chief = { ...user, roles: [{ code: 'strapi-super-admin' }] };
  const session = { credential: 'bearer', token: null } as const;
  const byToken = { credential: 'bearer', token: 8 } as const;

  test.each([
    ['plain', user, ability(), session, false],
    ['with the permission', user, ability('plugin::apps.manage'), session, true],
    ['super', chief, ability(), session, true],
    ['super, by a token without the permission', chief, ability(), byToken, false],
  ])('%s', (_name, who, abilities, how, isManager) => {
    const administrator = adminRequester(who, abilities, how);
    expect(administrator).toMatchObject({ identity: 'admin:3', username: 'a@example.com', groups: [], isManager });
    expect(administrator?.can('plugin::apps.record.find')).toBe(isManager);
    expect(authorityOf(administrator as Requester)).toBe(how.token === null ? 'admin:3' : 'admin:3/token:8');
  });

  test('have no requester when blocked', () => {
    expect(adminRequester({ ...chief, blocked: true }, ability(), session)).toBeNull();
  });

  const explorer = 'plugin::content-manager.explorer.read api::article.article';
  test.each([
    ['api::article.article.find', true],
    ['api::article.article.findOne', true],
    ['api::article.article.update', false],
    ['api::page.page.find', false],
    ['api::article.article.toString', false],
    [['api::article.article.find', 'api::page.page.find'], false],
    [undefined, false],
  ])('verify %j with the Content Manager: %s', async (scope, allowed) => {
    const auth = adminRequester(user, ability(explorer), session)?.auth;
    const strategy = auth?.strategy as unknown as { verify(auth: unknown, config: object): Promise<void> };
    const verified = strategy.verify(auth, { scope });
    await (allowed
      ? expect(verified).resolves.toBeUndefined()
      : expect(verified).rejects.toMatchObject({ status: 403 }));
  });
});
