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

  test.each([
    [true, { width: 1280, height: 800 }],
    [false, { width: 390, height: 800 }],
  ] as const)(
    'continued later, confirmed, corrected and withdrawn; script: %s, %j',
    async (javaScriptEnabled, viewport) => {
      const look = async (page: Page, name: string) => {
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(overflow).toBeLessThanOrEqual(0);
        expect(await (javaScriptEnabled ? violations : violationsWithoutScript)(page)).toEqual([]);
        await keepPicture(page, `card-${name}-${viewport.width}`);
      };
      const device = () => browser.visitor({ javaScriptEnabled, viewport, bypassCSP: true });
      const email = `ada-${viewport.width}@example.org`;
      /** The address in the latest mail to the applicant, as the demo prints mails. */
      const mailed = async (kind: string) => {
        const mails = new RegExp(`To ${email}: [^]*?(/site/@@apps/card/${kind}/[\\w-]+)`, 'g');
        const links = () => [...host.output().matchAll(mails)];
        await expect.poll(() => links().length, { timeout: 20_000 }).toBeGreaterThan(0);
        return `${host.url}${links().at(-1)?.[1]}`;
      };
      const begun = await device();
      await begun.page.goto(`${host.url}/site/@@card`);
      await begun.page.fill('[name=name]', 'Ada');
      await begun.page.click('[name=_draft]');
      await begun.page.getByText('What you have entered is saved.').waitFor();
      await look(begun.page, 'draft');
      const draft = begun.page.url();
      await begun.context.close();

      const { page, context } = await device();
      await page.goto(draft);
      expect(await page.inputValue('[name=name]')).toBe('Ada');
      await page.fill('[name=email]', email);
      await page.click('[name=_next]:visible');
      await step(page, 'Your family');
      await page.click('[name=_next]:visible');
      await step(page, 'Papers');
      const proof = { name: 'bill.txt', mimeType: 'text/plain', buffer: Buffer.from('Mill 4') };
      await page.setInputFiles('[name=proof]', proof);
      await page.check('[name=consent]');
      await page.click('[name=_save]:visible');
      await page.getByRole('heading', { name: 'Welcome to the library!' }).waitFor();
      expect((await page.goto(draft))?.status()).toBe(404);

      await page.goto(await mailed('confirm'));
      await look(page, 'confirm');
      await page.getByRole('button', { name: 'Confirm' }).click();
      await page.getByText('Thank you, it is confirmed.').waitFor();
      await page.goto(await mailed('mine'));
      await look(page, 'own');
      await page.fill('[name=name]', 'Ada Lovelace');
      for (const title of ['Your family', 'Papers']) {
        await page.click('[name=_next]:visible');
        await step(page, title);
      }
      await page.click('[name=_save]:visible');
      await page.getByRole('heading', { name: 'Welcome to the library!' }).waitFor();
      const own = await mailed('mine');
      await page.goto(own);
      expect(await page.inputValue('[name=name]')).toBe('Ada Lovelace');
      await page.getByRole('button', { name: 'Withdraw' }).click();
      await look(page, 'withdraw');
      await page.locator('[name=_withdraw][value=yes]').click();
      await expect.poll(async () => (await page.goto(own))?.status()).toBe(404);
      await context.close();
    },
  );

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
