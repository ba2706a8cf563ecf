import { describe, expect, test } from 'vitest';
import { violations } from '../../support/accessibility';
import { hasBrowser } from '../../support/browser';
import { useBrowser } from '../../support/hooks';
import type { Stage } from '../../support/stage';

/** References in a browser, with and without its script. */
export function referencesInBrowsers(stage: Stage): void {
  describe.skipIf(!hasBrowser)('in a browser', () => {
    const browser = useBrowser();

    test.each([true, false])('a target is looked for and chosen; script: %s', async (javaScriptEnabled) => {
      const { page, context } = await browser.visitor({ javaScriptEnabled, bypassCSP: true });
      await page.goto(`${stage.host.url}/site/@@apps/talks/blocks/talk`);
      await page.fill('[name=name]', 'Ann');
      await page.fill('[name="topic:find"]', 'zebra');
      if (javaScriptEnabled) await page.press('[name="topic:find"]', 'Enter');
      else await page.click('[name="topic:search"]');
      await expect.poll(() => page.locator('[name=topic] option').count()).toBe(2);
      await page.selectOption('[name=topic]', { label: 'Zebras & <b>' });
      if (javaScriptEnabled)
        expect((await violations(page)).filter((one) => !one.startsWith('page-has-heading'))).toEqual([]);
      await page.click('[name=_save]');
      await page.waitForSelector('a.apps-reference');
      expect(await page.textContent('body')).toContain('Zebras & <b>');
      await context.close();
    });
  });
}
