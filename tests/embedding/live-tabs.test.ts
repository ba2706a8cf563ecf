import { gzipSync } from 'node:zlib';
import type { Page, Request } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../support/browser';
import { useBrowser, useStage } from '../support/hooks';
import { siteThemes } from '../support/theme';

describe.skipIf(!hasBrowser)('live blocks in several tabs of one browser', () => {
  const stage = useStage(() => ({ themesDirectory: siteThemes, env: { APPS_THEME: 'browser' } }));
  const browser = useBrowser();
  const site = () => `${stage.host.url}/site/`;

  beforeAll(async () => {
    await stage.put('live', 'n', { n: 0 });
    await stage.host.run(async (strapi) => {
      const open = { count: 0 };
      Object.assign(globalThis, { open });
      strapi.server.httpServer.prependListener('request', ({ url = '' }, response) => {
        if (!url.includes('@@apps.live?')) return;
        open.count += 1;
        response.on('close', () => {
          open.count -= 1;
        });
      });
    });
  });

  const connections = () =>
    stage.host.run(async () => (globalThis as unknown as { open: { count: number } }).open.count);

  let n = 0;
  const change = async (): Promise<string> => {
    n += 1;
    const answer = await stage.send({ as: 'mona', send: 'PATCH live/record/n', json: { n } });
    expect(answer.status).toBe(200);
    return String(n);
  };
  const shows = (page: Page, text: string) =>
    page.waitForFunction((wanted) => document.querySelector('.live')?.textContent === wanted, text);
  const show = (page: Page, isHidden: boolean) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, isHidden);

  /** Tabs of one browser; `streams` are those that have a connection. */
  async function opened(count: number, script?: () => void) {
    const { context, page } = await browser.visitor();
    if (script) await context.addInitScript(script);
    const streams = new Map<Page, number>();
    const fetched = new Map<Page, number>();
    const add = (map: Map<Page, number>, of: Page, by: number) => map.set(of, (map.get(of) ?? 0) + by);
    const tabs: Page[] = [];
    for (let at = 0; at < count; at += 1) {
      const tab = at === 0 ? page : await context.newPage();
      tab.setDefaultTimeout(15_000);
      tab.on('request', (request) => {
        if (request.url().includes('@@apps.live?')) add(streams, tab, 1);
        else if (request.url().includes('/live/blocks/total')) add(fetched, tab, 1);
      });
      const ended = (request: Request) => {
        if (request.url().includes('@@apps.live?')) add(streams, tab, -1);
      };
      tab.on('requestfailed', ended);
      tab.on('requestfinished', ended);
      await tab.goto(site());
      tabs.push(tab);
    }
    const leader = () => tabs.find((tab) => (streams.get(tab) ?? 0) > 0 && !tab.isClosed());
    return { context, tabs, leader, fetched };
  }

  test('ten tabs load, share one connection, and are all woken by one change', { timeout: 120_000 }, async () => {
    const { context, tabs } = await opened(10);
    await expect.poll(connections).toBe(1);
    for (let round = 0; round < 3; round += 1) {
      const wanted = await change();
      await Promise.all(tabs.map((tab) => shows(tab, wanted)));
    }
    expect(await connections()).toBe(1);
    await context.close();
    await expect.poll(connections).toBe(0);
  });

  test('when the tab with the connection is closed, another has it', { timeout: 120_000 }, async () => {
    const { context, tabs, leader } = await opened(4);
    await expect.poll(connections).toBe(1);
    for (let left = 3; left > 0; left -= 1) {
      await expect.poll(() => leader() !== undefined).toBe(true);
      await leader()?.close();
      // At once: in between, no tab has a connection.
      const wanted = await change();
      await Promise.all(tabs.filter((tab) => !tab.isClosed()).map((tab) => shows(tab, wanted)));
      await expect.poll(connections).toBe(1);
    }
    await context.close();
  });

  test('hidden tabs have no connection, and show what has changed when they are visible again', {
    timeout: 120_000,
  }, async () => {
    const { context, tabs, fetched } = await opened(3);
    const [first, second, third] = tabs as [Page, Page, Page];
    await expect.poll(connections).toBe(1);
    for (const tab of tabs) await show(tab, true);
    await expect.poll(connections).toBe(0);
    const wanted = await change();
    await show(first, false);
    await shows(first, wanted);
    await expect.poll(connections).toBe(1);
    expect(await second.locator('.live').textContent()).not.toBe(wanted);
    await show(second, false);
    await shows(second, wanted);
    await expect.poll(connections).toBe(1);
    // What the second tab has missed was sent to both.
    await second.waitForTimeout(2_000);
    // Nothing has changed meanwhile: nothing is fetched.
    const before = fetched.get(first) ?? 0;
    await show(first, true);
    await show(first, false);
    await second.waitForTimeout(2_500);
    expect(fetched.get(first) ?? 0).toBe(before);
    // The server knows changes of the last minute.
    await third.evaluate(() => {
      const now = Date.now;
      Date.now = () => now() + 120_000;
    });
    const one = fetched.get(third) ?? 0;
    await show(third, false);
    await shows(third, wanted);
    expect(fetched.get(third)).toBeGreaterThan(one);
    await context.close();
  });

  test('without locks, each tab has a connection', { timeout: 60_000 }, async () => {
    const { context, tabs } = await opened(2, () => {
      delete (Navigator.prototype as { locks?: unknown }).locks;
    });
    await expect.poll(connections).toBe(2);
    const wanted = await change();
    await Promise.all(tabs.map((tab) => shows(tab, wanted)));
    await context.close();
  });

  test('a change while a tab loads is not missed', { timeout: 120_000 }, async () => {
    for (let round = 0; round < 5; round += 1) {
      const { context, tabs } = await opened(1, () => {
        // The script is late.
        const { setTimeout } = window;
        (window as { setTimeout: unknown }).setTimeout = (work: () => void, time: number, ...args: unknown[]) =>
          setTimeout(work, time === 50 ? 400 : time, ...args);
      });
      const wanted = await change();
      await shows(tabs[0] as Page, wanted);
      await context.close();
    }
  });

  test('the second script is small, is loaded by pages with a live block alone, and is kept', async () => {
    const { page, context } = await browser.visitor();
    const scripts: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('apps.live.js')) scripts.push(request.url());
    });
    await page.goto(`${site()}@@apps/count/blocks/info`);
    expect(scripts).toEqual([]);
    await page.goto(site());
    await expect.poll(() => scripts.length).toBe(1);
    const answer = await fetch(scripts[0] as string);
    expect(answer.headers.get('cache-control')).toContain('immutable');
    expect(gzipSync(await answer.text()).length).toBeLessThan(4_000);
    await context.close();
  });
});
