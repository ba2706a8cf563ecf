import { expect, test } from 'vitest';
import { createApiTokens } from './tokens';

/** A host with one token, `secret`; `reads` counts how often Strapi authenticates. */
function make() {
  const state = {
    now: 1_000_000,
    reads: 0,
    row: { id: 4, type: 'read-only', expiresAt: null as string | null },
    valid: true,
  };
  const auth = {
    async authenticate(ctx: { request: { header: { authorization: string } }; state: Record<string, unknown> }) {
      state.reads += 1;
      const isKnown = ctx.request.header.authorization === 'Bearer secret' && state.valid;
      if (isKnown) ctx.state.auth = { strategy: { name: 'content-api-token' }, credentials: { ...state.row } };
    },
  };
  const readTokenRows = async () => JSON.stringify([state.valid, state.row]);
  const authOf = createApiTokens({ get: () => auth } as never, { readTokenRows, now: () => state.now });
  return { state, typeOf: async (token = 'secret') => ((await authOf(token))?.credentials as typeof state.row)?.type };
}

test('Strapi authenticates a token once a minute while its rows are the same', async () => {
  const { state, typeOf } = make();
  for (let n = 0; n < 5; n += 1) expect(await typeOf()).toBe('read-only');
  expect(state.reads).toBe(2);
  state.now += 60_000;
  expect(await typeOf()).toBe('read-only');
  expect(state.reads).toBe(3);
});

type State = ReturnType<typeof make>['state'];

test.each<[string, (state: State) => void, string | undefined]>([
  ['changed', (state) => Object.assign(state.row, { type: 'full-access' }), 'full-access'],
  ['deleted', (state) => Object.assign(state, { valid: false }), undefined],
])('a token that was %s is authenticated by the next request', async (_what, change, type) => {
  const { state, typeOf } = make();
  await typeOf();
  change(state);
  expect(await typeOf()).toBe(type);
  expect(await typeOf()).toBe(type);
});

test('a token that has expired meanwhile is authenticated by Strapi', async () => {
  const { state, typeOf } = make();
  state.row.expiresAt = new Date(state.now + 500).toISOString();
  await typeOf();
  const { reads } = state;
  state.now += 500;
  state.valid = false;
  expect(await typeOf()).toBeUndefined();
  expect(state.reads).toBeGreaterThan(reads);
});

test('a token that Strapi refuses is never kept', async () => {
  const { state, typeOf } = make();
  for (let n = 0; n < 3; n += 1) expect(await typeOf('garbage')).toBeUndefined();
  expect(state.reads).toBe(3);
});
