import { describe, expect, test } from 'vitest';
import type { Rule } from '../../../plugins/apps/shared/admin-api';
import { article } from '../../support/seed';
import { choose, type Panel, press, shown } from './panel';

/** Rules on events, made with the form and switched off in the list. */
export function rulesInPanel({ stage, themes, visit }: Panel): void {
  const create = (title: string) =>
    stage.host.run(
      (strapi, uid, title) =>
        strapi.documents(uid as never).create({ data: { title, slug: title.toLowerCase() } as never }),
      article,
      title,
    );
  const noted = (id: string) => stage.items('shelf', id);

  describe('rules', () => {
    test('an incomplete form names all that is missing, and a block or function that is broken or gone', () =>
      visit(
        '/rules/create',
        async (page) => {
          const required = page.getByText('This is required.');
          await press(page, 'Save');
          await expect.poll(() => required.count()).toBe(6);
          await page.getByRole('textbox', { name: /^Name/ }).fill('Greeting');
          await choose(page, /^Content type/, 'Article');
          await choose(page, /^Event/, 'created');
          await expect.poll(() => required.count()).toBe(3);
          await choose(page, /^App/, 'shelf');
          await choose(page, /^Block/, 'broken');
          await shown(page, /broken\.js/);

          await themes.write('main/apps/shelf/blocks/passing.js', 'export function gone() {}\n');
          await page.reload();
          await page.getByRole('textbox', { name: /^Name/ }).fill('Greeting');
          await choose(page, /^Content type/, 'Article');
          await choose(page, /^Event/, 'created');
          await choose(page, /^App/, 'shelf');
          await choose(page, /^Block/, 'passing');
          await choose(page, /^Function/, 'gone');
          await themes.write('main/apps/shelf/blocks/passing.js', 'export function other() {}\n');
          await press(page, 'Save');
          await shown(page, /has no function "gone"\. There are: other/);
          await page.getByRole('link', { name: 'All apps' }).click();
          await shown(page, 'No function runs after events of your content.');
        },
        /status of 400/,
      ));

    test('a rule that is made in the form runs on its event, and once it is switched off no longer', () =>
      visit('', async (page) => {
        await page.getByRole('link', { name: 'Create rule' }).click();
        await page.getByRole('textbox', { name: /^Name/ }).fill('Greeting');
        await choose(page, /^Content type/, 'Article');
        await choose(page, /^Event/, 'created');
        await choose(page, /^App/, 'shelf');
        await choose(page, /^Block/, 'events');
        await choose(page, /^Function/, 'greet');
        await press(page, 'Save');
        await page.getByRole('row', { name: /Greeting/ }).waitFor();
        await create('Tim');
        await expect.poll(() => noted('greeted-Tim')).not.toBe(null);

        // Functions run in the order of their rules: when this one has run, the other has too, or never will.
        const target = { app: 'shelf', block: 'events', function: 'see' };
        const json = { name: 'Seeing', enabled: true, event: 'create', contentType: article, ...target };
        await stage.send({ as: 'root', send: 'POST /apps/rules', json });
        await page.getByRole('switch', { name: 'Enabled: Greeting' }).click();
        await shown(page, 'The rule is saved.');
        await create('Tom');
        await expect.poll(() => noted('seen-Tom')).not.toBe(null);
        expect(await noted('greeted-Tom')).toBe(null);
      }));

    test('a rule that another has switched off meanwhile stays off when its name is changed', () =>
      visit('', async (page) => {
        const target = { app: 'shelf', block: 'events', function: 'see' };
        const json = { name: 'Shared', enabled: true, event: 'create', contentType: article, ...target };
        const { id } = (await stage.send<Rule>({ as: 'root', send: 'POST /apps/rules', json })).json;
        await page.reload();
        await page.getByRole('link', { name: 'Shared', exact: true }).click();
        await page.getByRole('textbox', { name: /^Name/ }).fill('Renamed');
        await stage.send({ as: 'root', send: `PUT /apps/rules/${id}`, json: { enabled: false } });
        await press(page, 'Save');
        await shown(page, 'The rule is saved.');
        const rules = (await stage.send<Rule[]>({ as: 'root', send: 'GET /apps/rules' })).json;
        expect(rules.find((rule) => rule.id === id)).toMatchObject({ name: 'Renamed', enabled: false });
      }));
  });
}
