import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, type Visitor } from '../support/browser';
import { useBrowser, useHost } from '../support/hooks';
import { basic } from '../support/send';
import { repository } from '../support/theme';
import { printedPasswords } from './apps/visitor';
import { lookAt, looksAt, openAs, type Way, ways } from './pages/looks';
import { records, rows } from './pages/rows';

/** Shown by no page: the text of mails, and what the clock calls. */
const unseen = ['card/receipt', 'reading/ticket', 'comments/digest', 'contact/mail'];

test('the table has every block of the demo', async () => {
  const files = await readdir(path.join(repository, 'themes'), { recursive: true });
  const blocks = files.flatMap((file) => {
    const [, app, block] = /(\w+)\/blocks\/([\w-]+)\.yaml$/.exec(file) ?? [];
    return app ? `${app}/${block}` : [];
  });
  expect([...rows.flatMap(({ block }) => block ?? []), ...unseen].sort()).toEqual(blocks.sort());
});

describe.skipIf(!hasBrowser)('every page of the demo', () => {
  const host = useHost({ env: { APPS_DEMO: 'empty' } });
  const browser = useBrowser();
  /** One page for all rows: opening another takes as long as looking at it. Cookies and headers are those of the row. */
  const visitors = {} as Record<Way, Visitor>;
  beforeAll(async () => {
    await host.run(async (strapi, all) => {
      const stored = strapi.plugin('apps').service('records');
      for (const [app, id, items] of all) {
        const { key } = await stored.app('site', app);
        await stored
          .store()
          .transact((unit: { create(key: unknown, record: object): Promise<void> }) =>
            unit.create(key, { id, items, creator: null }),
          );
      }
    }, records);
    for (const how of ways) visitors[how] = await openAs(browser, how);
  });

  const numbered = rows.map((row, number) => ({ ...row, number }));
  test.each(numbered)('$name fits, and has no violation', async ({ number, path: at, as, before, bare, only }) => {
    const password = as && printedPasswords(host)[as];
    for (const look of looksAt(number, only)) {
      const { page, context, said } = visitors[look.how];
      said.length = 0;
      await context.clearCookies();
      await page.setExtraHTTPHeaders(as ? basic(`${as}:${password}`) : {});
      await page.goto(`${host.url}/site${at}`);
      await before?.(page);
      expect(await page.locator('header nav').count(), 'the theme').toBe(bare ? 0 : 1);
      await lookAt(page, look);
      expect(said.filter((line) => /Content Security Policy|Uncaught/.test(line))).toEqual([]);
    }
  });
});
