import { describe, expect, test } from 'vitest';
import { violations } from '../../support/accessibility';
import { hasBrowser } from '../../support/browser';
import { useBrowser } from '../../support/hooks';
import type { Stage } from '../../support/stage';

/** A form with pages in a browser, with and without its script, in the theme and in place. */
export function pagesInBrowsers(stage: Stage): void {
  describe.skipIf(!hasBrowser)('in a browser', () => {
    const browser = useBrowser();

    test.each([
      [true, '@@apply'],
      [false, '@@apply'],
      [true, '@@apps/steps/blocks/ajax'],
    ])('from the first page to the last; script: %s, %s', async (javaScriptEnabled, path) => {
      const { page, context } = await browser.visitor({
        javaScriptEnabled,
        bypassCSP: true,
        viewport: { width: 390, height: 800 },
      });
      const address = `${stage.host.url}/site/${path}`;
      const step = (title: string) => page.waitForSelector(`.apps-steps li[aria-current=step]:text-is("${title}")`);
      // Without the script a field with a condition is there.
      const scriptHasRun = () =>
        page.waitForSelector('[name=mail]', { state: javaScriptEnabled ? 'hidden' : 'visible' });
      await page.goto(address);
      await page.click('[name=_next]:visible');
      expect(await page.locator('[name=name]:invalid').count()).toBe(1);
      await page.fill('[name=name]', 'Ann');
      await page.selectOption('[name=kind]', 'company');
      // The Enter key goes on.
      await page.press('[name=street]', 'Enter');
      await step('Company <1>');
      await page.waitForSelector('h2.apps-page-title:focus');
      await page.fill('[name=vat]', '7');
      await page.fill('[name=pin]', 'secret');
      const keeps = () => page.evaluate(() => JSON.stringify(history.state));
      if (javaScriptEnabled) await expect.poll(keeps).toContain('vat=7');
      await page.setInputFiles('[name=cv]', { name: 'cv.txt', mimeType: 'text/plain', buffer: Buffer.from('I can') });
      await page.click('[name=_next]:visible');
      await step('Work');
      expect(await page.inputValue('[name=level]')).toBe('7');
      await page.click('[name="refs:add"]');
      await page.waitForSelector('[name="refs:0:who"]:focus');
      await page.fill('[name="refs:0:who"]', 'Bob');
      await scriptHasRun();
      // The fields of other pages are hidden ones.
      if (javaScriptEnabled) await expect.poll(keeps).toMatch(/^(?!.*secret)(?=.*vat=7)(?=.*Bob)/);
      expect(await page.inputValue('[name=pin]')).toBe('secret');
      await page.click('[name=_back]');
      await step('Company <1>');
      await expect.poll(() => page.textContent('.apps-page'), { timeout: 20_000 }).toContain('cv.txt');
      if (javaScriptEnabled) expect(await violations(page)).toEqual([]);
      await page.click('[name=_next]:visible');
      await step('Work');
      expect(await page.inputValue('[name="refs:0:who"]')).toBe('Bob');
      expect(page.url()).toBe(address);
      await scriptHasRun();
      await page.click('[name=_save]:visible');
      // A failure shows which page there is instead.
      const saved = expect.poll(() => page.textContent('body'), { timeout: 20_000 });
      await saved.toMatch(/^(?=.*Ann)(?=.*company)(?=.*cv\.txt)(?=.*Bob)/s);
      expect(await page.isVisible('.apps-entries')).toBe(true);
      await context.close();
    });
  });
}
