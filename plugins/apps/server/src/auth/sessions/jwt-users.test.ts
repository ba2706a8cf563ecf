import { expect, test } from 'vitest';
import type { Users } from '../credentials/users';
import { createJwtUsers } from './sessions';

const eric = { id: 1, username: 'eric' };

/** A host in the mode `refresh`, whose tokens are `<user>.<session>.<last second>`. */
function make() {
  const state = { now: 1_000_000, verified: 0, ended: new Set<string>() };
  const validateAccessToken = (token: string) => {
    state.verified += 1;
    const [userId, sessionId, end] = token.split('.');
    const isValid = Math.floor(state.now / 1000) <= Number(end);
    return { isValid, payload: isValid ? { type: 'access', userId, sessionId } : null };
  };
  const strapi = {
    plugin: () => ({}),
    config: { get: () => 'refresh' },
    sessionManager: () => ({ validateAccessToken }),
  };
  const users = { load: async (key: { id: number }) => (key.id === 1 ? eric : null) } as unknown as Users;
  const isSessionActive = async (_origin: string, id: string) => !state.ended.has(id);
  const userOf = createJwtUsers(strapi as never, { users, isSessionActive, now: () => state.now });
  return { state, userOf };
}

test.each([
  ['1.s.1000', eric],
  ['1.s.999', null],
  ['2.s.1000', null],
  ['x.s.1000', null],
])('the user of %s is %j', async (token, user) => {
  expect(await make().userOf(token)).toBe(user);
});

test('a token is verified once a second, and refused from the second on in which it has expired', async () => {
  const { state, userOf } = make();
  for (const now of [1_000_000, 1_000_999]) {
    state.now = now;
    expect(await userOf('1.s.1001')).toBe(eric);
  }
  expect(state.verified).toBe(1);
  state.now = 1_001_000;
  expect(await userOf('1.s.1001')).toBe(eric);
  state.now = 1_002_000;
  expect(await userOf('1.s.1001')).toBeNull();
  expect(state.verified).toBe(3);
});

test('a token is refused at once when its session has ended', async () => {
  const { state, userOf } = make();
  expect(await userOf('1.s.1001')).toBe(eric);
  state.ended.add('s');
  expect(await userOf('1.s.1001')).toBeNull();
});
