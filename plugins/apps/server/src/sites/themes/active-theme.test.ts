import { expect, test } from 'vitest';
import { createActiveThemes } from './active-theme';
import { createChoices, type SettingStore } from './choices';

const site = { id: 'site', title: 'Site', theme: 'basic' };

/** A store whose reads outside a transaction wait until they are released, as for a pool's only connection. */
function store(stored: { theme: string }) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const state = { inTransaction: false };
  const settings: SettingStore = {
    async get() {
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
  const themes = createActiveThemes(createChoices(settings));
  const outside = themes.get(site);
  await new Promise((resolve) => setImmediate(resolve));
  state.inTransaction = true;
  expect(await themes.get(site)).toBe('chosen');
  state.inTransaction = false;
  release();
  expect(await outside).toBe('chosen');
});

test('a read that began before a theme was chosen does not undo the choice', async () => {
  const { settings, release } = store({ theme: 'old' });
  const themes = createActiveThemes(createChoices(settings));
  const before = themes.get(site);
  await new Promise((resolve) => setImmediate(resolve));
  await themes.set('site', 'new');
  release();
  await before;
  expect(await themes.get(site)).toBe('new');
});
