import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasBrowser } from '../support/browser';
import { configured } from '../support/configure';
import { useBrowser, useFolder, useHost } from '../support/hooks';
import { limits, writeBroken } from './pages/broken';
import { lookAt, looksAt, openAs } from './pages/looks';

/** Pages without the theme's layout, as they follow a form or an address in a browser. */
describe.skipIf(!hasBrowser)('a bare page', () => {
  const themes = useFolder('failures', writeBroken);
  const host = useHost(() => ({
    themesDirectory: themes(),
    env: { APPS_DEMO: 'empty', ...configured({ apps: { limits } }) },
  }));
  const browser = useBrowser();
  const at = (block: string) => `${host.url}/bibliothek/@@apps/broken/blocks/${block}`;

  /** Sends a form to a block, with the hidden fields of the form `note`; the status of its answer. */
  async function submit(page: Page, block: string, button: string): Promise<number | undefined> {
    await page.goto(at('note'));
    const hidden = page.locator('main form input[type=hidden]');
    const inputs = (await hidden.evaluateAll((all) => all.map((one) => one.outerHTML))).join('');
    const form = `<form method="post" action="${at(block)}">${inputs}<button name="${button}">Los</button></form>`;
    await page.setContent(form);
    const answer = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.click('button');
    const status = (await answer).status();
    await page.waitForSelector('h1');
    return status;
  }

  const manyPosts = () =>
    host.run(async (strapi) => {
      await strapi.db.connection('apps_form_posts').update({ posts: 200 });
    });

  const failures: [status: number, reach: (page: Page) => Promise<number | undefined>][] = [
    [504, async (page) => (await page.goto(at('loop')))?.status()],
    [503, (page) => submit(page, 'loop', 'action.go')],
    [
      429,
      async (page) => {
        await submit(page, 'note', '_save');
        await manyPosts();
        return submit(page, 'note', '_save');
      },
    ],
  ];

  test.each(failures)('of %s fits, and has no violation', async (status, reach) => {
    for (const look of looksAt(status)) {
      const { page, context } = await openAs(browser, look.how);
      await expect.poll(() => reach(page), { timeout: 60_000 }).toBe(status);
      expect(await page.locator('header nav').count()).toBe(0);
      await lookAt(page, look);
      await context.close();
    }
  });
});
