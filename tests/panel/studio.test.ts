import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasBrowser } from '../support/browser';
import { configured } from '../support/configure';
import { useBrowser, useStage, useThemes } from '../support/hooks';
import { article } from '../support/seed';
import { login, picture } from './administrator';

const files = {
  'settings.yaml': 'debug: true\nacl:\n  rights:\n    reader: ["*"]\n    author: [authors]\n',
  'blocks/hello.yaml': 'elements:\n  value: BASIC\n',
  'blocks/hello.html': '<p class="hello">{value}</p>\n',
  'blocks/hello.js':
    "export function value(context) {\n  if (context.request.get('bad')) throw new Error('too bad');\n  return '<b>hello</b>';\n}\nexport function greet(context) {\n  throw new Error('no greeting for ' + context.content.title);\n}\n",
};
const themes = useThemes(
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`main/apps/studio/${name}`, text])),
);
const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: { SERVE_ADMIN: 'true', ...configured({ apps: { editing: true } }) },
}));
const browser = useBrowser();

/** Logs an administrator of the tests in, and opens a tab of the app. */
async function open(tab: string, colorScheme: 'light' | 'dark' = 'light') {
  const { page, errors, open } = await login(stage, browser, 'maker', { colorScheme });
  await open(`/site/studio/${tab}`);
  return { page, errors };
}

const file = (name: string) => path.join(themes.directory, 'main/apps/studio', name);

const typed = async (page: Page, label: string, text: string) => {
  await page.getByRole('textbox', { name: label, exact: true }).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(text);
};

