import { beforeAll, describe, expect, test } from 'vitest';
import { useStage } from '../support/hooks';
import { grantArticles } from '../support/seed';
import { html } from '../support/stage';
import { fixture } from '../support/theme';

/** Apps as their authors wrote them for Rapido, run as `.py`; and an app of two languages. */
const stage = useStage({
  themesDirectory: fixture('python', 'themes'),
});
beforeAll(async () => {
  await grantArticles(stage.host, 'Public');
  await stage.host.run(async (strapi) => {
    for (const slug of ['one', 'two', 'three', 'four', 'five', 'six']) {
      const data = { title: `Title ${slug}`, slug, tiles: [] };
      await strapi.documents('api::article.article').create({ data, status: 'published' } as never);
    }
  });
});

async function like(slug: string, times: number) {
  const block = `/site/articles/${slug}/@@apps/rating/blocks/rate`;
  const form = await stage.send({ send: `GET ${block}`, accept: html });
  const token = /name="_csrf" value="([^"]+)"/.exec(form.text)?.[1] ?? '';
  for (let time = 0; time < times; time += 1) {
    const answer = await stage.send({
      send: `POST ${block}`,
      accept: html,
      csrf: false,
      form: { _csrf: token, 'action.like': '' },
    });
    expect(answer.status, answer.text).toBeLessThan(400);
  }
  return (await stage.send({ send: `GET ${block}`, accept: html })).text;
}

test('the rating app counts likes for each content item', async () => {
  expect(await like('one', 2)).toContain('<p>❤❤</p>');
  expect(await like('two', 3)).toContain('<p>❤❤❤</p>');
  expect(await like('three', 1)).toContain('<p>❤</p>');
});

test('the rating app lists the top five, with titles and addresses', async () => {
  for (const slug of ['four', 'five', 'six']) await like(slug, 4);
  const { text } = await stage.send({ send: 'GET rating/blocks/top5', accept: html });
  const shown = [...text.matchAll(/<li><a href="([^"]+)">([^<]+)<\/a> (\d) ❤<\/li>/g)].map((match) => match.slice(1));
  expect(shown).toHaveLength(5);
  expect(shown.map(([, , total]) => total)).toEqual(['4', '4', '4', '3', '2']);
  expect(shown[3]).toEqual([`${stage.host.url}/site/articles/two`, 'Title two', '3']);
});

test('the glossary adds, lists, changes and deletes terms', async () => {
  const token = await stage.csrf('anonymous');
  const post = (send: string, form: Record<string, string>) =>
    stage.send({ send: `POST ${send}`, accept: html, csrf: false, form: { _csrf: token, ...form } });
  const saved = await post('glossary/blocks/term', { term: 'Ä <b>', definition: 'first', _save: '' });
  expect(saved.status).toBe(303);
  expect(saved.headers.location).toMatch(/\/glossary\/blocks\/all$/);
  const all = async () => (await stage.send({ send: 'GET glossary/blocks/all', accept: html })).text;
  const listed = /<a href="([^"]+)\/edit" target="ajax">Ä <b><\/a><\/td><td>first<\/td>/.exec(await all());
  const record = new URL(listed?.[1] ?? '').pathname;
  await post(record, { term: 'B', definition: 'second', _save: '' });
  expect(await all()).toContain('>B</a></td><td>second</td>');
  await post(record, { _delete: '' });
  expect(await all()).not.toContain('second');
});

describe('an app of two languages', () => {
  test('JavaScript shows its record with a block of Python', async () => {
    const { json } = await stage.send({ send: 'POST mixed/blocks/script/write' });
    expect(json).toContain('<b>JavaScript, é</b>');
  });

  test('Python changes a record of JavaScript, and computes when it is saved', async () => {
    const { json } = await stage.send({ send: 'POST mixed/blocks/snake/write' });
    expect(json).toMatchObject({ by: 'Python', noted: 'computed by Python', list: [1, { a: 'é' }, null] });
    expect((await stage.send({ send: 'POST mixed/blocks/script/read' })).json).toMatchObject({
      id: 'shared',
      by: 'Python',
      noted: 'computed by Python',
    });
  });

  test('JavaScript and Python open the same other app', async () => {
    const counts = ['script', 'snake'].map(async (block) => {
      return (await stage.send({ send: `POST mixed/blocks/${block}/foreign` })).json;
    });
    expect(await Promise.all(counts)).toEqual([6, 6]);
  });
});

describe('7,500 records', () => {
  beforeAll(async () => {
    const entry = (_: unknown, n: number) => ({
      total: n,
      tags: ['a', 'b'],
      text: 'some words of a visitor',
      ...(n % 500 === 0 && { block: 'snake' }),
    });
    for (let batch = 0; batch < 5; batch += 1) {
      const made = await stage.send({ send: 'POST many/records', json: Array.from({ length: 1500 }, entry) });
      expect(made.status, made.text).toBe(201);
    }
  });

  test.each(['script', 'snake'])('are read by %s, with lists in them', async (block) => {
    const ask = async (element: string) => (await stage.send({ send: `GET many/blocks/${block}/${element}` })).json;
    expect(await ask('total')).toBe((5 * 1500 * 1499) / 2);
    expect(await ask('lists')).toBe(15_000);
  });

  test.each(['script', 'snake'])('are searched by %s for those of a block', async (block) => {
    const { json } = await stage.send({ send: `GET many/blocks/${block}/found` });
    expect(json).toEqual([15, 15, 0]);
  });

  test('are not searched for a block that there is not', async () => {
    const answer = await stage.send({ send: 'GET many/blocks/script/unknown', as: 'mona' });
    expect([answer.status, answer.text]).toEqual([
      500,
      expect.stringContaining('The app \\"many\\" has no block \\"snaek\\", did you mean \\"snake\\"?'),
    ]);
  });
});
