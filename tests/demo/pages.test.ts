import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { violations, violationsWithoutScript } from '../support/accessibility';
import { hasBrowser } from '../support/browser';
import { useBrowser, useHost } from '../support/hooks';
import { basic } from '../support/send';
import { repository } from '../support/theme';
import { printedPasswords, visitor } from './apps/visitor';
import { records, rows } from './pages/rows';

/** Shown by no page: the text of mails. */
const unseen = ['contact/mail'];

test('the table has every block of the demo', async () => {
  const files = await readdir(path.join(repository, 'themes'), { recursive: true });
  const blocks = files.flatMap((file) => {
    const [, app, block] = /(\w+)\/blocks\/([\w-]+)\.yaml$/.exec(file) ?? [];
    return app ? `${app}/${block}` : [];
  });
  expect([...rows.flatMap(({ block }) => block ?? []), ...unseen].sort()).toEqual(blocks.sort());
});

type Look = [size: { width: number; height: number }, colorScheme: 'light' | 'dark'];

const wide = { width: 1280, height: 800 };
const narrow = { width: 390, height: 800 };
/** The smallest screen that a page has to fit. */
const least = { width: 360, height: 740 };
/** What is looked at in a page with its script, and in one without. */
const looks: Record<'script' | 'plain', Look[]> = {
  script: [
    [wide, 'light'],
    [narrow, 'dark'],
  ],
  plain: [
    [wide, 'dark'],
    [narrow, 'light'],
  ],
};

describe.skipIf(!hasBrowser)('every page of the demo', () => {
  const host = useHost({ env: { APPS_DEMO: 'true' } });
  const browser = useBrowser();
  beforeAll(async () => {
    for (const [app, id, items] of records) await visitor(host, app, 'mona').put(`record/${id}`, items);
  });

  async function look(page: Page, [size, colorScheme]: Look, find: typeof violations): Promise<void> {
    await page.emulateMedia({ colorScheme });
    for (const one of [least, size]) {
      await page.setViewportSize(one);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    }
    expect(await find(page), `${size.width}, ${colorScheme}`).toEqual([]);
  }

  test.each(rows)('$name fits, and has no violation', async ({ path: at, as, before, bare }) => {
    const password = as && printedPasswords(host)[as];
    const extraHTTPHeaders = as ? basic(`${as}:${password}`) : {};
    for (const how of ['script', 'plain'] as const) {
      const options = { javaScriptEnabled: how === 'script', bypassCSP: true, extraHTTPHeaders };
      const { page, context, said } = await browser.visitor(options);
      await page.goto(`${host.url}/site${at}`);
      await before?.(page);
      expect(await page.locator('header nav').count(), 'the theme').toBe(bare ? 0 : 1);
      const find = how === 'script' ? violations : violationsWithoutScript;
      for (const one of looks[how]) await look(page, one, find);
      expect(said.filter((line) => /Content Security Policy|Uncaught/.test(line))).toEqual([]);
      await context.close();
    }
  });
});
