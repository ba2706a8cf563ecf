import type { Page } from 'playwright-core';
import type { Stage } from '../../support/stage';
import type { ThemeCopy } from '../../support/theme';

/** What the tests of all subjects share. */
export interface Panel {
  stage: Stage;
  themes: ThemeCopy;
  /** Does something in a page of the plugin. @param expected errors in the console that belong to it; there may be no others */
  visit(at: string, work: (page: Page) => Promise<unknown>, expected?: RegExp): Promise<void>;
}

export const press = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('button', { name, exact: true }).first().click();

export const shown = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();

/** Chooses an option of a select. */
export async function choose(page: Page, select: string | RegExp, option: string): Promise<void> {
  await page.getByRole('combobox', { name: select }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

/** Answers the open question, and waits until it is gone. */
export async function answer(page: Page, button: 'Cancel' | 'Confirm'): Promise<void> {
  const question = page.getByRole('alertdialog');
  await question.getByRole('button', { name: button, exact: true }).click();
  await question.waitFor({ state: 'detached' });
}
