import { describe, expect, test } from 'vitest';
import type { AppDetail, BlockChoice, Overview, Preview } from '../../plugins/apps/shared/admin-api';
import { useStage, useThemes } from '../support/hooks';
import { html } from '../support/stage';

const themes = useThemes({
  'main/apps/shelf/blocks/book.yaml':
    'elements:\n  title: { type: TEXT, label: Title, index_type: field }\n  kind: { type: SELECT, options: [a, b] }\n  made: BASIC\n  sum: { type: BASIC, mode: COMPUTED_ON_SAVE }\n  go: ACTION\n',
  'main/apps/shelf/blocks/book.html': '<p>{title}</p>{_save}',
  'main/apps/shelf/blocks/closed.yaml': 'view_permission: []\n',
  'main/apps/shelf/blocks/closed.html': '<p>closed</p>',
  'main/apps/shelf/blocks/members.yaml': 'view_permission: [editors]\n',
  'main/apps/shelf/blocks/members.html': '<p>members</p>',
  'main/apps/shelf/blocks/logic.js': 'export function x() {}\n',
  'fresh/theme.yaml': 'title: Fresh\n',
  'fresh/layout.html': '<html><head><title>fresh</title></head><body><h1>Fresh</h1>{{ main }}</body></html>\n',
  'fresh/apps/shelf/blocks/book.html': '<p>fresh book</p>',
  'fresh/apps/shelf/blocks/find.yaml': 'elements:\n  title: { type: TEXT, index_type: keyword }\n  found: BASIC\n',
  'fresh/apps/shelf/blocks/find.html': '{found}',
  'fresh/apps/shelf/blocks/find.js':
    'export function found(context) {\n  return context.app.search("\'a\' in title").length;\n}\n',
  'main/apps/broken/blocks/a.yaml': 'elements:\n  a: TEXXT\n',
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));

test('tiles are chosen from blocks with a layout that not only managers may see', async () => {
  const { json } = await stage.send<BlockChoice[]>({ as: 'olga', send: 'GET /apps/blocks' });
  const shelf = json.filter(({ app }) => app === 'shelf');
  expect(shelf.map(({ value }) => value)).toEqual(['shelf/blocks/book', 'shelf/blocks/members']);
  expect(shelf[0]?.url).toMatch(/\/site\/@@apps\/shelf\/blocks\/book$/);
});

test('the overview has a problem of each broken app, and the apps of each theme', async () => {
  const { json } = await stage.send<Overview>({ as: 'overseer', send: 'GET /apps/overview' });
  const apps = json.sites[0]?.apps ?? [];
  expect(apps.find(({ id }) => id === 'broken')).toMatchObject({
    problems: 1,
    problem: { file: 'blocks/a.yaml', line: 2, message: expect.stringContaining('TEXXT') },
  });
  expect(apps.find(({ id }) => id === 'shelf')).toMatchObject({ problems: 0, problem: null });
  expect(json.themes.find(({ id }) => id === 'main')?.apps).toContain('shelf');
});

test('the columns of records are the stored elements of the definitions', async () => {
  const { json } = await stage.send<AppDetail>({ as: 'overseer', send: 'GET /apps/sites/site/apps/shelf' });
  expect(json.columns).toEqual([
    { name: 'title', label: 'Title', type: 'TEXT', index: 'field', options: [] },
    {
      name: 'kind',
      label: 'kind',
      type: 'SELECT',
      index: null,
      options: [
        { value: 'a', label: 'a' },
        { value: 'b', label: 'b' },
      ],
    },
    { name: 'sum', label: 'sum', type: 'BASIC', index: null, options: [] },
  ]);
  expect(json.blocks.filter(({ hasForm }) => hasForm).map(({ id }) => id)).toEqual(['book']);
});

const indexes = async () => {
  const { json } = await stage.send<AppDetail>({ as: 'overseer', send: 'GET /apps/sites/site/apps/shelf' });
  return json.indexes;
};

test('an index is missing until a search or a re-index builds it', async () => {
  expect(await indexes()).toEqual([
    { name: 'id', type: 'field', state: 'missing' },
    { name: 'title', type: 'field', state: 'missing' },
  ]);
  const sizes = async () =>
    (await stage.send({ as: 'clerk', send: 'GET /apps/sites/site/apps/shelf/index-sizes' })).json;
  expect(await sizes()).not.toHaveProperty('title');
  await stage.send({ as: 'mona', send: 'POST shelf/search', json: { query: "title == 'a'" } });
  expect(await indexes()).toEqual([
    { name: 'id', type: 'field', state: 'ready' },
    { name: 'title', type: 'field', state: 'ready' },
  ]);
  expect(await sizes()).toEqual({ title: 0, id: 0 });
});

describe('a preview of another theme', () => {
  const preview = (json: object, as = 'ada') =>
    stage.send<Preview>({ as, send: 'POST /apps/sites/site/theme/preview', json });

  test('shows any page of the site with it; visitors see the active one', async () => {
    expect((await preview({ theme: 'fresh' })).json).toMatchObject({
      status: 200,
      html: expect.stringContaining('<h1>Fresh</h1>'),
    });
    const block = { theme: 'fresh', path: '@@apps/shelf/blocks/book' };
    expect((await preview(block)).json.html).toContain('fresh book');
    expect((await preview({ ...block, theme: 'main' })).json.html).not.toContain('fresh book');
    const visited = await stage.send({ send: 'GET /site/', accept: html });
    expect(visited.text).not.toContain('<h1>Fresh</h1>');
    expect((await stage.send({ send: 'GET shelf/blocks/book', accept: html })).text).not.toContain('fresh book');
    const { json } = await stage.send<Overview>({ as: 'overseer', send: 'GET /apps/overview' });
    expect(json.sites[0]?.theme).toBe('main');
  });

  test('leaves the indexes of the active one', async () => {
    await stage.send({ as: 'mona', send: 'POST shelf/search', json: { query: "title == 'a'" } });
    const before = await indexes();
    const { json } = await preview({ theme: 'fresh', path: '@@apps/shelf/blocks/find' });
    expect(json).toMatchObject({ status: 409, html: expect.stringContaining('A preview builds no index') });
    expect([before[1], await indexes()]).toEqual([{ name: 'title', type: 'field', state: 'ready' }, before]);
  });

  test('is that of visitors without a login', async () => {
    const answer = await preview({ theme: 'main', path: '/@@apps/shelf/blocks/closed' });
    expect(answer.json.status).toBe(401);
  });

  test.each<[string, object, string, number]>([
    ['an unknown theme', { theme: 'none' }, 'ada', 404],
    ['a path as a theme', { theme: '../main' }, 'ada', 404],
    ['no theme', {}, 'ada', 400],
    ['a long path', { theme: 'fresh', path: 'x'.repeat(501) }, 'ada', 400],
    ['without the permission', { theme: 'fresh' }, 'developer', 403],
  ])('%s is refused', async (_title, json, as, status) => {
    expect((await preview(json, as)).status).toBe(status);
  });

  test.each(['../../admin/overview', '//example.com/', '@@login', '@@theme/fresh/layout.html', '..', 'none'])(
    'the path %s shows nothing else',
    async (path) => {
      const { status, json } = await preview({ theme: 'fresh', path });
      expect([status, json.status]).toEqual([200, 404]);
    },
  );
});