describe.runIf(hasBrowser)('the pages of those who develop', () => {
  test('runs: listed live, opened, and run again', async () => {
    await stage.send({ send: 'GET studio/blocks/hello?bad=1', accept: 'text/html' });
    const { page, errors } = await open('runs');
    const row = page.getByRole('row').filter({ hasText: 'too bad' });
    await row.waitFor();
    await picture(page, 'runs');
    await stage.send({ send: 'GET studio/blocks/hello?fine=1', accept: 'text/html' });
    await page.getByRole('row').filter({ hasText: 'fine=1' }).waitFor();
    await row.getByRole('button').first().click();
    await page.getByRole('button', { name: 'Run again, without writing' }).click();
    await page.getByText('It would have written nothing.').waitFor();
    await picture(page, 'run');
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('rights: a matrix, and why', async () => {
    await stage.user('abel');
    const { page, errors } = await open('rights');
    await page.getByText('Allowed', { exact: true }).waitFor();
    await page.getByText('acl.rights.reader').waitFor();
    await page.getByRole('row', { name: /^edit/ }).waitFor();
    await picture(page, 'rights');
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('code: a file is changed, checked, previewed and saved; a change meanwhile is shown', async () => {
    const { page, errors } = await open('code');
    // The address names the file: Back, Forward and a reload open it.
    const shown = (name: string) => page.getByRole('region', { name, exact: true }).waitFor();
    await page.getByRole('button', { name: 'blocks/hello.js' }).click();
    await page.waitForURL(/code\?file=blocks%2Fhello\.js$/);
    await page.getByRole('button', { name: 'blocks/hello.html' }).click();
    await page.waitForURL(/code\?file=blocks%2Fhello\.html$/);
    await page.goBack();
    await shown('blocks/hello.js');
    await page.goForward();
    await shown('blocks/hello.html');
    await page.reload();
    await shown('blocks/hello.html');
    await typed(page, 'blocks/hello.html', '<p class="hello">{valeu}</p>\n');
    await page.getByRole('region', { name: 'Problems' }).getByText(/valeu/).first().waitFor();
    await picture(page, 'code');
    await typed(page, 'blocks/hello.html', '<p class="hello">draft {value}</p>\n');
    // The preview follows what is typed.
    await page.frameLocator('iframe').getByText('draft hello').waitFor();
    await picture(page, 'code-preview');
    // Beside the code where there is room, below it on a phone; the page of a desktop is made smaller.
    const places = async (width: number) => {
      await page.setViewportSize({ width, height: 900 });
      const [code, frame] = [page.locator('.cm-editor'), page.locator('iframe')];
      return Promise.all([code.boundingBox(), frame.boundingBox()]);
    };
    await expect
      .poll(async () => {
        const [code, frame] = await places(1680);
        return frame && code && frame.x >= code.x + code.width && frame.x + frame.width <= 1680;
      })
      .toBe(true);
    await expect
      .poll(async () => {
        const [code, frame] = await places(390);
        return frame && code && frame.y >= code.y + code.height && frame.width <= 390;
      })
      .toBe(true);
    await page.setViewportSize({ width: 1280, height: 900 });
    const saved = file('blocks/hello.html');
    expect(await readFile(saved, 'utf8')).toBe(files['blocks/hello.html']);

    await writeFile(saved, '<p>theirs {value}</p>\n');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page
      .getByRole('alert')
      .getByText(/changed on the disk/)
      .waitFor();
    await picture(page, 'code-conflict');
    expect(await readFile(saved, 'utf8')).toBe('<p>theirs {value}</p>\n');
    await page.getByRole('button', { name: 'Save mine over it' }).click();
    await expect.poll(() => readFile(saved, 'utf8')).toBe('<p class="hello">draft {value}</p>\n');
    // The refusal was asked for.
    expect(errors.filter((text) => !/409/.test(text))).toEqual([]);
    await page.context().close();
  });

  test('a failed run of the block runs again with the edits; on the page of runs, too', async () => {
    await stage.send({ send: 'GET studio/blocks/hello?bad=2', accept: 'text/html' });
    const { page, errors } = await open('code');
    const path = 'blocks/hello.js';
    await page.getByRole('button', { name: path }).click();
    const row = page.getByRole('grid', { name: 'Failed runs of hello' }).getByRole('row').filter({ hasText: 'bad=2' });
    await row.getByText('too bad').first().waitFor();
    const failing = files[path].replace('if (', '\n\n  if (').replace('too bad', 'still bad');
    await typed(page, path, failing);
    await row.getByRole('button', { name: 'Run again with these edits' }).click();
    await page.getByText('Run again with the unsaved text of blocks/hello.js').waitFor();
    // At its line in the editor, and among the problems.
    const marked = async () => (await page.locator('.cm-lintRange-error').allTextContents()).join('');
    await expect.poll(marked).toContain('still bad');
    await page
      .getByRole('region', { name: 'Problems' })
      .getByText(/still bad/)
      .first()
      .waitFor();
    await picture(page, 'code-run-again');
    await typed(page, path, files[path].replace("throw new Error('too bad')", "return 'mended'"));
    await expect.poll(marked).toBe('');
    await row.getByRole('button', { name: 'Run again with these edits' }).click();
    await page.getByText('mended').last().waitFor();

    await page.getByRole('tab', { name: 'Runs' }).click();
    await page.getByRole('row').filter({ hasText: 'bad=2' }).getByRole('button').first().click();
    await page.getByRole('button', { name: 'Run again with the unsaved blocks/hello.js of studio' }).click();
    await page.getByRole('dialog').getByText('mended').first().waitFor();
    await picture(page, 'run-with-edits');
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    // Nothing is written, and the edits are still there.
    expect(await readFile(file(path), 'utf8')).toBe(files[path]);
    await page.getByRole('tab', { name: 'Code' }).click();
    await page.locator('.cm-content').getByText("return 'mended'").waitFor();
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('types of `context`, and elements of the block, are completed', async () => {
    const { page, errors } = await open('code');
    await page.getByRole('button', { name: 'blocks/hello.js' }).click();
    const editor = page.getByRole('textbox', { name: 'blocks/hello.js', exact: true });
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\ncontext.app.get_r');
    const shown = page.locator('.cm-tooltip-autocomplete');
    await shown.getByText('get_record', { exact: true }).waitFor();
    await shown
      .getByText(/AppRecord \| null/)
      .first()
      .waitFor();
    await page.getByText('Reads a record; null if there is none.').waitFor();
    await picture(page, 'code-completion');
    await page.keyboard.press('Escape');
    await page.keyboard.type('\nrecord.get("v');
    await shown.getByText('value', { exact: true }).waitFor();
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('a new app is made of a template, and its code opens', async () => {
    const { page, errors } = await open('code');
    await page.goto(`${stage.host.url}/admin/plugins/apps`);
    await page.getByRole('button', { name: 'New app' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Id' }).fill('studio');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText(/has an app "studio" already/).waitFor();
    await dialog.getByRole('textbox', { name: 'Id' }).fill('votes');
    await dialog.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'poll' }).click();
    await picture(page, 'new-app');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL(/site\/votes\/code$/);
    await page.getByRole('button', { name: 'settings.yaml' }).waitFor();
    expect(errors.filter((text) => !/409/.test(text))).toEqual([]);
    await page.context().close();
  });

  test('indexes: entries are counted when asked; failed runs are a link from the overview', async () => {
    await stage.send({ send: 'GET studio/blocks/hello?bad=1', accept: 'text/html' });
    const { page, errors } = await open('indexes');
    await page.getByRole('button', { name: 'Count entries' }).click();
    await page.locator('thead').getByText('Entries').waitFor();
    await picture(page, 'indexes-counted');
    await page.goto(`${stage.host.url}/admin/plugins/apps`);
    await picture(page, 'overview-runs');
    await page.getByRole('link', { name: /failed runs? in the last day/ }).click();
    await page.waitForURL(/studio\/runs\?state=failed$/);
    await page.getByRole('row').filter({ hasText: 'too bad' }).first().waitFor();
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('a rule lists its runs, which run again', async () => {
    const rule = {
      name: 'greets',
      event: 'create',
      contentType: article,
      enabled: true,
      app: 'studio',
      block: 'hello',
      function: 'greet',
    };
    const made = await stage.send<{ id: string }>({ as: 'ada', send: 'POST /apps/rules', json: rule });
    await stage.host.run(
      (strapi, uid) => strapi.documents(uid as never).create({ data: { title: 'Tim' } as never }),
      article,
    );
    const { page, errors } = await open('runs');
    await page.goto(`${stage.host.url}/admin/plugins/apps/rules/${made.json.id}`);
    const row = page.getByRole('row').filter({ hasText: 'no greeting for Tim' }).first();
    await row.waitFor();
    await picture(page, 'rule');
    // Who develops sees the rule, and cannot change it.
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await row.getByRole('button').first().click();
    await page.getByRole('button', { name: 'Run again, without writing' }).click();
    await page.getByText('It would have written nothing.').waitFor();
    await picture(page, 'rule-run');
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('without the permission for records: previews and runs of visitors, and no log and no input', async () => {
    await stage.send({ send: 'GET studio/blocks/hello?bad=2', accept: 'text/html' });
    const { page, errors, open } = await login(stage, browser, 'developer');
    await open('/site/studio/runs');
    await page.getByRole('row').filter({ hasText: 'bad=2' }).getByRole('button').first().click();
    await page.getByText('Its log and input may hold records').waitFor();
    await page.getByText('runs as an anonymous visitor').waitFor();
    await page.getByRole('button', { name: 'Run again, without writing' }).click();
    await page.getByText('In the name of: Anonymous').waitFor();
    await picture(page, 'run-of-a-visitor');
    await open('/site/studio/code');
    await page.getByRole('button', { name: 'blocks/hello.js' }).click();
    await page.getByText('Others with the permission “records”').waitFor();
    await picture(page, 'preview-of-a-visitor');
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('the audit log: who has run what in whose name', async () => {
    await stage.user('anna');
    const json = { block: 'hello', who: 'user:anna', files: { 'blocks/hello.html': 'edited {value}' } };
    for (const as of ['maker', 'developer'])
      await stage.send({ as, send: 'POST /apps/sites/site/apps/studio/preview', json });
    const { page, errors, open } = await login(stage, browser, 'auditor');
    await open('');
    await page.getByRole('link', { name: 'Audit log' }).click();
    const rows = page.getByRole('row').filter({ hasText: 'user:anna' });
    await rows
      .filter({ hasText: 'maker@example.com' })
      .filter({ hasText: 'blocks/hello.html' })
      .filter({ hasText: 'Done' })
      .waitFor();
    await rows.filter({ hasText: 'developer@example.com' }).filter({ hasText: 'Status 403' }).waitFor();
    await picture(page, 'audit');
    await page.getByLabel('Administrator (e-mail)').fill('developer@example.com');
    await expect.poll(() => page.getByRole('row').filter({ hasText: 'maker@' }).count()).toBe(0);
    await page.getByLabel('App', { exact: true }).fill('nothing');
    await page.getByText('There are no entries.').waitFor();
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('dark', async () => {
    const { page, errors } = await open('code', 'dark');
    await page.getByRole('button', { name: 'blocks/hello.js' }).click();
    await page.locator('.cm-editor').waitFor();
    await picture(page, 'code-dark');
    expect(errors).toEqual([]);
    await page.context().close();
  });
});
