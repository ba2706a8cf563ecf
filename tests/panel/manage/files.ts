import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { type Panel, press, shown } from './panel';

/** The files of an app: made, renamed, deleted, and brought back from their versions. */
export function filesInPanel({ themes, visit }: Panel): void {
  const onDisk = (name: string) =>
    readFile(path.join(themes.directory, 'main/apps/shelf', name), 'utf8').catch(() => null);
  const listed = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  async function make(page: Page, name: string) {
    await page.getByRole('textbox', { name: 'Path', exact: true }).fill(name);
    await press(page, 'New file');
    await page.getByRole('textbox', { name, exact: true }).waitFor();
  }

  async function enter(page: Page, name: string, text: string) {
    await page.getByRole('textbox', { name, exact: true }).click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(text);
  }

  async function save(page: Page, name: string, text: string) {
    await enter(page, name, text);
    await press(page, 'Save');
    await expect.poll(() => onDisk(name)).toBe(text);
  }

  /** Puts a version into the editor; the latest is the first. */
  async function bringBack(page: Page, version: number) {
    await press(page, 'Earlier versions');
    await page.getByRole('menuitem').nth(version).click();
  }

  describe('files', () => {
    test('a file is renamed, an earlier text of it comes back, and a name that is taken is refused', () =>
      visit(
        '/site/shelf/code',
        async (page) => {
          await make(page, 'lib/first.js');
          await save(page, 'lib/first.js', 'export const one = 1;\n');
          await save(page, 'lib/first.js', 'export const two = 2;\n');
          await bringBack(page, 0);
          await page.locator('.cm-content').getByText('export const one = 1;').waitFor();
          // It is in the editor, and written when it is saved.
          expect(await onDisk('lib/first.js')).toBe('export const two = 2;\n');
          await press(page, 'Save');
          await expect.poll(() => onDisk('lib/first.js')).toBe('export const one = 1;\n');

          await press(page, 'Rename');
          await page.getByRole('textbox', { name: 'Path', exact: true }).last().fill('blocks/hello.html');
          await press(page, 'Rename');
          await shown(page, /blocks\/hello\.html.* already|already.*blocks\/hello\.html/);
          expect(await onDisk('blocks/hello.html')).toMatch(/greeting/);

          // The path is still there to be changed, and so is what is entered in the file.
          await enter(page, 'lib/first.js', 'export const unsaved = 3;\n');
          await page.getByRole('textbox', { name: 'Path', exact: true }).last().fill('lib/second.js');
          await press(page, 'Rename');
          await listed(page, 'lib/second.js').waitFor();
          await expect.poll(() => listed(page, 'lib/first.js').count()).toBe(0);
          await page.locator('.cm-content').getByText('export const unsaved = 3;').waitFor();
          expect([await onDisk('lib/first.js'), await onDisk('lib/second.js')]).toEqual([
            null,
            'export const one = 1;\n',
          ]);
        },
        /status of 409/,
      ));

    test('a file is deleted after a question, and its text comes back into a new file of its name', () =>
      visit('/site/shelf/code', async (page) => {
        const name = 'lib/third.js';
        await make(page, name);
        await save(page, name, 'export const three = 3;\n');
        const questions: string[] = [];
        const reply = (accepts: boolean) =>
          page.once('dialog', async (dialog) => {
            questions.push(dialog.message());
            await (accepts ? dialog.accept() : dialog.dismiss());
          });
        reply(false);
        await press(page, 'Delete');
        expect(questions).toEqual(['Delete “lib/third.js”? Its text is kept among the versions.']);
        expect(await onDisk(name)).toBe('export const three = 3;\n');
        reply(true);
        await press(page, 'Delete');
        await shown(page, 'The file is deleted.');
        await expect.poll(() => listed(page, name).count()).toBe(0);
        expect(await onDisk(name)).toBe(null);

        await make(page, name);
        await bringBack(page, 0);
        await page.locator('.cm-content').getByText('export const three = 3;').waitFor();
        await press(page, 'Save');
        await expect.poll(() => onDisk(name)).toBe('export const three = 3;\n');
      }));
  });
}
