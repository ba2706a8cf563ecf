import type { BrowserContext, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasBrowser, openBrowser, visitor } from '../../support/browser';
import { useBrowser } from '../../support/hooks';
import type { Stage } from '../../support/stage';
import { stored } from './app';

/** A person's way through forms that change records, with and without the script. */
export function browsers(stage: Stage): void {
  describe.skipIf(!hasBrowser)('in a browser', () => {
    const browser = useBrowser();
    const app = () => `${stage.host.url}/site/@@apps/edited`;
    const records = async (name: string) => {
      const { json } = await stage.send<{ items: { name?: string } }[]>({ as: 'mona', send: 'GET edited/records' });
      return json.filter(({ items }) => items.name === name).length;
    };
    /** A second click ends the loading of the first answer: the address counts. */
    const saved = (page: Page) => expect.poll(() => page.url(), { timeout: 15_000 }).toMatch(/\/record\//);
    /**
     * The browser's own error page sends the form again; it may have begun with that by itself when the line is back. A reload that comes
     * before the browser has noticed the line shows the error page again.
     */
    const sendAgain = async (page: Page) => {
      for (let times = 0; times < 5 && !/\/record\//.test(page.url()); times += 1) {
        await page.reload().catch(() => undefined);
        await page.waitForURL(/\/record\//, { timeout: 2_000 }).catch(() => undefined);
      }
    };
    /** A line of 20 kB in a second, with answers after 300 ms. */
    const slowLine = async (context: BrowserContext, page: Page) => {
      const session = await context.newCDPSession(page);
      const conditions = { offline: false, latency: 300, downloadThroughput: 20_000, uploadThroughput: 20_000 };
      await session.send('Network.emulateNetworkConditions', conditions);
    };

    describe.each([true, false])('with a script: %s', (javaScriptEnabled) => {
      const how = javaScriptEnabled ? 'script' : 'plain';

      test('a record keeps what its controls cannot show', async () => {
        const items = Object.fromEntries(stored.map(([name, , value]) => [name, value]));
        await stage.keep('edited', `old-${how}`, { block: 'old', name: 'before', ...items });
        const { page, context } = await browser.visitor({ javaScriptEnabled });
        await page.goto(`${app()}/record/old-${how}/edit`);
        await page.fill('[name=name]', 'after');
        // A required number that is none is a text, which the browser takes.
        await page.click('[name=_save]:visible');
        await page.waitForURL(/record\/old-\w+$/);
        const { id: _, ...left } = (await stage.items('edited', `old-${how}`)) ?? {};
        expect(left).toEqual({ block: 'old', name: 'after', ...items });
        await context.close();
      });

      test('a double click and a held Enter key save once, also on a slow line', async () => {
        const { page, context } = await browser.visitor({ javaScriptEnabled });
        await page.goto(`${app()}/blocks/order`);
        await page.fill('[name=name]', `double ${how}`);
        await page.locator('[name=_save]').dblclick({ delay: 30, noWaitAfter: true });
        await saved(page);
        expect(await records(`double ${how}`)).toBe(1);
        await page.goto(`${app()}/blocks/order`);
        await page.fill('[name=name]', `held ${how}`);
        await page.focus('[name=name]');
        for (let n = 0; n < 5; n += 1) await page.keyboard.down('Enter');
        await page.keyboard.up('Enter');
        await saved(page);
        expect(await records(`held ${how}`)).toBe(1);
        await page.goto(`${app()}/blocks/order`);
        await slowLine(context, page);
        await page.fill('[name=name]', `slow ${how}`);
        // Clicks of the mouse at its place: a click at the button itself waits until there is one that is enabled.
        const button = page.locator('[name=_save]');
        await button.scrollIntoViewIfNeeded();
        const { x, y, width, height } = (await button.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
        await page.mouse.click(x + width / 2, y + height / 2);
        await page.mouse.click(x + width / 2, y + height / 2, { delay: 100 });
        await saved(page);
        expect(await records(`slow ${how}`)).toBe(1);
        await context.close();
      });

      test('an answer that is lost, and a line that was away, lose nothing and do nothing twice', async () => {
        const { page, context } = await browser.visitor({ javaScriptEnabled });
        await page.goto(`${app()}/blocks/order`);
        await page.fill('[name=name]', `lost ${how}`);
        await page.fill('[name=more]', 'typed for long');
        // Away to another page, and back.
        await page.goto(`${app()}/blocks/placed`);
        await page.goBack();
        // The browser fills the fields again after the page has loaded.
        await expect.poll(() => page.inputValue('[name=more]')).toBe('typed for long');
        await context.setOffline(true);
        await page.click('[name=_save]', { noWaitAfter: true });
        // The browser's own error page is shown: a reload before it would ask for the empty form.
        await expect.poll(() => page.content()).not.toContain('apps-block');
        await context.setOffline(false);
        await sendAgain(page);
        await saved(page);
        expect(await records(`lost ${how}`)).toBe(1);
        await page.goto(`${app()}/blocks/order`);
        await page.fill('[name=name]', `unheard ${how}`);
        // The server saves, and the browser does not hear of it.
        let lost = true;
        await page.route('**/blocks/order', async (route) => {
          if (!lost || route.request().method() !== 'POST') return route.continue();
          lost = false;
          await route.fetch({ maxRedirects: 0 });
          return route.abort('connectionreset');
        });
        await page.click('[name=_save]', { noWaitAfter: true });
        await expect.poll(() => records(`unheard ${how}`), { timeout: 10_000 }).toBe(1);
        await expect.poll(() => page.content()).not.toContain('apps-block');
        await sendAgain(page);
        await saved(page);
        expect(await records(`unheard ${how}`)).toBe(1);
        await context.close();
      });

      test('two tabs of one record keep what each has changed, and show both values of one field', async () => {
        const id = `tabs-${how}`;
        await stage.keep('edited', id, { block: 'person', name: 'Ann', phone: '030 1234', news: true, rows: [] });
        const { page, context } = await browser.visitor({ javaScriptEnabled });
        const other = await context.newPage();
        for (const tab of [page, other]) await tab.goto(`${app()}/record/${id}/edit`);
        await page.fill('[name=name]', 'Anna');
        await page.uncheck('[name=news]');
        await page.click('[name=_save]:visible');
        await page.waitForURL(new RegExp(`${id}$`));
        await other.fill('[name=phone]', '040 9876');
        await other.fill('[name=name]', 'Bob');
        await other.click('[name=_save]:visible');
        await other.waitForSelector('[aria-invalid=true]');
        expect(await other.inputValue('[name=name]')).toBe('Bob');
        expect(await other.inputValue('[name=phone]')).toBe('040 9876');
        expect(await other.isChecked('[name=news]')).toBe(false);
        expect(await other.textContent('form')).toContain('Stored in the meantime: Anna.');
        expect(await stage.items('edited', id)).toMatchObject({ name: 'Anna', phone: '030 1234' });
        await other.click('[name=_save]:visible');
        await other.waitForURL(new RegExp(`${id}$`));
        expect(await stage.items('edited', id)).toMatchObject({ name: 'Bob', phone: '040 9876', news: false });
        await context.close();
      });

      test('a form in place shows both values too', async () => {
        const id = `placed-${how}`;
        await stage.keep('edited', id, { block: 'placed', name: 'Ann', phone: '030 1234' });
        const { page, context } = await browser.visitor({ javaScriptEnabled });
        await page.goto(`${app()}/record/${id}/edit`);
        await stage.send({ send: `PATCH edited/record/${id}`, json: { name: 'Anna' } });
        await page.fill('[name=name]', 'Bob');
        await page.click('[name=_save]');
        await page.waitForSelector('[aria-invalid=true]');
        expect(await page.textContent('form')).toContain('Stored in the meantime: Anna.');
        expect(await page.inputValue('[name=name]')).toBe('Bob');
        await page.click('[name=_save]');
        await expect.poll(async () => (await stage.items('edited', id))?.name).toBe('Bob');
        await context.close();
      });
    });

    test('what was typed is there after a reload, and is saved once', async () => {
      const { page, context } = await browser.visitor();
      await page.goto(`${app()}/blocks/order`);
      await page.fill('[name=name]', 'reloaded');
      await page.fill('[name=more]', 'typed for long');
      await expect.poll(() => page.evaluate(() => JSON.stringify(history.state))).toContain('typed+for+long');
      await page.reload();
      await expect.poll(() => page.inputValue('[name=more]')).toBe('typed for long');
      await page.reload();
      await expect.poll(() => page.inputValue('[name=name]')).toBe('reloaded');
      await page.click('[name=_save]');
      await saved(page);
      expect(await records('reloaded')).toBe(1);
      // The page of the record has no form of the one before.
      await page.reload();
      expect(await records('reloaded')).toBe(1);
      await context.close();
    });

    test.each([
      ['de-DE', 'Europe/Berlin'],
      ['en-US', 'America/New_York'],
    ])(
      'a browser in %s sends numbers, days and hours as they are stored, and shows them again',
      async (locale, timezoneId) => {
        const { page, context } = await browser.visitor({ locale, timezoneId });
        await page.goto(`${app()}/blocks/typed`);
        const entered = { size: '1.5', day: '2026-03-01', at: '2026-03-29T02:30', clock: '09:05' };
        for (const [name, value] of Object.entries(entered)) await page.fill(`[name=${name}]`, value);
        await page.click('[name=_save]');
        await saved(page);
        const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
        expect(await stage.items('edited', id)).toMatchObject({ ...entered, size: 1.5 });
        await page.goto(`${app()}/record/${id}/edit`);
        for (const [name, value] of Object.entries(entered))
          expect(await page.inputValue(`[name=${name}]`)).toBe(value);
        await context.close();
      },
    );

    test('a German browser takes a number with a comma, and the server gets it with a point', async (context) => {
      const { page, context: opened } = await visitor(await openBrowser('de'));
      await page.goto(`${app()}/blocks/typed`);
      // Debian has the languages in a package of their own, chromium-l10n.
      context.skip(!(await page.evaluate(() => navigator.language)).startsWith('de'), 'a Chromium in English');
      await page.locator('[name=size]').pressSequentially('1,5');
      expect(await page.inputValue('[name=size]')).toBe('1.5');
      await page.click('[name=_save]');
      await saved(page);
      const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      expect(await stage.items('edited', id)).toMatchObject({ size: 1.5 });
      await opened.close();
    });

    test('without a script, the page of an error that may pass sends the same form again', async () => {
      const { page, context } = await browser.visitor({ javaScriptEnabled: false });
      await page.goto(`${app()}/blocks/order`);
      await page.fill('[name=name]', 'kept');
      await page.fill('[name=more]', 'two\nlines');
      // The database is not there for a moment.
      await stage.host.run((strapi) => {
        const { store } = strapi.plugin('apps').service('records');
        const records = store();
        const { transact } = records;
        records.transact = async () => {
          records.transact = transact;
          throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        };
      });
      await page.click('[name=_save]');
      await page.waitForSelector('text=Send again');
      expect(await records('kept')).toBe(0);
      await page.click('text=Send again');
      await saved(page);
      expect(await records('kept')).toBe(1);
      await context.close();
    });
  });
}
