import { describe, expect, test } from 'vitest';
import { hasBrowser } from '../../support/browser';
import { useBrowser } from '../../support/hooks';
import type { Stage } from '../../support/stage';

/** The same in a browser, with and without its script. */
export function browsers(stage: Stage): void {
  describe.skipIf(!hasBrowser)('in a browser', () => {
    const browser = useBrowser();
    const site = () => `${stage.host.url}/site/`;
    const focused = () =>
      (document.activeElement as HTMLInputElement | null)?.name ?? document.activeElement?.className;

    for (const javaScriptEnabled of [true, false]) {
      const how = javaScriptEnabled ? 'with its script' : 'without scripts';

      test(`${how}: the first wrong field has the focus`, async () => {
        const { page, context } = await browser.visitor({ javaScriptEnabled });
        await page.goto(`${site()}@@apps/checked/blocks/form`);
        await page.fill('[name=room]', 'Blue');
        await page.fill('[name=guests]', '12');
        await page.click('[name=_save]');
        await page.waitForSelector('[aria-invalid=true]');
        expect(await page.inputValue('[name=room]')).toBe('Blue');
        if (javaScriptEnabled) expect(await page.evaluate(focused)).toBe('guests');
        else expect(await page.locator('[name=guests]:focus').count()).toBe(1);
        await context.close();
      });

      test(`${how}: a session that ends while a form is filled in loses nothing`, async () => {
        const { password } = await stage.user('anna');
        const { page, context } = await browser.visitor({ javaScriptEnabled });
        const logIn = async () => {
          await page.fill('[name=identifier]', 'anna');
          await page.fill('[name=password]', password);
          await page.click('main button[type=submit]');
        };
        for (const path of ['@@note', '@@apps/members/blocks/quick']) {
          await page.goto(`${site()}@@login?next=/site/${path}`);
          await logIn();
          await page.fill('[name=text]', 'typed for long');
          await context.clearCookies();
          await page.click('[name=_save]');
          await page.waitForSelector('[name=identifier]');
          expect(page.url()).toBe(`${site()}${path}`);
          await logIn();
          expect(await page.inputValue('[name=text]')).toBe('typed for long');
          expect(page.url()).toBe(`${site()}${path}`);
          await page.click('[name=_save]');
          // The record, on its page or in place.
          await page.waitForSelector('[name=_save]', { state: 'detached' });
          expect(await page.textContent('main')).toContain('typed for long');
          await context.clearCookies();
        }
        await context.close();
      });

      test(`${how}: what was typed is there after an action, and after the visitor went back`, async () => {
        const { page, context } = await browser.visitor({ javaScriptEnabled });
        await page.goto(`${site()}@@apps/members/blocks/quick`);
        await page.fill('[name=text]', 'typed');
        await page.click('[name="action.add"]');
        await page
          .waitForFunction(() => document.querySelector('form')?.getAttribute('aria-busy') === null)
          .catch(() => {});
        expect(await page.inputValue('[name=text]')).toBe('typed');
        await page.goto(`${site()}@@note`);
        await page.fill('[name=text]', 'a long text');
        await page.check('[name=tags][value=b]');
        await page.goto(`${site()}@@find`);
        await page.goBack();
        expect(await page.inputValue('[name=text]')).toBe('a long text');
        expect(await page.isChecked('[name=tags][value=b]')).toBe(true);
        await context.close();
      });
    }

    test('the address of an ajax search and page can be shared, and back works', async () => {
      const { page, context } = await browser.visitor();
      const found = (text: string) =>
        page.waitForFunction((wanted) => document.querySelector('.found')?.textContent?.trim() === wanted, text);
      await page.goto(`${site()}@@find`);
      await page.evaluate(() => Object.assign(window, { stays: true }));
      await page.fill('[name=q]', 'two words');
      await page.keyboard.press('Enter');
      await found('found two words page 1');
      expect(page.url()).toBe(`${site()}@@find?q=two+words`);
      await page.click('text=Page 2');
      await found('found second page 2');
      expect(page.url()).toBe(`${site()}@@find?q=second&page=2`);
      await page.goBack();
      await found('found two words page 1');
      await page.goBack();
      await found('found nothing page 1');
      expect(page.url()).toBe(`${site()}@@find`);
      await page.goForward();
      await found('found two words page 1');
      expect(await page.inputValue('[name=q]')).toBe('two words');
      expect(await page.evaluate(() => (window as { stays?: boolean }).stays)).toBe(true);
      const other = await browser.visitor({ javaScriptEnabled: false });
      await other.page.goto(page.url());
      expect(await other.page.textContent('.found')).toBe('found two words page 1');
      expect(await other.page.locator('main').count()).toBe(1);
      // A new search begins at its first page.
      await page.click('text=Page 2');
      await found('found second page 2');
      await page.fill('[name=q]', 'third');
      await page.keyboard.press('Enter');
      await found('found third page 1');
      await Promise.all([context.close(), other.context.close()]);
    });
  });
}
