import { cp, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useFolder, useStage } from '../support/hooks';
import { grantArticles } from '../support/seed';
import { html } from '../support/stage';
import { fixture } from '../support/theme';

/** Rapido's tutorial app from an unchanged copy of its `rapido/` folder, in one line of configuration: `appsFolder`. */
const themes = useFolder('rapido', (folder) => cp(fixture('rapido'), folder, { recursive: true }));
const stage = useStage(() => ({
  themesDirectory: themes(),
  env: { ...configured({ apps: { appsFolder: 'rapido' } }), APPS_THEME: 'tutorial' },
}));
beforeAll(async () => {
  await grantArticles(stage.host, 'Public');
  await stage.host.run(async (strapi) => {
    for (const slug of ['one', 'two'])
      await strapi
        .documents('api::article.article')
        .create({ data: { title: `Title ${slug}`, slug, tiles: [] }, status: 'published' } as never);
  });
});

const page = async (address: string) => (await stage.send({ send: `GET /site${address}`, accept: html })).text;

/** Submits the block's form with its button, as in a page; returns the block in the answer. */
async function like(address: string): Promise<string> {
  const text = await page(address);
  const form = /<form name="rate"[\s\S]*?<\/form>/.exec(text)?.[0] ?? '';
  const action = new URL(/action="([^"]+)"/.exec(form)?.[1] ?? '').pathname;
  const token = /name="_csrf" value="([^"]+)"/.exec(form)?.[1] ?? '';
  const button = /name="(action\.like)"/.exec(form)?.[1] ?? '';
  const pressed = { send: `POST ${action}`, accept: html, csrf: false, form: { _csrf: token, [button]: 'Like' } };
  const answer = await stage.send(pressed);
  expect(answer.status, answer.text).toBe(200);
  return answer.text;
}

test('the button stands under the heading, in ajax mode', async () => {
  const text = await page('/articles/one');
  expect(text).toMatch(/<h1 class="documentFirstHeading">Title one<\/h1><form name="rate"[^>]*apps-target-ajax/);
  expect(text).toMatch(/say it! <[^>]*name="action\.like"[^>]*>/);
});

test('votes are counted for each content, and shown', async () => {
  expect(await like('/articles/one')).toContain('<p>&#10084;</p>');
  expect(await like('/articles/one')).toContain('<p>&#10084;&#10084;</p>');
  expect(await like('/articles/two')).toContain('<p>&#10084;</p>');
  expect(await page('/articles/one')).toContain('<p>&#10084;&#10084;</p>');
});

test('a message of the log is in the page, for the console', async () => {
  expect(await page('/articles/one')).toMatch(/data-apps-settings='[^']*total[^']*2/);
  expect(await stage.host.printed()).toMatch(/rating\/rate.*total/);
});

test('the top 5 is only on the front page, with titles and addresses', async () => {
  await like('/');
  await like('/');
  await like('/');
  const text = await page('/');
  expect(text).toMatch(/<form name="top5"[\s\S]*<h3>Our current Top 5!<\/h3>[\s\S]*<h1 class="documentFirstHeading">/);
  const shown = [...text.matchAll(/<li><a href="([^"]+)">([^<]+)<\/a> (\d) &#10084;<\/li>/g)].map((one) =>
    one.slice(1),
  );
  expect(shown.map(([, title, total]) => [title, total])).toEqual([
    [expect.any(String), '3'],
    ['Title one', '2'],
    ['Title two', '1'],
  ]);
  expect(shown[1]?.[0]).toBe(`${stage.host.url}/site/articles/one`);
  expect(await page('/articles/one')).not.toContain('Top 5');
});

test('the report is a view of any content, in the theme', async () => {
  for (const address of ['/@@show-report', '/articles/one/@@show-report']) {
    const text = await page(address);
    expect(text).toContain('<h2>Rating report</h2>');
    expect(text).toContain('documentFirstHeading');
  }
});

test('the JSON interface gives the data of the report', async () => {
  const { json } = await stage.send<{ id: string; items: object }[]>({
    as: 'mona',
    send: 'POST rating/search',
    csrf: false,
    headers: { 'x-csrf-token': String((await stage.send({ as: 'mona', send: 'GET rating' })).headers['x-csrf-token']) },
    json: { query: 'total>0' },
  });
  expect(json.map(({ items }) => items)).toContainEqual({ id: '/articles/one', total: 2, block: 'rate' });
});

describe('rules, by the table of docs/coming-from-rapido.md', () => {
  const cases: [diazo: string, rule: string, pages: [address: string, shows: boolean][]][] = [
    ['theme-children after', 'append: body', [['/', true]]],
    ['theme-children before', 'prepend: body', [['/', true]]],
    ['replace', 'replace: h1', [['/', true]]],
    [
      'if-not-content',
      "append: body\n  if_content: 'html:not(:has(.section-front-page))'",
      [
        ['/', false],
        ['/articles/one', true],
      ],
    ],
    [
      'if-path, below',
      'append: body\n  if_path: /articles/**',
      [
        ['/', false],
        ['/articles/one', true],
      ],
    ],
    [
      'if-path, that path alone',
      'append: body\n  if_path: /articles/one',
      [
        ['/articles/one', true],
        ['/articles/two', false],
      ],
    ],
  ];
  test.each(cases)('the Diazo rule %s applies where its replacement does', async (_diazo, rule, pages) => {
    const text = `- ${rule}\n  include: /@@apps/rating/blocks/rate\n`;
    await writeFile(themes('tutorial', 'rules.yaml'), text);
    for (const [address, shows] of pages) expect((await page(address)).includes('<form name="rate"')).toBe(shows);
  });
});

describe('`rapido: true` in theme.yaml', () => {
  const block = (file: string, text: string) => writeFile(themes('tutorial', 'rapido', 'rating', 'blocks', file), text);
  const shown = () => stage.send({ send: 'GET rating/blocks/modal', accept: html });

  beforeAll(async () => {
    await block('modal.html', `<a data-pat-modal='{{"content": "form"}}'>{like}</a><style>p {{ color: red }}</style>`);
    await block('modal.yaml', 'id: modal\nelements:\n  like: ACTION\n');
  });

  test('doubled braces are literal braces, unknown keys a warning', async () => {
    const { status, text } = await shown();
    expect(status, text).toBe(200);
    expect(text).toContain(`<a data-pat-modal='{"content": "form"}'>`);
    expect(text).toContain('<style>p { color: red }</style>');
    expect(await stage.host.printed()).toMatch(/rating: blocks\/modal\.yaml:1:1: id: The key "id" is not known/);
  });

  test('without it, braces and keys are as in every theme', async () => {
    await writeFile(themes('tutorial', 'theme.yaml'), 'title: Rapido tutorial\n');
    const { status, text } = await shown();
    expect(status).toBe(500);
    // Debug mode of the app shows why.
    expect(text).toContain('The key &quot;id&quot; is not known');
    await block('modal.yaml', 'elements:\n  like: ACTION\n');
    expect((await shown()).text).not.toContain('{ color: red }');
  });
});
