import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import type { useBrowser } from '../support/hooks';
import type { Stage } from '../support/stage';

/** A folder for pictures of the pages; without it none are made. */
const pictures = process.env.TEST_PICTURES;

export const wide = { width: 1280, height: 900 };
export const narrow = { width: 390, height: 900 };

/** Keeps pictures of a page, at the width of a desktop and of a phone, where they are asked for. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  for (const { width } of [wide, narrow]) {
    // The panel scrolls inside itself: a picture shows what is on the screen.
    await page.setViewportSize({ width, height: 1600 });
    await page.waitForTimeout(300);
    await page.screenshot({ path: path.join(pictures, `${name}-${width}.png`) });
  }
  await page.setViewportSize(wide);
}

/** Sessions by host and administrator: Strapi takes five logins of an account in five minutes. */
const sessions = new Map<string, Awaited<ReturnType<BrowserContext['storageState']>>>();

type Options = Parameters<ReturnType<typeof useBrowser>['visitor']>[0];

/** An administrator of the tests in the panel: their page, its errors, and what opens a page of the plugin. */
export async function login(
  stage: Stage,
  browser: ReturnType<typeof useBrowser>,
  who: string,
  options: Options = {},
): Promise<{ page: Page; errors: string[]; open(at: string): Promise<void> }> {
  await stage.credential(who);
  const key = `${stage.host.url} ${who}`;
  const known = sessions.get(key);
  const usual: Options = { colorScheme: 'light', viewport: wide, reducedMotion: 'reduce' };
  const { page, context } = await browser.visitor({ ...usual, ...options, ...(known && { storageState: known }) });
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    // Strapi's own pages ask for addresses of the internet.
    if (message.type() === 'error' && !/ERR_NAME_NOT_RESOLVED/.test(message.text())) errors.push(message.text());
  });
  if (!known) {
    await page.goto(`${stage.host.url}/admin/auth/login`);
    await page.fill('[name=email]', `${who}@example.com`);
    await page.fill('[name=password]', 'Root-Secret-1');
    await page.click('button[type=submit]');
    await page.waitForURL((url) => !url.pathname.includes('/auth/'));
    sessions.set(key, await context.storageState());
  }
  const open = async (at: string) => {
    await page.goto(`${stage.host.url}/admin/plugins/apps${at}`);
    await page.waitForSelector('h1');
  };
  return { page, errors, open };
}
