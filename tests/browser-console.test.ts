import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, openBrowser, visitor } from './support/browser';
import { openStage, type Stage } from './support/stage';
import { copyThemes, type ThemeCopy } from './support/theme';

const logic = `export function fail(context) {
  context.app.log('begun');
  null.x;
}
export function go(context) {
  for (let at = 0; at < 60; at += 1) context.app.log('step ' + at);
  return context.block.url;
}
`;
const elements = 'elements: { fail: ACTION, go: ACTION }\n';

describe.skipIf(!hasBrowser)("the visitor's console", () => {
  let themes: ThemeCopy;
  let stage: Stage;
  let browser: Browser;
  beforeAll(async () => {
    themes = await copyThemes();
    for (const [block, target] of Object.entries({ page: '', place: 'target: ajax\n' })) {
      await themes.write(`main/apps/talk/blocks/${block}.html`, '<p>{fail} {go}</p>');
      await themes.write(`main/apps/talk/blocks/${block}.js`, logic);
      await themes.write(`main/apps/talk/blocks/${block}.yaml`, target + elements);
    }
    await themes.write('main/apps/talk/settings.yaml', 'debug: true\n');
    stage = await openStage({ themesDirectory: themes.directory });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await stage?.close();
    await themes?.dispose();
  });

  /** What the console says after a button of a block was pressed. */
  async function pressed(block: string, button: string): Promise<string[]> {
    const { page, context, said } = await visitor(browser);
    await page.goto(`${stage.host.url}/site/@@apps/talk/blocks/${block}`);
    // A bare page has the script for blocks in place; `fail` and `go` are buttons.
    await page.locator(`button[name="action.${button}"]`).click();
    await expect.poll(() => said.filter((line) => line.startsWith('[talk/')).length).toBeGreaterThan(0);
    await context.close();
    return said.filter((line) => line.startsWith('[talk'));
  }

  test.each(['page', 'place'])('shows what a failing action has logged: %s', async (block) => {
    expect(await pressed(block, 'fail')).toEqual([`[talk/${block}:2] begun`]);
  });

  test('shows all of a redirect', async () => {
    const said = await pressed('page', 'go');
    expect(said.length).toBe(60);
    expect(said.at(-1)).toBe('[talk/page:6] step 59');
  });
});
