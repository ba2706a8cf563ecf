import { describe, expect, test } from 'vitest';
import { violations } from '../../support/accessibility';
import { hasBrowser } from '../../support/browser';
import { useBrowser } from '../../support/hooks';
import type { Stage } from '../../support/stage';
import { png } from './send';

/** Files of a repeated group in a browser, with and without its script. */
export function albumBrowsers(stage: Stage): void {
  describe.skipIf(!hasBrowser)('in a browser', () => {
    const browser = useBrowser();

    test.each([true, false])('files are chosen, kept and saved; script: %s', async (javaScriptEnabled) => {
      const { page, context } = await browser.visitor({ javaScriptEnabled, bypassCSP: true });
      await page.goto(`${stage.host.url}/site/@@apps/album/blocks/album`);
      const choose = (name: string, file: string) =>
        page.setInputFiles(`[name="${name}"][type=file]`, { name: file, mimeType: 'image/png', buffer: png });
      await page.fill('[name=title]', 'A');
      await page.click('[name="photos:add"]');
      await page.waitForSelector('[name="photos:0:image"]');
      await choose('photos:0:image', 'one.png');
      await page.click('[name="photos:add"]');
      await page.waitForSelector('[name="photos:1:image"]');
      expect(await page.isChecked('[name="photos:0:image"][type=checkbox]')).toBe(true);
      await choose('photos:1:image', 'two.png');
      await page.fill('[name="photos:1:caption"]', 'Two');
      await page.click('[name="photos:up:1"]');
      await expect.poll(() => page.inputValue('[name="photos:0:caption"]')).toBe('Two');
      if (javaScriptEnabled) expect(await violations(page)).toEqual([]);
      await page.fill('[name="photos:1:caption"]', 'One');
      await page.click('[name=_save]:visible');
      await page.waitForSelector('.apps-entries');
      const alts = await page
        .locator('.apps-entries img')
        .evaluateAll((all) => all.map((one) => one.getAttribute('alt')));
      expect(alts).toEqual(['two', 'one']);
      await context.close();
    });
  });
}
