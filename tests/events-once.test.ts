import { afterAll, beforeAll, expect, test } from 'vitest';
import { grantRole } from './support/seed';
import { openStage, type Stage } from './support/stage';
import { copyThemes, type ThemeCopy } from './support/theme';

const article = 'api::article.article';

const logic = `const articles = ({ api }) => api.documents('${article}');
const spin = (time) => { for (const end = Date.now() + time; Date.now() < end; ); };
const create = (context) => {
  const title = context.request.body.title;
  articles(context).create({ data: { title, slug: title, tiles: [] } });
};
export function quick(context) { create(context); }
/** Goes on for so long after each change that the change is rolled back and made again. */
export function slow(context) { create(context); spin(120); context.app.search(''); spin(120); articles(context).count(); }
export function fails(context) { create(context); spin(120); throw new Error('after all'); }
export function caught(context) { create(context); try { create(context); } catch {} spin(120); }
/** What a rule calls. */
export function note(context) { context.app.create_record().save({ title: context.content.title }); }
`;

let themes: ThemeCopy;
let stage: Stage;
beforeAll(async () => {
  themes = await copyThemes();
  await themes.write('main/apps/open/blocks/once.js', logic);
  const elements = ['quick', 'slow', 'fails', 'caught'].map((name) => `  ${name}: BASIC\n`).join('');
  await themes.write('main/apps/open/blocks/once.yaml', `elements:\n${elements}`);
  stage = await openStage({ themesDirectory: themes.directory });
  await grantRole(
    stage.host,
    'editors',
    ['find', 'findOne', 'create', 'update'].map((action) => `${article}.${action}`),
  );
  await grantRole(stage.host, 'Public', [`${article}.find`, `${article}.findOne`]);
  const rule = { event: 'create', contentType: article, app: 'open', block: 'once', function: 'note' };
  for (const name of ['first', 'second']) {
    const answer = await stage.send({ as: 'ada', send: 'POST /apps/rules', json: { name, enabled: true, ...rule } });
    expect(answer.status, answer.text).toBe(201);
  }
});
afterAll(async () => {
  await stage?.close();
  await themes?.dispose();
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
])('each rule runs $noted / 2 times for what logic creates: $name', async ({ name, status, noted }) => {
  const json = { title: `by-${name}` };
  const answer = await stage.send({ as: 'eric', send: `POST open/blocks/once/${name}`, json });
  expect(answer.status, answer.text).toBe(status);
  await expect.poll(() => notes(json.title), { timeout: 10_000 }).toBe(noted);
  // Nothing more comes, and nothing at all where nothing was to come.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await notes(json.title)).toBe(noted);
});
