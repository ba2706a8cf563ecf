import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { openLive } from '../../support/browser';
import type { useBrowser } from '../../support/hooks';
import type { Stage } from '../../support/stage';

/** What happens to a visitor in a block that refreshes itself, or that they have changed. */
export function blocksInUse(stage: Stage, browser: ReturnType<typeof useBrowser>): void {
  const board = () => `${stage.host.url}/site/@@apps/live/blocks/board`;
  const change = (items: object) => stage.send({ as: 'mona', send: 'PATCH live/record/n', json: items });
  const shows = (page: Page, total: number) =>
    page.waitForFunction((text) => document.querySelector('.total')?.textContent === text, String(total));

  test.each(['click', 'focusin'])(
    'a block inside its loader is loaded by %s once, and can be used',
    async (trigger) => {
      await stage.put('live', 'n', { n: 1 }).catch(() => change({ n: 1 }));
      const { page, context } = await browser.visitor();
      await page.goto(`${stage.host.url}/site/`);
      await page.evaluate(
        ([address, name]) => {
          const loader = `<div id="opener" tabindex="0" data-apps-load="${address}" data-apps-trigger="${name}">Show</div>`;
          document.querySelector('main')?.insertAdjacentHTML('beforeend', loader);
        },
        [board(), trigger] as const,
      );
      await page.click('#opener');
      const block = page.locator('#opener form[name=board]');
      await block.evaluate((form) => form.setAttribute('data-first', ''));
      await block.locator('[name=note]').click();
      await block.locator('[name=note]').fill('typed');
      await block.locator('[name=kind][value=b]').check();
      await page.waitForTimeout(300);
      expect(await block.getAttribute('data-first')).toBe('');
      expect(await block.locator('[name=note]').inputValue()).toBe('typed');
      expect(await block.locator('[name=kind][value=b]').isChecked()).toBe(true);
      await block.locator('.next').click();
      await page.waitForFunction(() => document.querySelector('#opener .page')?.textContent === '2');
      await block.locator('text="Like"').click();
      await page.waitForFunction(() => document.querySelector('#opener .total')?.textContent === '2');
      await context.close();
    },
  );

  test.each<[what: string, press: string, focused: string | null]>([
    ['a button of a row', 'Like b', 'Like b'],
    ['a button of a row that is gone then', 'Done b', null],
    ['a choice of a field', 'B', 'b'],
  ])('the focus stays on %s, or goes to the block', async (_, pressed, focused) => {
    await stage.put('live', 'n', { n: 1 }).catch(() => change({ n: 1, gone: '' }));
    const { page, context } = await browser.visitor();
    await page.goto(board());
    await page.getByText(pressed, { exact: true }).press('Space');
    const rows = page.locator('button[value=a], button[value=b], button[value=c]');
    // The answer to a choice is that of the form.
    if (pressed === 'B')
      await page.evaluate(() =>
        document.forms[0]?.requestSubmit(document.querySelector<HTMLElement>('[name="action.like"]')),
      );
    await page.waitForFunction(() => document.querySelector('[role=status]')?.textContent === 'Updated');
    expect(await rows.count()).toBe(pressed === 'Done b' ? 4 : 6);
    const at = () =>
      page.evaluate(() => {
        const { activeElement: active } = document;
        if (active instanceof HTMLInputElement) return active.value;
        return active instanceof HTMLButtonElement
          ? active.textContent
          : active?.localName === 'form'
            ? null
            : 'elsewhere';
      });
    expect(await at()).toBe(focused);
    // A second press does not act on another row.
    if (focused === null) {
      await page.keyboard.press('Space');
      await page.waitForTimeout(300);
      expect(await rows.count()).toBe(4);
    }
    await context.close();
  });

  test('a block is refreshed with its query, in a page and at its own address', async () => {
    await stage.put('live', 'n', { n: 1 }).catch(() => change({ n: 1 }));
    for (const [index, address] of [`${stage.host.url}/site/?boards=1`, `${board()}?page=2&x=%3C'%22\\&y=`].entries()) {
      const { page, context } = await browser.visitor();
      await openLive(page, address);
      const pages = () => page.locator('.page').allTextContents();
      const before = await pages();
      expect(before).toEqual(index === 0 ? ['1', '2', '3'] : ['2']);
      await change({ n: 5 + index });
      await page.waitForFunction(
        ([text, count]) =>
          Array.from(document.querySelectorAll('.total')).filter((one) => one.textContent === text).length === count,
        [String(5 + index), before.length] as const,
      );
      expect(await pages()).toEqual(before);
      await context.close();
    }
  });

  test('a form in place is sent with the query of its block, in a page and at its own address', async () => {
    await stage.put('live', 'n', { n: 1 }).catch(() => change({ n: 1 }));
    for (const [index, address] of [`${stage.host.url}/site/?boards=1`, `${board()}?page=3&free=on`].entries()) {
      const { page, context } = await browser.visitor();
      await page.goto(address);
      const block = page.locator('form[name=board]').last();
      await block.getByText('Like', { exact: true }).click();
      await expect.poll(() => block.locator('.total').textContent()).toBe(String(2 + index));
      expect(await block.locator('.page').textContent()).toBe('3');
      // What the form has a field for is not a part of the query: the box is not ticked.
      expect(await block.locator('.free').textContent()).toBe('all');
      await context.close();
    }
  });

  test('back and forward show each block of a page what it has shown, also of several that are alike', async () => {
    await stage.put('live', 'n', { n: 1 }).catch(() => change({ n: 1 }));
    const { page, context } = await browser.visitor();
    const states = () => page.locator('.page, .step').allTextContents();
    await page.goto(`${stage.host.url}/site/?boards=1`);
    const steps: [block: string, states: string[]][] = [
      ['.next >> nth=1', ['1', '3', '3', '1']],
      ['.step-on', ['1', '3', '3', '2']],
      ['.next >> nth=2', ['1', '3', '4', '2']],
      ['.step-on', ['1', '3', '4', '3']],
    ];
    for (const [link, after] of steps) {
      await page.click(link);
      await expect.poll(states).toEqual(after);
    }
    const all = [['1', '2', '3', '1'], ...steps.map(([, after]) => after)];
    for (const at of [3, 2, 1, 0]) {
      await page.goBack();
      await expect.poll(states).toEqual(all[at]);
    }
    for (const [by, at] of [
      [4, 4],
      [-4, 0],
      [1, 1],
    ] as const) {
      await page.evaluate((entries) => history.go(entries), by);
      await expect.poll(states).toEqual(all[at]);
    }
    await context.close();
  });

  test('two quick steps back show what the address bar says', async () => {
    await stage.put('live', 'n', { n: 1 }).catch(() => change({ n: 1 }));
    const { page, context } = await browser.visitor();
    await page.goto(board());
    const shown = () => page.textContent('.page');
    for (const at of ['2', '3']) {
      await page.click('.next');
      await expect.poll(shown).toBe(at);
    }
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const asked = new Promise<void>((resolve) => {
      void page.route('**/live/blocks/board?page=2', async (route) => {
        resolve();
        await held;
        await route.continue().catch(() => undefined);
      });
    });
    await page.evaluate(() => history.back());
    await asked;
    await page.evaluate(() => history.back());
    await expect.poll(shown).toBe('1');
    release();
    await page.waitForTimeout(500);
    expect([await shown(), page.url()]).toEqual(['1', board()]);
    await context.close();
  });

  test.each<[what: string, fields: Record<string, string>, isRefreshed: boolean]>([
    ['what its fields have shown', {}, true],
    ['a text', { note: 'x' }, false],
    ['no text where there was one', { place: '' }, false],
    ['another choice', { size: 'L' }, false],
    ['a checked box', { news: '1' }, false],
    ['another choice in an entry', { 'guests:0:meal': 'fish' }, false],
    ['another entry', { 'guests:1': '1', 'guests:1:meal': 'soup' }, false],
  ])('after a button, a form with %s', async (_, fields, isRefreshed) => {
    await stage.put('live', 'n', { n: 1 }).catch(() => undefined);
    const shown = { size: 'S', place: 'here', note: '', 'guests:0': '1', 'guests:0:meal': 'soup' };
    const form = { ...shown, ...fields, 'action.like': '1' };
    const answer = await stage.send({ send: 'POST live/blocks/party', accept: 'text/html', form });
    const settings = /data-apps-settings='([^']+)'/.exec(answer.text)?.[1] ?? '{}';
    expect(JSON.parse(settings).refresh).toBe(isRefreshed ? 5 : undefined);
  });

  describe('while a block refreshes itself', () => {
    /** Opens the block, and holds the answer of its refresh until `release` is called. */
    async function refreshing() {
      await stage.put('live', 'n', { n: 1 }).catch(() => change({ n: 1 }));
      const { page, context } = await browser.visitor();
      await openLive(page, board());
      await shows(page, 1);
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const asked = new Promise<void>((resolve) => {
        void page.route('**/live/blocks/board*', async (route) => {
          const isRefresh = route.request().method() === 'GET' && !route.request().url().includes('page=');
          if (!isRefresh) return route.continue();
          const response = await route.fetch();
          resolve();
          await held;
          await route.fulfill({ response });
        });
      });
      await change({ n: 2 });
      await asked;
      return { page, context, release };
    }

    test.each<[what: string, use: (page: Page) => Promise<unknown>, free: (page: Page) => Promise<unknown>]>([
      ['typed', (page) => page.fill('[name=note]', 'typed'), (page) => page.fill('[name=note]', '')],
      ['chosen', (page) => page.check('[name=kind][value=b]'), (page) => page.check('[name=kind][value=a]')],
      ['selected', (page) => page.selectOption('[name=size]', 'L'), (page) => page.selectOption('[name=size]', 'S')],
    ])('what is %s meanwhile stays, and the change is shown when it is free again', async (_, use, free) => {
      const { page, context, release } = await refreshing();
      await use(page);
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      const entered = () => page.evaluate(() => String(new URLSearchParams(new FormData(document.forms[0]) as never)));
      const before = await entered();
      release();
      await page.waitForTimeout(500);
      expect(await entered()).toBe(before);
      expect(await page.textContent('.total')).toBe('1');
      await free(page);
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await shows(page, 2);
      await context.close();
    });

    test.each<[what: string, press: (page: Page) => Promise<unknown>, total: number, shown: string]>([
      ['a button', (page) => page.click('text="Like"'), 3, '1'],
      ['a link', (page) => page.click('.next'), 2, '2'],
    ])('%s works at once, and the answer of the refresh is dropped', async (_, press, total, shown) => {
      const { page, context, release } = await refreshing();
      await press(page);
      await shows(page, total);
      expect(await page.textContent('.page')).toBe(shown);
      release();
      await page.waitForTimeout(500);
      expect(await page.textContent('.total')).toBe(String(total));
      expect(await page.textContent('.page')).toBe(shown);
      await context.close();
    });

    test('a button that is being pressed is not replaced', async () => {
      const { page, context, release } = await refreshing();
      await page.hover('text="Like"');
      await page.mouse.down();
      release();
      await page.waitForTimeout(500);
      expect(await page.textContent('.total')).toBe('1');
      await page.mouse.up();
      await shows(page, 3);
      await context.close();
    });
  });
}
