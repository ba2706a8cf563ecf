import { describe, expect, test } from 'vitest';
import type { useBrowser, usePage } from '../../support/hooks';
import type { Stage } from '../../support/stage';

/** Blocks of the site in a page of another origin. */
export function blocksElsewhere(
  stage: Stage,
  browser: ReturnType<typeof useBrowser>,
  elsewhere: ReturnType<typeof usePage>,
): void {
  const site = () => `${stage.host.url}/site/`;
  const total = async () => Number((await stage.items('count', 'total'))?.total ?? 0);

  describe('in a page of another origin', () => {
    test('a loader that the page makes later is found', async () => {
      const { page, context } = await browser.visitor();
      await page.goto(elsewhere.origin);
      await page.locator('#like .total').waitFor();
      await page.evaluate((address) => {
        document.body.insertAdjacentHTML(
          'beforeend',
          `<section><div id="later" data-apps-load="${address}"></div></section>`,
        );
      }, `${site()}@@apps/count/blocks/info`);
      await page.locator('#later .info').waitFor();
      await context.close();
    });

    test('a REST client reads, writes and sees tokens with Authorization, and nothing with cookies', async () => {
      const { page, context } = await browser.visitor();
      await page.goto(elsewhere.origin);
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
        [`${site()}@@apps/terms`, bearer] as const,
      );
      expect(written).toEqual({
        status: 201,
        location: expect.stringContaining(`${site()}@@apps/terms/record/`),
        withCookies: 'TypeError',
      });
      await context.close();
    });

    test('a block is loaded, liked and kept fresh, without credentials', async () => {
      const { page, context } = await browser.visitor();
      await page.goto(elsewhere.origin);
      await page.locator('#like .total').waitFor();
      const before = await total();
      await page.locator('button[name="action.like"]').click();
      await page.waitForFunction((n) => document.querySelector('.total')?.textContent === String(n), before + 1);
      expect(page.url()).toBe(`${elsewhere.origin}/`);
      await page.locator('.live').waitFor();
      await stage.send({ as: 'mona', send: 'PATCH live/record/n', json: { n: 101 } });
      await page.waitForFunction(() => document.querySelector('.live')?.textContent === '101');
      await context.close();
    });
  });
}
