import { expect, test } from 'vitest';
import { createChoices, type SettingStore } from './themes';

/** A store whose reads outside a transaction wait until they are released, as for a pool's only connection. */
function store(stored: { theme: string }) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const state = { inTransaction: false };
  const settings: SettingStore = {
    keys: async () => new Set(['theme']),
    async get(key) {
      expect(key).toBe('theme');
      const { theme } = stored;
      if (!state.inTransaction) await released;
      return theme;
    },
    async set(_key, value) {
      stored.theme = value;
    },
    inTransaction: () => state.inTransaction,
  };
  return { settings, state, release };
}

test('code inside a transaction does not wait for a read outside of it', async () => {
  const { settings, state, release } = store({ theme: 'chosen' });
  const choices = createChoices(settings);
  const outside = choices.get('theme');
  await new Promise((resolve) => setImmediate(resolve));
  state.inTransaction = true;
  expect(await choices.get('theme')).toBe('chosen');
  state.inTransaction = false;
  release();
  expect(await outside).toBe('chosen');
});

test('what no administrator has chosen is not read by itself', async () => {
  const { settings, release } = store({ theme: 'chosen' });
  const choices = createChoices(settings);
  release();
  expect([await choices.get('options'), await choices.get('theme')]).toEqual([null, 'chosen']);
});

test('a read that began before a choice was stored does not undo the choice', async () => {
  const { settings, release } = store({ theme: 'old' });
  const choices = createChoices(settings);
  const before = choices.get('theme');
  await new Promise((resolve) => setImmediate(resolve));
  await choices.set('theme', 'new');
  release();
  await before;
  expect(await choices.get('theme')).toBe('new');
});
