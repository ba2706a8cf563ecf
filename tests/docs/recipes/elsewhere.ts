import path from 'node:path';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../../support/browser';
import { type useBrowser as Browsers, useBrowser } from '../../support/hooks';
import type { Host } from '../../support/host';
import { documented } from '../../support/typed';

interface Elsewhere {
  host: Host;
  /** A server of another origin, and what sets its page. */
  outside: { readonly origin: string };
  show(html: string): void;
  /** Path of a file that a recipe has written. */
  at(page: string, file: string): string;
  read(page: string, file: string): Promise<string>;
  write(page: string, file: string, text: string): Promise<void>;
}

/** Recipes that show a block in a page of another origin, followed in a browser. */
export function blocksElsewhere({ host, outside, show, at, read, write }: Elsewhere): void {
  describe.skipIf(!hasBrowser)('a block in a page of another origin', () => {
    const browser: ReturnType<typeof Browsers> = useBrowser();

    /** Opens the page, presses its button, and returns its text before and after. */
    async function press(label: string, after: string): Promise<string> {
      const { page, context } = await browser.visitor();
      await page.goto(outside.origin);
      await page.getByRole('button', { name: label }).click();
      await page.getByText(after).waitFor();
      expect(page.url()).toBe(`${outside.origin}/`);
      const heading = (await page.locator('h1').textContent()) ?? '';
      await context.close();
      return heading;
    }

    test('static-page.md: the file shows the block, and its button works in place', async () => {
      show((await read('static-page.md', 'page.html')).replaceAll(documented, host.url));
      expect(await press('Me too', '1 were here')).toBe('Elsewhere');
    });

    describe('nextjs.md', () => {
      let html = '';
      beforeAll(async () => {
        const component = 'components/AppBlock.tsx';
        await write('nextjs.md', component, (await read('nextjs.md', component)).replaceAll(documented, host.url));
        const { default: Page } = await import(path.resolve(at('nextjs.md', 'app/page.tsx')));
        html = renderToStaticMarkup(createElement('html', null, createElement('body', null, await Page())));
      });

      test('the component has the block in its HTML', () => {
        expect(html).toContain('<form name="cheer"');
        expect(html).toContain('0 cheers');
      });

      test('the button works in place', async () => {
        show(`<!doctype html>${html}`);
        expect(await press('Cheer', '1 cheers')).toBe('Our shop');
      });
    });
  });
}
