import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useFolder, useHost } from '../support/hooks';
import { type Answer, send } from '../support/send';
import { repository } from '../support/theme';
import { expectGerman } from './apps/german';
import { printedPasswords } from './apps/visitor';

/** An app whose blocks do not work, and a form that does. */
const app: Record<string, string> = {
  'settings.yaml': "with_theme: true\nacl: { rights: { submitter: ['*'] } }\n",
  'locales/de.yaml': 'hallo: Hallo\n',
  'blocks/part.yaml': 'title: Ein Teil\nelements: { part: BASIC }\n',
  'blocks/part.html': '<p>{part}</p>',
  'blocks/part.js': "export function part() { throw new Error('there is no such part'); }\n",
  'blocks/block.yaml': 'title: Ein Block\n',
  'blocks/block.html': '<p></p>',
  'blocks/block.js': "export function on_display() { throw new Error('there is no such block'); }\n",
  'blocks/loop.yaml': 'title: Eine Schleife\nelements: { go: { type: ACTION, label: Los } }\n',
  'blocks/loop.html': '{go}',
  'blocks/loop.js': 'export function on_display() { while (true); }\nexport function go() {}\n',
  'blocks/note.yaml': 'title: Eine Notiz\nelements: { text: { type: TEXT, label: Notiz } }\n',
  'blocks/note.html': '{text} {_save}',
};

interface Question {
  form?: Record<string, string>;
  as?: string | null;
  from?: string;
}

/** Few milliseconds and one isolate, so that a loop is soon paused. */
const limits = { logicTime: 500, isolates: 1 };

describe('failures on the German site', () => {
  const themes = useFolder('german', async (folder) => {
    await cp(path.join(repository, 'themes'), folder, { recursive: true });
    for (const [name, text] of Object.entries(app)) {
      const file = path.join(folder, 'demo', 'apps', 'broken', name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
    }
  });
  const host = useHost(() => ({
    themesDirectory: themes(),
    env: { APPS_DEMO: 'true', ...configured({ apps: { limits } }) },
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
