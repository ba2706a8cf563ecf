import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

/** Browser tests need a Chromium. */
export const hasBrowser = existsSync(executablePath);

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

export interface Visitor {
  page: Page;
  context: BrowserContext;
  /** Lines of the console. */
  said: string[];
}

/** A visitor of their own: nothing is shared with others. */
export async function visitor(browser: Browser, options: Parameters<Browser['newContext']>[0] = {}): Promise<Visitor> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.setDefaultTimeout(20_000);
  return { page, context, said };
}

/** Opens a page and waits until its connection for changes is open. */
export async function openLive(page: Page, address: string): Promise<void> {
  const answer = page.waitForResponse((response) => response.url().includes('@@apps.live'));
  await page.goto(address);
  await answer;
}
