import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page, type Response } from 'playwright-core';
import { findChromium } from '../../scripts/prepare.mjs';

const executablePath = findChromium() ?? '';

/** Browser tests need a Chromium. */
export const hasBrowser = existsSync(executablePath);

/** The browsers of all files of a worker by their language, started at their first use; they end with the worker. */
const opened = new Map<string | undefined, Promise<Browser>>();

/** @param language of the program itself, such as `de`: numbers are typed as it writes them */
export function openBrowser(language?: string): Promise<Browser> {
  const known = opened.get(language) ?? launch(language);
  opened.set(language, known);
  return known;
}

function launch(language: string | undefined): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  if (language === undefined) return chromium.launch({ executablePath, args });
  const env = { ...process.env, LANGUAGE: language, LANG: `${language}.UTF-8` } as Record<string, string>;
  return chromium.launch({ executablePath, args: [...args, `--lang=${language}`], env });
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

/** Keeps a picture of a whole page in the folder that TEST_PICTURES names; without it, none is made. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env.TEST_PICTURES;
  if (folder) await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
}

/**
 * Opens a page and waits until its connection for changes is open. The page is loaded again when there is none: a block that
 * met its time limit on a busy machine has nothing to wait for.
 */
export async function openLive(page: Page, address: string): Promise<void> {
  const isLive = (response: Response) => response.url().includes('@@apps.live?');
  for (let attempt = 1; ; attempt += 1) {
    try {
      await Promise.all([page.waitForResponse(isLive, { timeout: 10_000 }), page.goto(address)]);
      return;
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}
