import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations, violationsWithoutScript } from '../../support/accessibility';
import type { useBrowser } from '../../support/hooks';

/** With the browser script, or without any. */
export type Way = 'script' | 'plain';
export const ways: Way[] = ['script', 'plain'];

interface Look {
  how: Way;
  size: { width: number; height: number };
  colorScheme: 'light' | 'dark';
}

const wide = { width: 1280, height: 800 };
const narrow = { width: 390, height: 800 };
/** The smallest screen that a page has to fit. */
const least = { width: 360, height: 740 };

const schemes = ['light', 'dark'] as const;

/** All looks at a page, in an order in which neighbours differ in each respect. */
const looks: Look[] = [0, 1, 2, 3].flatMap((at) => {
  const [size, other] = at % 2 === 0 ? [wide, narrow] : [narrow, wide];
  const [colorScheme, opposite] = at < 2 ? schemes : ([schemes[1], schemes[0]] as const);
  return [
    { how: 'script' as const, size, colorScheme },
    { how: 'plain' as const, size: other, colorScheme: opposite },
  ];
});

/** One look at the page at this position of its table, the next page has the next look; with TEST_LOOKS=all all eight. */
export function looksAt(at: number, only?: Way): Look[] {
  const possible = looks.filter(({ how }) => !only || how === only);
  return process.env.TEST_LOOKS === 'all' ? possible : possible.slice(at % possible.length).slice(0, 1);
}

/** A visitor whose pages can be looked at. */
export const openAs = (browser: ReturnType<typeof useBrowser>, how: Way) =>
  browser.visitor({ javaScriptEnabled: how === 'script', bypassCSP: true });

/** The page fits its window, and axe-core finds no violation in it. */
export async function lookAt(page: Page, { how, size, colorScheme }: Look): Promise<void> {
  const find = how === 'script' ? violations : violationsWithoutScript;
  await page.emulateMedia({ colorScheme });
  for (const one of [least, size]) {
    await page.setViewportSize(one);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  }
  expect(await find(page), `${how}, ${size.width}, ${colorScheme}`).toEqual([]);
}
