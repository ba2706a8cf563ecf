import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { answer, type Panel, press, shown } from './panel';

/** An app as a ZIP, out of the theme and in again. */
export function archivesInPanel({ themes, visit }: Panel): void {
  const name = 'main/apps/shelf/blocks/guarded.html';
  const onDisk = () => readFile(path.join(themes.directory, name), 'utf8');

  async function exported(page: Page): Promise<Buffer> {
    await press(page, 'Export as ZIP');
    const download = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'shelf', exact: true }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe('shelf.zip');
    return readFile(await file.path());
  }

  const send = (page: Page, buffer: Buffer) =>
    page
      .getByLabel('Import a ZIP', { exact: true })
      .and(page.locator('input'))
      .setInputFiles({ name: 'shelf.zip', mimeType: 'application/zip', buffer });

  test('a ZIP of an app comes in again: equal files are said to be, others are named and replaced after a question', () =>
    visit('', async (page) => {
      const zip = await exported(page);
      const own = await onDisk();
      await send(page, zip);
      await shown(page, 'It is there already, with equal files.');
      await page.getByRole('alertdialog').getByRole('button', { name: 'Close' }).click();

      await themes.write(name, '<p>changed here</p>\n');
      await send(page, zip);
      await shown(page, /It is there already, with other files\./);
      await shown(page, '~ blocks/guarded.html');
      await answer(page, 'Cancel');
      expect(await onDisk()).toBe('<p>changed here</p>\n');

      await send(page, zip);
      await shown(page, '~ blocks/guarded.html');
      await themes.write('main/apps/shelf/blocks/hello.html', '<p>changed meanwhile</p>\n');
      await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click();
      await shown(page, /~ blocks\/hello\.html/);
      expect(await onDisk()).toBe('<p>changed here</p>\n');
      await answer(page, 'Confirm');
      await shown(page, 'shelf is imported.');
      expect(await onDisk()).toBe(own);
    }));
}
