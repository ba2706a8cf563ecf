import { describe, expect, test } from 'vitest';
import { violations } from '../../support/accessibility';
import { hasBrowser } from '../../support/browser';
import { useBrowser } from '../../support/hooks';
import type { Stage } from '../../support/stage';

/** A repeated group in a browser, with and without its script. */
export function repeatBrowsers(stage: Stage): void {
  describe.skipIf(!hasBrowser)('in a browser', () => {
    const browser = useBrowser();
    const address = () => `${stage.host.url}/site/@@apps/party/blocks/party`;

    test.each([true, false])('entries are added, moved and removed; script: %s', async (javaScriptEnabled) => {
      const { page, context } = await browser.visitor({ javaScriptEnabled, bypassCSP: true });
      await page.goto(address());
      let loads = 0;
      page.on('load', () => {
        loads += 1;
      });
      await page.fill('[name=host]', 'Ann');
      await page.fill('[name="guests:0:name"]', 'Bob');
      await page.click('[name="guests:add"]');
      await page.waitForSelector('[name="guests:1:name"]:focus');
      await page.fill('[name="guests:1:name"]', 'Cy');
      await page.click('[name="guests:up:1"]');
      await expect.poll(() => page.inputValue('[name="guests:0:name"]')).toBe('Cy');
      await page.click('[name="guests:add"]');
      await page.waitForSelector('[name="guests:2:name"]');
      await page.click('[name="guests:remove:1"]');
      await page.waitForSelector('[name="guests:2:name"]', { state: 'detached' });
      await page.click('[name="guests:remove:1"]');
      await page.waitForSelector('[name="guests:1:name"]', { state: 'detached' });
      expect(await page.inputValue('[name="guests:0:name"]')).toBe('Cy');
      expect(await page.inputValue('[name=host]')).toBe('Ann');
      expect(loads === 0).toBe(javaScriptEnabled);
      if (javaScriptEnabled) {
        expect(await page.isVisible('[name="guests:0:age"]')).toBe(false);
        await page.check('[name="guests:0:child"]');
        expect(await page.isVisible('[name="guests:0:age"]')).toBe(true);
        await page.fill('[name=host]', 'Nemo');
        expect(await page.isVisible('[name="links:add"]')).toBe(false);
        await page.uncheck('[name="guests:0:child"]');
        expect(await violations(page)).toEqual([]);
      }
      // The Enter key saves, though other buttons come first.
      await page.press('[name="guests:0:name"]', 'Enter');
      await page.waitForSelector('.apps-entries');
      expect(await page.textContent('.apps-entries')).toContain('Cy');
      await context.close();
    });
  });
}
