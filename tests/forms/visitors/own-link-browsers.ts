import { describe, expect, test } from 'vitest';
import { violations } from '../../support/accessibility';
import { hasBrowser, keepPicture, openBrowser, visitor } from '../../support/browser';
import type { Stage } from '../../support/stage';

/** Each page is looked at in both widths; the visitor goes on in the last one. */
const sizes = [
  [true, [1280, 390]],
  [false, [390, 1280]],
] as const;

/**
 * In a browser: a visitor sends a form with a file, opens the link, changes the answer, withdraws it, and ends a link. Each page is
 * accessible, and no page that it links to gets the address.
 */
export function ownLinkBrowsers(stage: Stage, app: string): void {
  describe.runIf(hasBrowser)('in a browser', () => {
    test.each(sizes)('a visitor corrects and withdraws an answer: script %s, %j pixels', async (hasScript, widths) => {
      const browser = await openBrowser();
      const { page, context } = await visitor(browser, {
        javaScriptEnabled: hasScript,
        viewport: { width: widths[1], height: 800 },
        bypassCSP: true,
      });
      const look = async (name: string) => {
        for (const width of widths) {
          await page.setViewportSize({ width, height: 800 });
          await keepPicture(page, `own-link-${name}-${hasScript}-${width}`);
          if (hasScript) expect(await violations(page)).toEqual([]);
          const wide = await page
            .locator('body')
            .evaluate((body) => body.scrollWidth)
            .catch(() => 0);
          expect(wide).toBeLessThanOrEqual(width);
        }
      };
      await page.goto(`${stage.host.url}/site/@@apps/${app}/blocks/answer`);
      await page.getByLabel('Your name').fill(`Ada ${hasScript}`);
      await page.getByLabel('A document').setInputFiles({
        name: 'first.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('the first document'),
      });
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('link', { name: 'Open it' }).click();
      await page.getByRole('button', { name: 'Withdraw' }).waitFor();
      const address = page.url();
      expect(address).toMatch(/\/mine\/[\w-]{65}$/);
      await look('form');
      await page.getByLabel('Your name').fill(`Berta ${hasScript}`);
      await page.getByLabel('A document').setInputFiles({
        name: 'second.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('the second document'),
      });
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('status').waitFor();
      expect(page.url()).toBe(address);
      expect(await page.getByLabel('Your name').inputValue()).toBe(`Berta ${hasScript}`);
      expect(await page.content()).toContain('second');
      await look('saved');
      await page.getByRole('button', { name: 'Withdraw' }).click();
      await page.getByRole('heading', { name: 'Do you want to withdraw this?' }).waitFor();
      await look('question');
      await page.getByRole('link', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'End this link' }).waitFor();
      await page.getByRole('button', { name: 'Withdraw' }).click();
      await page.getByRole('button', { name: 'Withdraw' }).click();
      await page.getByText('It was deleted.').waitFor();
      expect((await page.goto(address))?.status()).toBe(404);
      await context.close();
    });
  });
}
