import { describe, expect, test } from 'vitest';
import { choose, type Panel, press, shown } from './panel';

/** The theme of a site, and links to apps of other themes. */
export function themesInPanel({ stage, visit }: Panel): void {
  const page = async (send: string) => stage.send({ send, accept: 'text/html' });

  describe('themes', () => {
    test('a link to an app of another theme is made and removed', () =>
      visit('', async (opened) => {
        expect((await page('GET guest/blocks/hall')).status).toBe(404);
        await press(opened, 'Links');
        await choose(opened, 'App of another theme', 'fresh/guest');
        await press(opened, 'Make the link');
        await shown(opened, 'The theme has a link to guest.');
        await expect.poll(async () => (await page('GET guest/blocks/hall')).text).toContain('a guest');
        await press(opened, 'Remove the link to guest');
        await shown(opened, 'The link to guest is removed; the app is not.');
        await expect.poll(async () => (await page('GET guest/blocks/hall')).status).toBe(404);
        await press(opened, 'Close');
        expect(await opened.getByRole('link', { name: 'guest', exact: true }).count()).toBe(0);
      }));

    test('another theme is shown before, and used after a question that may be cancelled', () =>
      visit('', async (opened) => {
        const site = async () => (await page('GET /site')).text;
        await choose(opened, 'Active theme', 'Fresh');
        const dialog = opened.getByRole('dialog');
        await dialog.getByText('Apps that come: guest').waitFor();
        await dialog.getByText(/Apps that go, .*shelf \(\d+\)/).waitFor();
        await opened.frameLocator('iframe').getByRole('heading', { name: 'Fresh' }).waitFor();
        await dialog.getByRole('button', { name: 'Cancel' }).click();
        await dialog.waitFor({ state: 'detached' });
        expect(await site()).not.toContain('<h1>Fresh</h1>');

        await choose(opened, 'Active theme', 'Fresh');
        await dialog.getByRole('button', { name: 'Use this theme' }).click();
        await shown(opened, 'The site now uses the theme fresh.');
        await opened.getByRole('link', { name: 'guest', exact: true }).waitFor();
        expect(await opened.getByRole('link', { name: 'shelf', exact: true }).count()).toBe(0);
        await expect.poll(site).toContain('<h1>Fresh</h1>');
      }));
  });
}
