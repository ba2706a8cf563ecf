import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { answer, type Panel, press, shown } from './panel';

const at = '/site/shelf/records';
const counts = (page: Page) => page.getByText(/^\d+ records?$/);
const rows = (page: Page) => page.locator('tbody tr');
const chosen = async (page: Page, ...ids: string[]) => {
  for (const id of ids) await page.getByRole('checkbox', { name: `Select ${id}`, exact: true }).click();
};

async function search(page: Page, query: string) {
  await page.getByRole('combobox', { name: 'Search', exact: true }).fill(query);
  await page.getByRole('search').getByRole('button', { name: 'Search' }).click();
}

/** Searches, and several records that are deleted at once. */
export function recordsInPanel({ stage, visit }: Panel): void {
  describe('records', () => {
    beforeAll(async () => {
      for (const title of ['One', 'Two', 'Kept', 'Stays'])
        await stage.put('shelf', title.toLowerCase(), { block: 'book', title });
    });

    test('a wrong query shows its error, and neither a number nor records', () =>
      visit(
        at,
        async (page) => {
          await shown(page, '4 records');
          await search(page, 'title ==');
          await shown(page, /query ends/);
          expect([await counts(page).count(), await rows(page).count()]).toEqual([0, 0]);
          await search(page, "title == 'Two'");
          await shown(page, '1 record');
          expect(await rows(page).allTextContents()).toEqual([expect.stringContaining('Two')]);
        },
        /status of 400/,
      ));

    test('several are deleted after a question, and one that cannot be is named', () =>
      visit(at, async (page) => {
        await chosen(page, 'one', 'two', 'kept');
        await press(page, 'Delete');
        await shown(page, 'Delete 3 records? This cannot be undone.');
        await answer(page, 'Cancel');
        expect(await rows(page).count()).toBe(4);
        expect(await stage.items('shelf', 'one')).toMatchObject({ title: 'One' });

        await press(page, 'Delete');
        await answer(page, 'Confirm');
        await shown(page, /2 records are deleted, 1 not: .*it is kept/);
        await shown(page, '2 records');
        for (const id of ['one', 'two']) expect(await stage.items('shelf', id)).toBe(null);
        expect(await stage.items('shelf', 'kept')).toMatchObject({ title: 'Kept' });
      }));

    test('what another search no longer shows is not chosen any more; without on_delete a record goes', () =>
      visit(at, async (page) => {
        await chosen(page, 'kept', 'stays');
        await search(page, "title == 'Kept'");
        await shown(page, /^1 .*selected$/);
        await press(page, 'Delete');
        await page.getByRole('checkbox', { name: 'Run on_delete of their blocks before' }).click();
        await answer(page, 'Confirm');
        await shown(page, '1 record is deleted.');
        expect(await stage.items('shelf', 'kept')).toBe(null);
        expect(await stage.items('shelf', 'stays')).toMatchObject({ title: 'Stays' });
      }));

    test('JSON that is entered stays when another changes the record, whose version is shown beside it', () =>
      visit(
        at,
        async (page) => {
          await press(page, 'Open record stays');
          const dialog = page.getByRole('dialog');
          await dialog.getByRole('tab', { name: 'JSON' }).click();
          const items = dialog.getByRole('textbox', { name: 'Items' });
          const mine = '{"block": "book", "title": "Mine"}';
          await items.fill(mine);
          await stage.send({ as: 'mona', send: 'PATCH shelf/record/stays', json: { title: 'Theirs' } });
          const save = dialog.getByRole('button', { name: 'Save', exact: true });
          await save.click();
          await shown(page, /what you have entered is still there/);
          await shown(page, /"title": "Theirs"/);
          expect(await items.inputValue()).toBe(mine);
          expect([await save.count(), await stage.items('shelf', 'stays')]).toEqual([
            0,
            expect.objectContaining({ title: 'Theirs' }),
          ]);
          await press(page, 'Save mine over it');
          await page.getByRole('row', { name: /Mine/ }).waitFor();
        },
        /status of 412/,
      ));

    test('a second click makes no second record', () =>
      visit(at, async (page) => {
        await press(page, 'New record');
        await page.getByRole('menuitem', { name: 'Form of book' }).click();
        const form = page.frameLocator('iframe');
        await form.locator('[name=title]').fill('Once');
        await form.locator('[name=_save]').dblclick();
        await page.getByRole('row', { name: /Once/ }).waitFor();

        await press(page, 'New record');
        await page.getByRole('menuitem', { name: 'As JSON' }).click();
        await page.getByRole('textbox', { name: 'Items' }).fill('{"block": "book", "title": "Also once"}');
        await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).dblclick();
        await page.getByRole('row', { name: /Also once/ }).waitFor();
        await page.reload();
        await page.getByRole('row', { name: /Also once/ }).waitFor();
        expect(await page.getByRole('row', { name: /once/i }).count()).toBe(2);
      }));

    test('a record is deleted by its whole id', () =>
      visit(at, async (page) => {
        for (const id of ['pair', 'pair&more']) await stage.put('shelf', id, { block: 'book', title: id });
        await page.reload();
        await press(page, 'Delete record pair&more');
        await answer(page, 'Confirm');
        await expect.poll(() => page.getByRole('row', { name: /pair/ }).count()).toBe(1);
        expect(await stage.items('shelf', 'pair')).toMatchObject({ title: 'pair' });
      }));

    test('a search keeps each character in the address, also once the list has another order', () =>
      visit(at, async (page) => {
        const title = '50% + #1 & ~é';
        await stage.put('shelf', 'odd', { block: 'book', title });
        const query = `title == '${title}' & id != 'one'`;
        const field = page.getByRole('combobox', { name: 'Search', exact: true });
        const isFound = async () => {
          await shown(page, /^1 record$/);
          expect(await field.inputValue()).toBe(query);
        };
        await search(page, query);
        await isFound();
        await page.locator('thead').getByText('Title').click();
        await page.waitForURL(/sort=title/);
        await isFound();
        await page.reload();
        await isFound();

        // As a person writes it.
        await page.goto(`${page.url().split('?')[0]}?q=${encodeURIComponent(query)}`);
        await isFound();
        await page.locator('thead').getByText('Title').click();
        await page.waitForURL(/sort=title/);
        await page.reload();
        await isFound();
      }));
  });
}
