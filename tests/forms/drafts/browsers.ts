import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { violations } from '../../support/accessibility';
import { hasBrowser, keepPicture, openBrowser, visitor } from '../../support/browser';
import type { Stage } from '../../support/stage';

/** The plugin's own style sheet, which a theme may use. */
const style = readFileSync(
  fileURLToPath(new URL('../../../plugins/apps/browser/src/apps.css', import.meta.url)),
  'utf8',
);

/** A narrow and a wide device: a visitor goes from one to the other, and the page there is looked at in both widths. */
const devices = [
  [true, 390, 1280],
  [false, 1280, 390],
] as const;

/** In a browser: a visitor saves a form with pages and a file, and continues it on another device. Each page is accessible. */
export function draftBrowsers(stage: Stage): void {
  describe.runIf(hasBrowser)('in a browser', () => {
    const at = (block: string) => `${stage.host.url}/site/@@apps/kept/blocks/${block}`;

    test.each(devices)(
      'a visitor continues on another device: script %s, from %i to %i pixels',
      async (hasScript, from, to) => {
        const browser = await openBrowser();
        const device = (width: number) =>
          visitor(browser, { javaScriptEnabled: hasScript, viewport: { width, height: 800 }, bypassCSP: true });
        const { page, context } = await device(from);
        const name = `Ada ${hasScript}`;
        await page.goto(at('paged'));
        await page.getByLabel('Your name').fill(name);
        await page.getByRole('button', { name: 'Next' }).click();
        await page.getByRole('heading', { name: 'Second' }).waitFor();
        const cv = { name: 'my.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4\nof the draft') };
        await page.getByLabel('CV').setInputFiles(cv);
        await page.getByRole('button', { name: 'Save and continue later' }).click();
        await page.getByText('What you have entered is saved.').waitFor();
        expect(page.url()).toMatch(/\/draft\/[\w-]{65}$/);
        const link = await page.getByLabel('Link', { exact: true }).inputValue();
        expect(link).toBe(page.url());
        await context.close();

        const { page: other, context: second } = await device(to);
        await other.goto(link);
        await other.getByRole('heading', { name: 'Second' }).waitFor();
        expect(await other.content()).toContain('my.pdf');
        for (const width of [from, to]) {
          await other.setViewportSize({ width, height: 800 });
          await keepPicture(other, `draft-${hasScript}-${width}`);
          if (hasScript) expect(await violations(other)).toEqual([]);
          const wide = await other.locator('body').evaluate((body) => body.scrollWidth);
          expect(wide).toBeLessThanOrEqual(width);
        }
        await other.getByLabel('CV').setInputFiles({ ...cv, name: 'newer.pdf' });
        await other.getByRole('button', { name: 'Save and continue later' }).click();
        await other.getByText('What you have entered is saved.').waitFor();
        expect(await other.content()).toContain('newer.pdf');
        await other.getByRole('button', { name: 'Back' }).click();
        await other.getByRole('heading', { name: 'First' }).waitFor();
        expect(await other.getByLabel('Your name').inputValue()).toBe(name);
        await other.getByLabel('Your mail').fill('ada@example.org');
        for (const title of ['Second', 'Third']) {
          await other.getByRole('button', { name: 'Next' }).click();
          await other.getByRole('heading', { name: title }).waitFor();
        }
        await other.getByRole('button', { name: 'Save', exact: true }).click();
        await other.getByRole('status').waitFor();
        expect(other.url()).toContain('/record/');
        const { json } = await stage.send<{ items: Record<string, unknown> }[]>({
          as: 'mona',
          send: 'POST kept/search',
          json: { query: '' },
        });
        expect(json.map(({ items }) => items).find((items) => items.name === name)).toMatchObject({
          mail: 'ada@example.org',
          cv: { name: 'newer.pdf' },
        });
        expect((await other.goto(link))?.status()).toBe(404);
        await second.close();
      },
    );

    test('on a narrow screen the buttons do not touch, and those beside Next are quiet', async () => {
      const { page, context } = await visitor(await openBrowser(), {
        viewport: { width: 390, height: 800 },
        bypassCSP: true,
      });
      await page.goto(at('paged'));
      await page.addStyleTag({ content: style });
      await page.getByLabel('Your name').fill('Narrow');
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByRole('heading', { name: 'Second' }).waitFor();
      await page.getByRole('button', { name: 'Save and continue later' }).click();
      await page.getByText('What you have entered is saved.').waitFor();
      await page.addStyleTag({ content: style });
      const buttons = await page.locator('.apps-action:visible').evaluateAll((all) =>
        all.map((one) => {
          const { top, bottom, left, right } = one.getBoundingClientRect();
          return {
            top,
            bottom,
            left,
            right,
            name: one.getAttribute('name'),
            fill: getComputedStyle(one).backgroundColor,
          };
        }),
      );
      const near = buttons.flatMap((one, at) =>
        buttons
          .slice(at + 1)
          .filter(({ left, right, top, bottom }) => {
            const [across, down] = [
              Math.max(left - one.right, one.left - right),
              Math.max(top - one.bottom, one.top - bottom),
            ];
            return Math.max(across, down) < 6;
          })
          .map(({ name }) => [one.name, name]),
      );
      expect(near).toEqual([]);
      const quiet = buttons.filter(({ fill }) => fill === 'rgba(0, 0, 0, 0)').map(({ name }) => name);
      expect(quiet).toEqual(['_back', '_draft', '_revoke']);
      const tops = await page
        .locator('[name=_draft_email], button[name=_draft]')
        .evaluateAll((all) => all.map((one) => one.getAttribute('name')));
      expect(tops).toEqual(['_draft_email', '_draft']);
      await context.close();
    });

    test('a form that is submitted in place shows its link in place', async () => {
      const { page, context } = await visitor(await openBrowser(), {});
      await page.goto(at('ajax'));
      await page.getByLabel('Name').fill('In place');
      await page.getByRole('button', { name: 'Save and continue later' }).click();
      const link = await page.getByLabel('Link', { exact: true }).inputValue();
      expect(link).toMatch(/\/draft\/[\w-]{65}$/);
      await page.getByLabel('Name').fill('Again');
      await Promise.all([
        page.waitForResponse((answer) => answer.url() === link && answer.request().method() === 'GET'),
        page.getByRole('button', { name: 'Save and continue later' }).click(),
      ]);
      await page.goto(link);
      expect(await page.getByLabel('Name').inputValue()).toBe('Again');
      await page.getByRole('button', { name: 'Delete this draft' }).click();
      await page.getByText('Do you want to delete this draft').waitFor();
      await page.getByRole('button', { name: 'Delete this draft' }).click();
      await page.getByText('The draft was deleted').waitFor();
      await context.close();
    });
  });
}
