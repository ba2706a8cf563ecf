import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { violations } from '../../support/accessibility';
import { narrow, picture, wide } from '../administrator';
import { answer, type Panel, shown } from './panel';

const at = '/site/logged/history';
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

/** What was done to records: differences, one version back, a deleted record back, and all of one requester. */
export function historyInPanel({ stage, visit }: Panel): void {
  describe('history', () => {
    beforeAll(async () => {
      await stage.put('logged', 'book', { title: 'Before' });
      for (const [method, id, title] of [
        ['PATCH', 'book', 'After'],
        ['PUT', 'fresh', 'Fresh'],
      ])
        await stage.send({ as: 'eric', send: `${method} logged/record/${id}`, json: { title } });
      await stage.put('logged', 'lost', { title: 'Lost' });
      await stage.send({ as: 'mona', send: 'DELETE logged/record/lost' });
    });

    test('the changes are shown with their differences, at both widths without a violation', () =>
      visit(at, async (page) => {
        const change = row(page, 'Before').filter({ hasText: 'After' });
        await change.filter({ hasText: 'eric' }).filter({ hasText: 'JSON' }).waitFor();
        expect([await change.locator('del').textContent(), await change.locator('ins').textContent()]).toEqual([
          'Before',
          'After',
        ]);
        for (const size of [wide, narrow]) {
          await page.setViewportSize(size);
          expect(await violations(page, { include: ['main'] }), String(size.width)).toEqual([]);
        }
        await page.setViewportSize(wide);
        await picture(page, 'history');
      }));

    test('a deleted record is created again, and a version of a record is restored in its dialog', async () => {
      await visit(at, async (page) => {
        await row(page, 'Deleted').getByRole('button', { name: 'Restore' }).click();
        await answer(page, 'Confirm');
        await shown(page, 'The record is restored.');
        expect(await stage.items('logged', 'lost')).toMatchObject({ title: 'Lost' });
      });
      await visit('/site/logged/records', async (page) => {
        await page
          .getByRole('button', { name: /^(Edit|Open).*book/ })
          .first()
          .click();
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('tab', { name: 'History' }).click();
        await row(page, 'Created').getByRole('button', { name: 'Restore' }).click();
        await answer(page, 'Confirm');
        await shown(page, 'The record is restored.');
        expect(await stage.items('logged', 'book')).toMatchObject({ title: 'Before' });
      });
      await stage.send({ as: 'eric', send: 'PATCH logged/record/book', json: { title: 'After' } });
    });

    test('all that one requester has done is undone once what becomes of it was shown', () =>
      visit(at, async (page) => {
        await stage.send({ as: 'mona', send: 'PATCH logged/record/fresh', json: { note: 'mine' } });
        await page.reload();
        await row(page, 'After')
          .filter({ hasText: 'eric' })
          .last()
          .getByRole('button', { name: 'Undo from here' })
          .click();
        const dialog = page.getByRole('dialog');
        await dialog.getByText('Undo what eric has done').waitFor();
        await dialog
          .getByRole('row')
          .filter({ hasText: 'fresh' })
          .filter({ hasText: /mona: note/ })
          .waitFor();
        await picture(page, 'undo');
        expect(await violations(page, { include: ['[role=dialog]'] })).toEqual([]);
        await dialog.getByRole('button', { name: 'Undo', exact: true }).click();
        await shown(page, 'The changes are undone.');
        expect(await stage.items('logged', 'book')).toMatchObject({ title: 'Before' });
        expect(await stage.items('logged', 'fresh')).toMatchObject({ title: 'Fresh', note: 'mine' });
      }));

    test('an app without a history has no such page', () =>
      visit('/site/shelf/records', async (page) => {
        await page.getByRole('tab', { name: /^Records/ }).waitFor();
        expect(await page.getByRole('tab', { name: 'History' }).count()).toBe(0);
      }));
  });
}
