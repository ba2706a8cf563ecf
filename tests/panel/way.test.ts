import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { hasBrowser } from '../support/browser';
import { useBrowser, useStage, useThemes } from '../support/hooks';
import { article } from '../support/seed';
import { login } from './administrator';

const themes = useThemes({
  'main/apps/shelf/settings.yaml': 'debug: true\nacl:\n  rights:\n    reader: ["*"]\n',
  'main/apps/shelf/blocks/book.yaml': 'elements:\n  title: { type: TEXT, label: Title, index_type: field }\n',
  'main/apps/shelf/blocks/other.html': '<p>Other</p>',
  'main/apps/shelf/blocks/book.html': '<p>{title}</p>{_save}',
  'main/apps/shelf/blocks/book.js': "export function title() {\n  throw new Error('too bad');\n}\n",
});
const stage = useStage(() => ({ themesDirectory: themes.directory, env: { SERVE_ADMIN: 'true' } }));
const browser = useBrowser();

let rule = '';
beforeAll(async () => {
  await stage.put('shelf', 'moby', { block: 'book', title: 'Moby-Dick' });
  await stage.send({ send: 'GET shelf/blocks/book', accept: 'text/html' });
  const json = { name: 'Note', enabled: true, event: 'create', contentType: article };
  const target = { app: 'shelf', block: 'book', function: 'title' };
  const made = await stage.send<{ id: string }>({ as: 'root', send: 'POST /apps/rules', json: { ...json, ...target } });
  rule = made.json.id;
  await stage.host.run(async (strapi) => {
    const now = Date.now();
    const row = {
      site: 'site',
      app: 'shelf',
      block: 'book',
      recipients: 'a@example.org',
      subject: 'A mail',
      dueAt: now + 30 * 60_000,
    };
    for (const [state, mails, triedAt] of [
      ['sent', 1, now],
      ['waiting', 3, null],
      ['kept', 2, null],
    ] as const)
      await strapi.db
        .query('plugin::apps.mail')
        .create({ data: { ...row, mailId: state, state, mails, attempts: triedAt ? 1 : 0, triedAt } });
  });
});

const tab = (page: Page, name: RegExp) => page.getByRole('tab', { name }).click();
const text = (page: Page, shown: string | RegExp) => page.getByText(shown).first().waitFor();

/** Each page of the plugin: how it is reached from the one before, and what shows that it is there. */
const pages: [name: string, reach: (page: Page) => Promise<unknown>, isThere: (page: Page) => Promise<unknown>][] = [
  [
    'app',
    (page) => page.getByRole('link', { name: 'shelf', exact: true }).first().click(),
    async (page) => {
      await text(page, 'moby');
      await text(page, /^3 mails wait because the app has sent 1 in the last hour; the next goes at \d/);
      await text(page, '2 mails of the last 30 days were not sent.');
    },
  ],
  ['blocks', (page) => tab(page, /^Blocks/), (page) => text(page, 'too bad')],
  ['indexes', (page) => tab(page, /^Indexes/), (page) => text(page, 'Re-index')],
  ['runs', (page) => tab(page, /^Runs/), (page) => text(page, 'too bad')],
  ['rights', (page) => tab(page, /^Rights/), (page) => page.getByRole('row', { name: /^edit/ }).waitFor()],
  ['code', (page) => tab(page, /^Code/), (page) => text(page, 'blocks/book.yaml')],
  ['options', (page) => tab(page, /^Options/), (page) => text(page, 'From settings.yaml')],
  ['overview', (page) => page.getByRole('link', { name: 'All apps' }).click(), (page) => text(page, 'Active theme')],
  [
    'audit log',
    (page) => page.getByRole('link', { name: 'Audit log' }).click(),
    (page) => page.getByRole('heading', { name: 'Audit log' }).waitFor(),
  ],
  [
    'overview again',
    (page) => page.getByRole('link', { name: 'All apps' }).click(),
    (page) => text(page, 'Active theme'),
  ],
  [
    'persons',
    (page) => page.getByRole('link', { name: 'Persons' }).click(),
    (page) => page.getByLabel('E-mail address or user').waitFor(),
  ],
  [
    'overview after it',
    (page) => page.getByRole('link', { name: 'All apps' }).click(),
    (page) => text(page, 'Active theme'),
  ],
  ['rule', (page) => page.locator(`a[href$="/rules/${rule}"]`).first().click(), (page) => text(page, 'Latest runs')],
];

test.runIf(hasBrowser)(
  'a chosen tile is named, also while the list of blocks is loaded, and the others can be chosen',
  async () => {
    const documentId = await stage.host.run(async (strapi, uid) => {
      const tiles = [{ __component: 'tiles.block', block: 'shelf/blocks/book' }];
      const made = await strapi
        .documents(uid as 'api::article.article')
        .create({ data: { title: 'Tiled', slug: 'tiled', tiles } as never });
      return made.documentId;
    }, article);
    const { page, open } = await login(stage, browser, 'root');
    let load = () => {};
    const loaded = new Promise<void>((resolve) => {
      load = resolve;
    });
    await page.route('**/apps/blocks', async (route) => {
      await loaded;
      await route.continue();
    });
    await open(`/../../content-manager/collection-types/${article}/${documentId}`);
    await page
      .getByRole('button', { name: /^Block/ })
      .last()
      .click();
    const field = page.getByPlaceholder('Choose a block');
    await expect.poll(() => field.inputValue()).toBe('shelf/blocks/book');
    load();
    await expect.poll(() => field.inputValue()).toBe('shelf / book');
    await field.click();
    await page.getByRole('option', { name: 'shelf / other' }).waitFor();
    await page.getByRole('option', { name: 'shelf / other' }).click();
    await expect.poll(() => field.inputValue()).toBe('shelf / other');
    await field.click();
    await field.press('ControlOrMeta+a');
    await page.keyboard.type('BOO');
    await expect.poll(() => page.getByRole('option').count()).toBe(2);
    await page.getByRole('option', { name: 'shelf / book' }).click();
    await expect.poll(() => field.inputValue()).toBe('shelf / book');
    await page.context().close();
  },
);

test.runIf(hasBrowser)('a short way through every page, without an error in the console', async () => {
  const { page, errors, open } = await login(stage, browser, 'root');
  await open('');
  for (const [name, reach, isThere] of pages) {
    await reach(page);
    await isThere(page);
    expect(errors, name).toEqual([]);
  }
  await page.context().close();
});
