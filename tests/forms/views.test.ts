import { beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../support/browser';
import { useBrowser, useStage, useThemes } from '../support/hooks';
import { png } from './files/send';
import { tripApp } from './views/app';

/** A view with a long form: its address and theme, and what was entered, stay whatever a visitor does there. */
const themes = useThemes(async (copy) => {
  for (const [file, text] of Object.entries(tripApp)) await copy.write(`main/${file}`, text);
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));
beforeAll(async () => {
  for (const id of ['anna', 'bert']) await stage.put('guides', id, { block: 'guide', name: id });
});

describe.skipIf(!hasBrowser)('a long form in a view', () => {
  const browser = useBrowser();

  async function open(javaScriptEnabled: boolean, view = '@@trip') {
    const { page, context } = await browser.visitor({ javaScriptEnabled });
    const address = `${stage.host.url}/site/${view}`;
    await page.goto(address);
    /** The visitor is still on the view, on this page of the form, in the theme. */
    const stays = async (title: string) => {
      await page.waitForSelector(`.apps-steps [aria-current=step]:text-is("${title}")`);
      expect([page.url(), await page.locator('body#themed').count()]).toEqual([address, 1]);
    };
    const press = (name: string) => page.locator(`[name="${name}"]:visible`).first().click();
    /** The first page, and all fields of the second one. */
    const fill = async () => {
      await page.fill('[name=name]', 'Ann');
      await press('_next');
      await stays('Journey');
      await press('stops:add');
      await page.fill('[name="stops:0:town"]', 'Ghent');
      await press('stops:add');
      await page.fill('[name="stops:1:town"]', 'Bruges');
      await page.check('[name=guides][value=anna]');
      await page.check('[name=guides][value=bert]');
      await page.setInputFiles('[name=photo]', { name: 'me.png', mimeType: 'image/png', buffer: png });
    };
    const entered = async () => {
      expect(await page.inputValue('[name="stops:0:town"]')).toBe('Ghent');
      expect(await page.inputValue('[name="stops:1:town"]')).toBe('Bruges');
      const guides = page.locator('[name=guides]:checked');
      expect(await guides.evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value))).toEqual([
        'anna',
        'bert',
      ]);
    };
    return { page, context, address, stays, press, fill, entered };
  }

  test('has its entries again after the browser went back, with its script', async () => {
    const { page, context, stays, fill, entered } = await open(true);
    await fill();
    await page.fill('[name=days]', '2');
    await page.click('text=Elsewhere');
    await page.waitForURL(/@@elsewhere/);
    await page.goBack();
    await stays('Journey');
    await entered();
    expect(await page.inputValue('[name=days]')).toBe('2');
    await page.locator('[name=_back]').click();
    await stays('You');
    expect(await page.inputValue('[name=name]')).toBe('Ann');
    await context.close();
  });

  test('has its entries again after the browser went back and sent the form again, without its script', async () => {
    const { page, context, stays, press, fill, entered } = await open(false);
    await fill();
    await page.fill('[name=days]', '99');
    await press('_save');
    await page.waitForSelector('[name=days][aria-invalid=true]');
    await page.click('text=Elsewhere');
    await page.waitForURL(/@@elsewhere/);
    // Chromium asks on a page of its own whether it may send the form again; a reload there is the answer yes.
    await expect(page.goBack()).rejects.toThrow(/ERR_CACHE_MISS/);
    const reload = () =>
      page.reload().then(
        () => true,
        () => false,
      );
    await expect.poll(reload).toBe(true);
    await stays('Journey');
    await entered();
    expect(await page.inputValue('[name=days]')).toBe('99');
    await context.close();
  });

  describe.each([true, false])('script: %s', (script) => {
    test('keeps address, theme and entries through an error, an action, a wrong file, saving and deleting', async () => {
      const { page, context, address, stays, press, fill, entered } = await open(script);
      await fill();
      await page.fill('[name=days]', '99');
      await press('_save');
      await page.waitForSelector('[name=days][aria-invalid=true]');
      await stays('Journey');
      await entered();
      expect(await page.isChecked('[name=photo][type=checkbox]')).toBe(true);

      await press('action.guess');
      await expect.poll(() => page.textContent('main')).toContain('Ghent to Bruges');
      await stays('Journey');
      await entered();
      expect(await page.isChecked('[name=photo][type=checkbox]')).toBe(true);

      const html = { name: 'x.png', mimeType: 'image/png', buffer: Buffer.from('<html><script>') };
      await page.setInputFiles('[name=photo][type=file]', html);
      await page.fill('[name=days]', '3');
      await press('_save');
      await page.waitForSelector('[name=photo][aria-invalid=true]');
      await stays('Journey');
      await entered();

      await page.setInputFiles('[name=photo][type=file]', { name: 'you.png', mimeType: 'image/png', buffer: png });
      await press('_save');
      await page.waitForSelector('.apps-entries');
      // Before it is loaded, the page has no script yet, and the button leads to a page that asks.
      await page.waitForLoadState();
      expect(await page.locator('body#themed').count()).toBe(1);
      for (const text of ['Ghent', 'Bruges']) expect(await page.textContent('main')).toContain(text);

      page.on('dialog', (dialog) => dialog.accept());
      await press('_delete');
      if (!script) await press('_delete');
      await page.waitForURL(address);
      await stays('You');
      await context.close();
    });

    test('has its entries again after the session ended and the visitor logged in', async () => {
      const { page, context, address, stays, press, fill, entered } = await open(script, '@@members-trip');
      const { password } = await stage.user('anna');
      const logIn = async () => {
        await page.fill('[name=identifier]', 'anna');
        await page.fill('[name=password]', password);
        await page.click('main button[type=submit]');
      };
      await page.goto(`${stage.host.url}/site/@@login?next=/site/@@members-trip`);
      await logIn();
      await page.waitForURL(address);
      await fill();
      await page.fill('[name=days]', '2');
      await context.clearCookies();
      await press('_save');
      await page.waitForSelector('[name=identifier]');
      expect(await page.textContent('main')).toContain('except files');
      await logIn();
      await stays('Journey');
      await entered();
      expect(await page.inputValue('[name=days]')).toBe('2');
      await press('_save');
      await page.waitForSelector('.apps-entries');
      expect(await page.textContent('main')).toContain('Bruges');
      await context.close();
    });
  });
});
