import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { violations } from '../../support/accessibility';
import { hasBrowser, keepPicture, openBrowser, visitor } from '../../support/browser';
import type { Stage } from '../../support/stage';
import type { Mails } from './mails';

/** Each page is looked at in both widths; the visitor goes on in the last one. */
const sizes = [
  [true, [1280, 390]],
  [false, [390, 1280]],
] as const;

/** In a browser: a visitor registers, confirms by the link in the mail, and wants no more mails. Each page is accessible. */
export function receiptBrowsers(stage: Stage, { ask, mailTo, tokenIn, to }: Mails): void {
  describe.runIf(hasBrowser)('in a browser', () => {
    test.each(sizes)('a visitor confirms and refuses: script %s, %j pixels', async (hasScript, widths) => {
      const browser = await openBrowser();
      const { page, context } = await visitor(browser, {
        javaScriptEnabled: hasScript,
        viewport: { width: widths[1], height: 800 },
        bypassCSP: true,
      });
      const look = async (name: string) => {
        for (const width of widths) {
          await page.setViewportSize({ width, height: 800 });
          await keepPicture(page, `receipt-${name}-${hasScript}-${width}`);
          if (hasScript) expect(await violations(page)).toEqual([]);
          const wide = await page.locator('body').evaluate((body) => body.scrollWidth);
          expect(wide).toBeLessThanOrEqual(width);
        }
      };
      const app = `${stage.host.url}/site/@@apps/events`;
      const address = `ada-${hasScript}@example.org`;
      await page.goto(`${app}/blocks/join`);
      await page.locator('[name=name]').fill('Ada');
      await page.locator('[name=email]').fill(address);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Please open the link in it').waitFor();
      await look('sent');
      const first = await mailTo(address);
      await page.goto(`${app}/confirm/${tokenIn(first)}`);
      await look('question');
      const withdraw = page.getByRole('button', { name: 'Withdraw' });
      const paint = (button: Locator) => button.evaluate((one) => getComputedStyle(one).backgroundColor);
      expect(await paint(withdraw)).not.toBe(await paint(page.getByRole('button', { name: 'Confirm' })));
      await withdraw.click();
      await page.getByText('Do you want to withdraw this?').waitFor();
      await look('withdraw');
      await page.getByRole('link', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Confirm' }).click();
      await page.getByText('Thank you, it is confirmed.').waitFor();
      await look('confirmed');
      await expect.poll(() => to(address)).toHaveLength(2);
      await page.goto(/http\S+\/unsubscribe\/[\w-]+/.exec(first.text ?? '')?.[0] ?? '');
      await look('mails');
      await page.getByRole('button', { name: 'No more mails' }).click();
      await page.getByText('This address gets no more mails').waitFor();
      await look('refused');
      await page.getByRole('button', { name: 'Send mails again' }).click();
      await page.getByRole('button', { name: 'No more mails' }).waitFor();
      await context.close();
    });

    test.each([true, false])('over the limit what was entered stays in the form: script %s', async (hasScript) => {
      const address = `many-${hasScript}@example.org`;
      for (let at = 0; at < 5; at += 1) await ask('POST events', { json: { block: 'moved', email: address } });
      const { page, context } = await visitor(await openBrowser(), { javaScriptEnabled: hasScript, bypassCSP: true });
      await page.goto(`${stage.host.url}/site/@@apps/events/blocks/moved`);
      await page.locator('[name=name]').fill('Much to write');
      await page.locator('[name=email]').fill(address);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Too many mails were asked for. Nothing was stored.').waitFor();
      expect(await page.locator('[name=name]').inputValue()).toBe('Much to write');
      await page.locator('[name=email]').fill(`other-${address}`);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Please open the link in it').waitFor();
      await context.close();
    });
  });
}
