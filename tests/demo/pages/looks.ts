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

/** Two looks at a page: each pair has each way, width and colour scheme once, and all pairs together have all looks. */
const pairs: Record<Way, Look>[] = [
  { script: [wide, 'light'], plain: [narrow, 'dark'] },
  { script: [narrow, 'dark'], plain: [wide, 'light'] },
  { script: [wide, 'dark'], plain: [narrow, 'light'] },
  { script: [narrow, 'light'], plain: [wide, 'dark'] },
];

/** @param at position of the page in its table: the next page has the next pair */
const looksAt = (at: number, how: Way): Look[] => {
  const pair = pairs[at % pairs.length];
  return process.env.TEST_LOOKS === 'all' || !pair ? all : [pair[how]];
};

/** A visitor whose pages can be looked at. */
export const openAs = (browser: ReturnType<typeof useBrowser>, how: Way) =>
  browser.visitor({ javaScriptEnabled: how === 'script', bypassCSP: true });

/** The page fits its window, and axe-core finds no violation in it: in the looks of the page at this position. */
export async function lookAt(page: Page, how: Way, at: number): Promise<void> {
  const find = how === 'script' ? violations : violationsWithoutScript;
  for (const [size, colorScheme] of looksAt(at, how)) {
    await page.emulateMedia({ colorScheme });
    for (const one of [least, size]) {
      await page.setViewportSize(one);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    }
    expect(await find(page), `${size.width}, ${colorScheme}`).toEqual([]);
  }
}
