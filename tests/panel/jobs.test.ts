import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../support/browser';
import { configured } from '../support/configure';
import { useBrowser, useStage, useThemes } from '../support/hooks';
import { login, picture } from './administrator';

const themes = useThemes({
  'main/apps/tasks/settings.yaml': 'acl:\n  rights:\n    editor: ["*"]\n',
  'main/apps/tasks/blocks/work.yaml': "elements: {}\nschedules: [{ run: tick, cron: '0 6 1 1 *' }]\n",
  'main/apps/tasks/blocks/who.yaml':
    'anonymize: [name]\nelements: { name: TEXT, email: { type: EMAIL, person: email } }\n',
  'main/apps/tasks/blocks/work.js': [
    'export function perform({ app, params }) {',
    "  if (!app.get_record(params.needs)) throw new Error('it is not there');",
    '}',
    'export const tick = ({ app }) => void app.create_record().save({ tick: true });',
    '',
  ].join('\n'),
});
const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: { SERVE_ADMIN: 'true', ...configured({ apps: { jobs: { retries: 0 } } }) },
}));
const browser = useBrowser();

const enqueue = (needs: string, delay = 0): Promise<string> =>
  stage.host.run(
    (strapi, { needs, delay }) =>
      strapi
        .plugin('apps')
        .service('apps')
        .enqueue({ app: 'tasks', block: 'work', function: 'perform', params: { needs, password: 'hush' }, delay }),
    { needs, delay },
  ) as Promise<string>;

const jobRow = (page: Page) => page.getByRole('row').filter({ hasText: 'work/perform' });
const tab = (page: Page, name: RegExp) => page.getByRole('tab', { name });

describe.runIf(hasBrowser)('jobs in the panel', () => {
  let opened: Awaited<ReturnType<typeof login>>;
  beforeAll(async () => {
    opened = await login(stage, browser, 'foreman');
  });

  test('those that are given up are shown at their app, opened, and run again', async () => {
    const { page, errors, open } = opened;
    await enqueue('first');
    await open('');
    await page.getByRole('link', { name: '1 job is given up' }).click();
    const row = jobRow(page);
    await row.filter({ hasText: 'it is not there' }).waitFor();
    await row.getByRole('button', { name: 'work/perform', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('"needs": "first"').waitFor();
    await dialog.getByText('(hidden)').waitFor();
    await picture(page, 'job');
    await stage.put('tasks', 'first');
    await dialog.getByRole('button', { name: 'Run again' }).click();
    // The open job follows what becomes of it.
    await dialog.getByText('Done', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).first().click();
    await page.getByText('No jobs.').waitFor();
    await tab(page, /^Done/).click();
    await row.waitFor();
    expect(errors).toEqual([]);
  });

  test('a list follows what happens, and a job is deleted after a question', async () => {
    const { page, errors, open } = opened;
    await open('/jobs');
    await page.getByText('No jobs.').waitFor();
    await enqueue('later', 3_600);
    await jobRow(page).filter({ hasText: 'due' }).waitFor();
    await picture(page, 'jobs');
    await tab(page, /^Waiting \(1\)/).waitFor();
    await page.getByRole('button', { name: 'Delete job work/perform' }).click();
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('The job is deleted.').waitFor();
    await expect.poll(() => jobRow(page).count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test('all of a kind that are given up run again', async () => {
    const { page, errors, open } = opened;
    for (const needs of ['both', 'both']) await enqueue(needs);
    await open('/jobs?list=dead');
    await tab(page, /^Given up \(2\)/).waitFor();
    await page.getByText('Choose a kind to run all its jobs again.').waitFor();
    await page.getByRole('combobox', { name: 'Kind' }).click();
    await page.getByRole('option', { name: 'Function' }).click();
    await stage.put('tasks', 'both');
    await page.getByRole('button', { name: 'Run all of this kind again' }).click();
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('The jobs run again.').waitFor();
    await expect.poll(() => jobRow(page).count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test('a schedule says when it runs, and runs now', async () => {
    const { page, errors, open } = opened;
    await open('/jobs');
    const row = page.getByRole('row').filter({ hasText: 'work/tick' });
    await row.filter({ hasText: '0 6 1 1 *' }).waitFor();
    await page.getByRole('button', { name: 'Run now: work/tick' }).click();
    await page.getByText('The function runs now.').waitFor();
    await tab(page, /^Done/).click();
    await page.getByRole('row').filter({ hasText: 'Schedule' }).filter({ hasText: 'work/tick' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('without the permission there is neither a link nor a page', async () => {
    await enqueue('gone');
    const { page, open } = await login(stage, browser, 'overseer');
    await open('');
    await page.getByText('1 job is given up').waitFor();
    expect(await page.getByRole('link', { name: 'Jobs' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: '1 job is given up' }).count()).toBe(0);
    await page.goto(`${stage.host.url}/admin/plugins/apps/jobs`);
    await page.getByText("You don't have the permissions to access that content").waitFor();
    await page.context().close();
  });
});

test.runIf(hasBrowser)('a person is found, exported, and erased after a question that says what goes', async () => {
  await stage.put('tasks', 'of-anna', { block: 'who', name: 'Anna', email: 'anna@example.com' });
  await stage.put('tasks', 'of-ben', { block: 'who', name: 'Ben', email: 'ben@example.com' });
  const { page, errors, open } = await login(stage, browser, 'guardian');
  await open('');
  await page.getByRole('link', { name: 'Persons' }).click();
  await page.getByLabel('E-mail address or user').fill('Anna@example.com');
  await page.keyboard.press('Enter');
  const row = page.getByRole('row').filter({ hasText: 'of-anna' });
  await row.filter({ hasText: 'Removes items, and whose it was: name, email' }).waitFor();
  await picture(page, 'persons');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download ZIP' }).click();
  expect((await download).suggestedFilename()).toBe('person.zip');
  await page.getByRole('button', { name: 'Erase' }).click();
  const dialog = page.getByRole('alertdialog');
  await dialog.getByText('Erase everything of anna@example.com?').waitFor();
  await dialog.getByText('1 Records, site / tasks').waitFor();
  await picture(page, 'persons-question');
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Nothing is stored.').waitFor();
  expect(Object.keys((await stage.items('tasks', 'of-anna')) ?? {}).sort()).toEqual(['block', 'id']);
  expect(await stage.items('tasks', 'of-ben')).toMatchObject({ name: 'Ben' });
  expect(errors).toEqual([]);
  await page.context().close();
});
