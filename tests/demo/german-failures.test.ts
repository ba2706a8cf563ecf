import { describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useFolder, useHost } from '../support/hooks';
import { type Answer, send } from '../support/send';
import { expectGerman } from './apps/german';
import { printedPasswords } from './apps/visitor';
import { limits, writeBroken } from './pages/broken';

interface Question {
  form?: Record<string, string>;
  as?: string | null;
  from?: string;
}

describe('failures on the German site', () => {
  const themes = useFolder('german', writeBroken);
  const host = useHost(() => ({
    themesDirectory: themes(),
    env: { APPS_DEMO: 'empty', ...configured({ apps: { limits } }) },
  }));

  /** Opens a page of the app, or sends its form with the token and what browsers send; `from` shows a token. */
  async function ask(block: string, { form, as = null, from = block }: Question = {}) {
    const message = (of: string) => ({
      path: `/bibliothek/@@apps/broken/blocks/${of}`,
      as: as === null ? null : { basic: [as, printedPasswords(host)[as] ?? ''] as [string, string] },
      headers: { accept: 'text/html', 'sec-fetch-site': 'same-origin' },
    });
    const { text, ...shown } = await send(host.url, { method: 'GET', ...message(from) });
    if (!form) return { ...shown, text };
    const hidden = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, k, v]) => [k, v]);
    return send(host.url, { method: 'POST', ...message(block), form: { ...Object.fromEntries(hidden), ...form } });
  }

  /** The answer is German to the last word, in the theme or, where the theme may be what fails, alone. */
  function expectPage({ status, text }: Answer, wanted: number, inTheme: boolean): void {
    expect([status, text.includes('Zum Inhalt')], text).toEqual([wanted, inTheme]);
    expectGerman(text);
  }

  describe.each([null, 'mona'])('as %s', (as) => {
    test('a failing part of a page is a mark', async () => expectPage(await ask('part', { as }), 200, true));

    test('a failing block is 500', async () => expectPage(await ask('block', { as }), 500, true));
  });

  test('a form that is sent too fast is shown again', async () => {
    expectPage(await ask('note', { form: { text: 'Hallo', _save: '' } }), 422, true);
  });

  test('a sender of too many forms gets 429', async () => {
    await host.run(async (strapi) => {
      await strapi.db.connection('apps_form_posts').update({ posts: 200 });
    });
    expectPage(await ask('note', { form: { text: 'Hallo', _save: '' } }), 429, false);
  });

  describe('a loop without an end', () => {
    const go = { form: { 'action.go': '' }, from: 'note' };

    test('is 504', async () => expectPage(await ask('loop'), 504, false));

    test('is paused at last: 503 for a form, a mark on a page', async () => {
      let answer = await ask('loop', go);
      for (let round = 0; round < 6 && answer.status === 504; round += 1) answer = await ask('loop', go);
      expectPage(answer, 503, false);
      expectPage(await ask('loop'), 200, true);
    });
  });
});
