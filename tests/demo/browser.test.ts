import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { violations, violationsWithoutScript } from '../support/accessibility';
import { hasBrowser, keepPicture, openLive } from '../support/browser';
import { useBrowser, useHost } from '../support/hooks';
import { hiddenField } from '../support/login';
import { createUser, type User } from '../support/seed';

const screens: [name: string, options: Parameters<Browser['newContext']>[0]][] = [
  ['wide', { viewport: { width: 1200, height: 800 } }],
  ['narrow', { viewport: { width: 360, height: 740 } }],
  ['dark', { viewport: { width: 1200, height: 800 }, colorScheme: 'dark' }],
  ['plain', { viewport: { width: 1200, height: 800 }, javaScriptEnabled: false }],
];

const violationsOn = (options: (typeof screens)[number][1]) =>
  options?.javaScriptEnabled === false ? violationsWithoutScript : violations;

describe.skipIf(!hasBrowser)('the demo site in a browser', () => {
  const host = useHost({ env: { APPS_DEMO: 'empty' } });
  const browser = useBrowser();

  const site = () => `${host.url}/site`;

  test('the dialog has no violation', async () => {
    const { page, context } = await browser.visitor({ bypassCSP: true });
    await page.goto(`${site()}/`);
    await page.locator('[data-apps-modal]').first().click();
    await page.locator('dialog form').waitFor();
    expect(await violations(page)).toEqual([]);
    await keepPicture(page, 'dialog');
    await context.close();
  });

  test('two visitors see each other’s likes, and each the debug messages of their own', async () => {
    const [one, two] = [await browser.visitor(), await browser.visitor()];
    await Promise.all([one, two].map(({ page }) => openLive(page, `${site()}/articles/welcome`)));
    await one.page.locator('button[name="action.like"]').click();
    for (const { page } of [one, two]) {
      await page.waitForFunction(() => document.querySelector('.rating-likes')?.textContent?.startsWith('1 like'));
    }
    const message = '/articles/welcome is liked: 1';
    expect(one.said.filter((line) => line.includes(message))).toHaveLength(1);
    expect(two.said.filter((line) => line.includes('is liked'))).toEqual([]);
    await Promise.all([one.context.close(), two.context.close()]);
  });

  test('the glossary opens in the home page', async () => {
    const { page, context } = await browser.visitor();
    await page.goto(`${site()}/`);
    await page.locator('[data-apps-load]').click();
    await page.locator('#glossary form[name=list]').waitFor();
    expect(page.url()).toBe(`${site()}/`);
    await context.close();
  });

  describe('logging in and out', () => {
    let user: User;
    beforeAll(async () => {
      user = await createUser(host, { username: 'lena', role: 'readers' });
    });
    const fill = async (page: Page) => {
      await page.getByLabel('Name or e-mail').fill(user.username);
      await page.getByLabel('Password').fill(user.password);
      await page.getByRole('button', { name: 'Log in' }).click();
    };
    const logOut = (page: Page) => page.getByRole('button', { name: `Log out ${user.username}` });

    test.each(screens)('a visitor logs in and out by the forms of the site, %s', async (screen, options) => {
      const { page, context } = await browser.visitor({ ...options, bypassCSP: true });
      await page.goto(`${site()}/about`);
      await page.getByRole('link', { name: 'Log in' }).click();
      await fill(page);
      await logOut(page).waitFor();
      expect(await violationsOn(options)(page)).toEqual([]);
      await keepPicture(page, `logged-in-${screen}`);
      await logOut(page).click();
      await page.getByRole('link', { name: 'Log in' }).waitFor();
      await context.close();
    });

    test('a link to the logout asks first', async () => {
      const { page, context } = await browser.visitor();
      await page.goto(`${site()}/@@login?next=/site/about`);
      await fill(page);
      await page.waitForURL(`${site()}/about`);
      await page.goto(`${site()}/@@logout?next=/site/about`);
      await page.getByRole('main').getByRole('button', { name: 'Log out' }).click();
      await page.waitForURL(`${site()}/about`);
      expect(await logOut(page).count()).toBe(0);
      await context.close();
    });

    test('a login under another name of the server works at the second try', async () => {
      const { page, context } = await browser.visitor();
      await page.goto(`${site().replace('127.0.0.1', 'localhost')}/@@login`);
      await fill(page);
      await page.getByRole('alert').waitFor();
      expect(new URL(page.url()).origin).toBe(host.url);
      await fill(page);
      await logOut(page).waitFor();
      await context.close();
    });

    test('a page of another site logs no visitor in, not even with the token and the password of its owner', async () => {
      const { page, context } = await browser.visitor();
      const form = await fetch(`${site()}/@@login`).then((answer) => answer.text());
      const { headers } = await fetch(`${site()}/@@apps/rating`);
      for (const _csrf of [hiddenField(form, '_csrf'), headers.get('x-csrf-token') ?? '']) {
        const fields = { _csrf, identifier: user.username, password: user.password };
        const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
        const body = `<form method="post" action="${site()}/@@login">${inputs.join('')}<button>Win</button></form>`;
        await page.route('http://evil.example/', (route) => route.fulfill({ contentType: 'text/html', body }));
        // The visitor has the cookie of a login form of their own.
        await page.goto(`${site()}/@@login`);
        await page.goto('http://evil.example/');
        const answer = page.waitForResponse((response) => response.request().method() === 'POST');
        await page.getByRole('button', { name: 'Win' }).click();
        expect((await answer).status()).toBe(403);
        await page.getByRole('alert').waitFor();
        expect((await context.cookies()).map(({ name }) => name)).not.toContain('apps_session');
        await page.unroute('http://evil.example/');
      }
      await context.close();
    });
  });
});
