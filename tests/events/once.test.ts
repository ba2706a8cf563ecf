import { beforeAll, expect, test } from 'vitest';
import { useStage, useThemes } from '../support/hooks';
import { article, grantArticles } from '../support/seed';
import { timeForMore } from '../support/time';

const logic = `const articles = ({ api }) => api.documents('${article}');
const spin = (time) => { for (const end = Date.now() + time; Date.now() < end; ); };
const create = (context) => {
  const title = context.request.body.title;
  articles(context).create({ data: { title, slug: title, tiles: [] } });
};
export function quick(context) { create(context); }
/** Logic that goes on after each change until the change is rolled back and made again. */
export function slow(context) { create(context); spin(120); context.app.search(''); spin(120); articles(context).count(); }
export function fails(context) { create(context); spin(120); throw new Error('after all'); }
export function caught(context) { create(context); try { create(context); } catch {} spin(120); }
/** The functions that rules call. */
export function note(context) { context.app.create_record().save({ title: context.content.title }); }
`;

const themes = useThemes(async (themes) => {
  await themes.write('main/apps/open/blocks/once.js', logic);
  const elements = ['quick', 'slow', 'fails', 'caught'].map((name) => `  ${name}: BASIC\n`).join('');
  await themes.write('main/apps/open/blocks/once.yaml', `elements:\n${elements}`);
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));
beforeAll(async () => {
  await grantArticles(stage.host, 'editors', ['find', 'findOne', 'create', 'update']);
  await grantArticles(stage.host, 'Public');
  const rule = { event: 'create', contentType: article, app: 'open', block: 'once', function: 'note' };
  for (const name of ['first', 'second']) {
    const answer = await stage.send({ as: 'ada', send: 'POST /apps/rules', json: { name, enabled: true, ...rule } });
    expect(answer.status, answer.text).toBe(201);
  }
});

const notes = async (title: string) => {
  const { json } = await stage.send<{ items: { title?: string } }[]>({ send: 'GET open/records' });
  return json.filter(({ items }) => items.title === title).length;
};

test.each([
  { name: 'quick', status: 200, noted: 2 },
  { name: 'slow', status: 200, noted: 2 },
  { name: 'caught', status: 200, noted: 2 },
  { name: 'fails', status: 500, noted: 0 },
])('two rules note $noted times what logic creates: $name', async ({ name, status, noted }) => {
  const json = { title: `by-${name}` };
  const answer = await stage.send({ as: 'eric', send: `POST open/blocks/once/${name}`, json });
  expect(answer.status, answer.text).toBe(status);
  await expect.poll(() => notes(json.title)).toBe(noted);
  // No further note, and none at all if none is expected.
  await timeForMore();
  expect(await notes(json.title)).toBe(noted);
});
