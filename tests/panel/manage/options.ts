import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { AppDetail } from '../../../plugins/apps/shared/admin-api';
import { type Panel, press, shown } from './panel';

const field = (page: Page) => page.getByRole('textbox', { name: 'For this site, as JSON' });

/** The options of an app for one site. */
export function optionsInPanel({ stage, visit }: Panel): void {
  const greeting = async () => (await stage.send({ send: 'GET shelf/blocks/hello', accept: 'text/html' })).text;

  describe('options', () => {
    test('are changed for the site, are there after a reload, and in what the app answers', () =>
      visit('/site/shelf/options', async (page) => {
        expect(await greeting()).toContain('hello of 3');
        await field(page).fill('{"greeting": "welcome"}');
        await press(page, 'Save');
        await shown(page, 'The options are saved');
        await page.reload();
        expect(JSON.parse(await field(page).inputValue())).toEqual({ greeting: 'welcome' });
        await expect.poll(greeting).toContain('welcome of 3');
      }));

    test.each([
      ['no JSON', '{"greeting": '],
      ['a list', '["greeting"]'],
    ])('that are %s cannot be saved', (_, wrong) =>
      visit('/site/shelf/options', async (page) => {
        await field(page).fill(wrong);
        await shown(page, 'This must be a JSON object');
        expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
      }),
    );

    test('that are too large are refused, and those before stay', () =>
      visit(
        '/site/shelf/options',
        async (page) => {
          await field(page).fill(JSON.stringify({ greeting: 'x'.repeat(100_000) }));
          await press(page, 'Save');
          await shown(page, /at most 100000 characters of JSON/);
          expect(await greeting()).toContain('welcome of 3');
        },
        /status of 400/,
      ));

    test('of another administrator are shown and not overwritten, and what is entered stays', () =>
      visit(
        '/site/shelf/options',
        async (page) => {
          await field(page).fill('{"greeting": "mine"}');
          const app = '/apps/sites/site/apps/shelf';
          const { revision } = (await stage.send<AppDetail>({ as: 'root', send: `GET ${app}` })).json.options;
          const json = { options: { greeting: 'theirs' }, revision };
          await stage.send({ as: 'root', send: `PUT ${app}/options`, json });
          await press(page, 'Save');
          await shown(page, /what you have entered is still there/);
          await shown(page, /"greeting": "theirs"/);
          expect(await field(page).inputValue()).toBe('{"greeting": "mine"}');
          await expect.poll(greeting).toContain('theirs of 3');
          await press(page, 'Save mine over it');
          await shown(page, 'The options are saved');
          await expect.poll(greeting).toContain('mine of 3');
        },
        /status of 409/,
      ));

    test('are those of the file again once the field is empty', () =>
      visit('/site/shelf/options', async (page) => {
        await field(page).fill('');
        await press(page, 'Save');
        await shown(page, 'The options are saved');
        await page.reload();
        expect(await field(page).inputValue()).toBe('');
        await expect.poll(greeting).toContain('hello of 3');
      }));
  });
}
