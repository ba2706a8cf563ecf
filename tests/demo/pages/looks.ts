import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations, violationsWithoutScript } from '../../support/accessibility';
import type { useBrowser } from '../../support/hooks';

/** With the browser script, or without any. */
export type Way = 'script' | 'plain';
export const ways: Way[] = ['script', 'plain'];

type Look = [size: { width: number; height: number }, colorScheme: 'light' | 'dark'];

const wide = { width: 1280, height: 800 };
const narrow = { width: 390, height: 800 };
/** The smallest screen that a page has to fit. */
const least = { width: 360, height: 740 };

const all: Look[] = [wide, narrow].flatMap((size): Look[] => [
  [size, 'light'],
  [size, 'dark'],
]);

/** Each pair of script, width and colours once. */
const pairs: Record<Way, Look[]> = {
  script: [
    [wide, 'light'],
    [narrow, 'dark'],
  ],
  plain: [
    [wide, 'dark'],
    [narrow, 'light'],
  ],
};

const looks = process.env.TEST_LOOKS === 'all' ? { script: all, plain: all } : pairs;

/** A visitor whose pages can be looked at. */
export const openAs = (browser: ReturnType<typeof useBrowser>, how: Way, extraHTTPHeaders = {}) =>
  browser.visitor({ javaScriptEnabled: how === 'script', bypassCSP: true, extraHTTPHeaders });

/** The page fits its window, and axe-core finds no violation in it, at each size and in each of the colours. */
export async function lookAt(page: Page, how: Way): Promise<void> {
  const find = how === 'script' ? violations : violationsWithoutScript;
  for (const [size, colorScheme] of looks[how]) {
    await page.emulateMedia({ colorScheme });
    for (const one of [least, size]) {
      await page.setViewportSize(one);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    }
    expect(await find(page), `${size.width}, ${colorScheme}`).toEqual([]);
  }
}
