import { expect, test } from 'vitest';
import type { AppDetail, BlockChoice, Overview } from '../../plugins/apps/shared/admin-api';
import { useStage, useThemes } from '../support/hooks';

const themes = useThemes({
  'main/apps/shelf/blocks/book.yaml':
    'elements:\n  title: { type: TEXT, label: Title, index_type: field }\n  kind: { type: SELECT, options: [a, b] }\n  made: BASIC\n  sum: { type: BASIC, mode: COMPUTED_ON_SAVE }\n  go: ACTION\n',
  'main/apps/shelf/blocks/book.html': '<p>{title}</p>{_save}',
  'main/apps/shelf/blocks/closed.yaml': 'view_permission: []\n',
  'main/apps/shelf/blocks/closed.html': '<p>closed</p>',
  'main/apps/shelf/blocks/members.yaml': 'view_permission: [editors]\n',
  'main/apps/shelf/blocks/members.html': '<p>members</p>',
  'main/apps/shelf/blocks/logic.js': 'export function x() {}\n',
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

test('an index is missing until a search or a re-index builds it', async () => {
  const indexes = async () => {
    const { json } = await stage.send<AppDetail>({ as: 'overseer', send: 'GET /apps/sites/site/apps/shelf' });
    return json.indexes;
  };
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
