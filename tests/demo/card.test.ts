import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { violations, violationsWithoutScript } from '../support/accessibility';
import { hasBrowser, keepPicture } from '../support/browser';
import { useBrowser, useHost } from '../support/hooks';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg==',
  'base64',
);

describe.skipIf(!hasBrowser)('an application for a library card, with pages, a repeated group and two files', () => {
  const host = useHost({ env: { APPS_DEMO: 'empty' } });
  const browser = useBrowser();
  const step = (page: Page, title: string) =>
    page.waitForSelector(`.apps-steps [aria-current=step]:text-is("${title}")`);

  test.each([
    [true, { width: 390, height: 800 }, 'dark'],
    [false, { width: 1280, height: 800 }, 'light'],
  ] as const)('from the first page to thanks; script: %s, %j, %s', async (javaScriptEnabled, viewport, colorScheme) => {
    const visitor = await browser.visitor({ javaScriptEnabled, viewport, colorScheme, bypassCSP: true });
    const { page, context } = visitor;
    const look = async (name: string) => {
      // Each page of the form is a page of the site.
      expect(await page.locator('nav[aria-label=Site]').count()).toBe(1);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow).toBeLessThanOrEqual(0);
      expect(await (javaScriptEnabled ? violations : violationsWithoutScript)(page)).toEqual([]);
      await keepPicture(page, `card-${name}-${viewport.width}`);
    };
    await page.goto(`${host.url}/site/@@card`);
    await step(page, 'You');
    await look('you');
    await page.fill('[name=name]', 'Nora');
    await page.fill('[name=email]', 'nora@example.org');
    await page.click('[name=_next]:visible');
    await step(page, 'Your family');
    await page.click('[name="children:add"]');
    await page.fill('[name="children:0:first_name"]', 'Mina');
    await page.fill('[name="children:0:birthday"]', '2019-04-02');
    await look('family');
    await page.click('[name=_next]:visible');
    await step(page, 'Papers');
    await page.setInputFiles('[name=proof]', {
      name: 'bill.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('Mill 4'),
    });
    await page.setInputFiles('[name=picture]', { name: 'me.png', mimeType: 'image/png', buffer: png });
    await page.check('[name=consent]');
    await look('papers');
    await page.click('[name=_save]:visible');
    await page.getByRole('heading', { name: 'Welcome to the library!' }).waitFor();
    await look('thanks');
    await context.close();
  });

  test('the applications are stored with their children and files, for editors alone', async () => {
    expect((await fetch(`${host.url}/site/@@apps/card/records`)).status).toBe(401);
    const stored = await host.run(async (strapi) => {
      const rows = await strapi.db.query('plugin::apps.record').findMany({});
      return rows.map(({ items }: { items: unknown }) => (typeof items === 'string' ? JSON.parse(items) : items));
    });
    expect(stored).toHaveLength(2);
    for (const application of stored) {
      expect(application).toMatchObject({
        block: 'apply',
        name: 'Nora',
        children: [{ first_name: 'Mina', birthday: '2019-04-02' }],
        proof: { name: 'bill.txt' },
        picture: { name: 'me.png' },
      });
    }
  });
});
