import { beforeAll, describe, expect, test } from 'vitest';
import { choose, type Panel, shown } from './panel';

/** The question who may do what, and why. */
export function rightsInPanel({ stage, visit }: Panel): void {
  describe('rights', () => {
    beforeAll(async () => {
      for (const name of ['anna', 'eric', 'sam', 'updater']) await stage.user(name);
      await stage.put('shelf', 'annas', { block: 'book', title: 'By Anna' }, 'anna');
    });

    test.each<[user: string, answer: RegExp | string, grounds: RegExp[]]>([
      ['eric', 'Allowed', [/List in a file · acl\.rights\.editor · editors/, /settings\.yaml.*6/]],
      ['updater', 'Allowed', [/Permission of Strapi · plugin::apps\.record\.update/]],
      [
        'sam',
        'Refused (status 403)',
        [/one of these would allow it/, /acl\.rights\.editor/, /plugin::apps\.app\.manage/],
      ],
    ])('%s edits a record of anna', (user, answer, grounds) =>
      visit('/site/shelf/rights', async (page) => {
        await page.getByRole('textbox', { name: 'Record' }).fill('annas');
        await choose(page, 'Operation', 'edit');
        await choose(page, 'Requester', 'a user, by name');
        await page.getByRole('textbox', { name: 'User name' }).fill(user);
        await shown(page, answer);
        for (const ground of grounds) await shown(page, ground);
      }),
    );

    test('a block that only some may see names the line of its definition', () =>
      visit('/site/shelf/rights', async (page) => {
        await page.getByRole('textbox', { name: 'Block' }).fill('guarded');
        await choose(page, 'Operation', 'show block');
        await choose(page, 'Requester', 'editors');
        await shown(page, /List in a file · view_permission · editors/);
        await shown(page, /blocks\/guarded\.yaml.*1/);
      }));

    test('a user that does not exist is an error beside the question', () =>
      visit(
        '/site/shelf/rights',
        async (page) => {
          await choose(page, 'Requester', 'a user, by name');
          await page.getByRole('textbox', { name: 'User name' }).fill('nemo');
          await shown(page, /nemo/);
          expect(await page.getByText('Allowed', { exact: true }).count()).toBe(0);
        },
        /status of 404/,
      ));
  });
}
