import { describe, expect, test } from 'vitest';
import { hasBrowser } from '../support/browser';
import { useBrowser, useStage, useThemes } from '../support/hooks';

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
  const files = Object.entries({ page: '', place: 'target: ajax\n' }).flatMap(([block, target]) => [
    [`main/apps/talk/blocks/${block}.html`, '<p>{fail} {go}</p>'],
    [`main/apps/talk/blocks/${block}.js`, logic],
    [`main/apps/talk/blocks/${block}.yaml`, target + elements],
  ]);
  const themes = useThemes({ ...Object.fromEntries(files), 'main/apps/talk/settings.yaml': 'debug: true\n' });
  const stage = useStage(() => ({ themesDirectory: themes.directory }));
  const browser = useBrowser();

  /** The console's lines after a button of a block was pressed. */
  async function pressed(block: string, button: string): Promise<string[]> {
    const { page, context, said } = await browser.visitor();
    await page.goto(`${stage.host.url}/site/@@apps/talk/blocks/${block}`);
    // A bare page has the script for blocks in place; `fail` and `go` are buttons.
    await page.locator(`button[name="action.${button}"]`).click();
    await expect.poll(() => said.filter((line) => line.startsWith('[talk/')).length).toBeGreaterThan(0);
    await context.close();
    return said.filter((line) => line.startsWith('[talk'));
  }

  test.each(['page', 'place'])('the console shows what a failing action has logged: %s', async (block) => {
    expect(await pressed(block, 'fail')).toEqual([`[talk/${block}:2] begun`]);
  });

  test('the console shows all of a redirect', async () => {
    const said = await pressed('page', 'go');
    expect(said.length).toBe(60);
    expect(said.at(-1)).toBe('[talk/page:6] step 59');
  });
});
