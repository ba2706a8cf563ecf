import { beforeEach, describe, expect, test } from 'vitest';
import type { Deleted, RecordDetail, RecordsPage } from '../../plugins/apps/shared/admin-api';
import { useStage, useThemes } from '../support/hooks';

const themes = useThemes({
  'main/apps/shelf/settings.yaml': 'debug: false\n',
  'main/apps/shelf/blocks/book.yaml': [
    'elements:',
    '  title: { type: TEXT, label: Title, required: true, index_type: field }',
    '  total: { type: NUMBER, label: Total, min: 0, index_type: field }',
    '  body: { type: TEXTAREA, index_type: text }',
    '  tags: { type: CHECKBOXES, options: [red, green], index_type: keyword }',
    '  shout: { type: BASIC, mode: COMPUTED_ON_SAVE }',
    '  _delete: { confirm: Really? }',
    '',
  ].join('\n'),
  'main/apps/shelf/blocks/book.html': '<p>{title}</p><p>{total}</p>{_save}{_delete}',
  'main/apps/shelf/blocks/book.js':
    'export function shout(context) {\n  return String(context.record.get("title")).toUpperCase();\n}\n' +
    'export function validate(context) {\n  if (context.request.form.title === "bad") context.invalid("title", "not this title");\n}\n' +
    'export function on_delete(context) {\n  if (context.record.get("title") === "kept") throw new Error("kept");\n}\n',
  'main/apps/shelf/blocks/closed.yaml':
    'view_permission: []\nelements:\n  title: TEXT\n  in: { type: TEXT, index_type: field }\n',
  'main/apps/shelf/blocks/closed.html': '{title}{_save}',
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));

const app = '/apps/sites/site/apps/shelf';
const ask = <T>(as: string, line: string, json?: unknown) =>
  stage.send<T>({ as, send: line.replace(' ', ` ${app}`), json });
const errorOf = (answer: { json: unknown }) =>
  (answer.json as { error: { name: string; message: string; details: Record<string, unknown> } }).error;

beforeEach(async () => {
  await stage.send({ as: 'mona', send: 'DELETE shelf/records' });
  await stage.send({
    as: 'mona',
    send: 'POST shelf/records',
    json: [
      { id: 'a', title: 'Apple', total: 3, body: 'a red fruit', tags: ['red'] },
      { id: 'b/1', title: 'Berry', total: 7, body: 'blue', tags: ['green', 'red'] },
      { id: 'c', title: 'Cherry', total: null, body: 'red, too' },
    ],
  });
});

describe('the list', () => {
  const cases: [what: string, query: Record<string, string>, ids: string[], total: number][] = [
    ['all, in order of creation', {}, ['a', 'b/1', 'c'], 3],
    ['a page of them', { limit: '1', offset: '1' }, ['b/1'], 3],
    ['no page', { offset: '9' }, [], 3],
    ['sorted', { sort: 'total' }, ['a', 'b/1', 'c'], 3],
    ['sorted in reverse', { sort: 'total', reverse: 'true' }, ['b/1', 'a', 'c'], 3],
    ['sorted by id', { sort: 'id', reverse: 'true' }, ['c', 'b/1', 'a'], 3],
    ['sorted by an index that no query can name', { sort: 'in' }, ['a', 'b/1', 'c'], 3],
    ['a query', { query: 'total > 3' }, ['b/1'], 1],
    ['a query of words', { query: "'red' in tags and 'fruit' in body" }, ['a'], 1],
    ['a plain word of a text', { query: 'fruit' }, ['a'], 1],
    ['a plain word of a text or a list', { query: 'red' }, ['a', 'b/1', 'c'], 3],
    ['a plain value of a field', { query: 'Cherry' }, ['c'], 1],
    ['a plain number', { query: '7' }, ['b/1'], 1],
    ['a plain id', { query: 'c' }, ['c'], 1],
    ['plain words with what a query has not', { query: 'b/1' }, ['b/1'], 1],
    ['a word that nothing has', { query: "nothing'else" }, [], 0],
  ];
  test.each(cases.filter(([what]) => what !== 'a word that nothing has'))('%s', async (_, query, ids, total) => {
    const { status, json, text } = await ask<RecordsPage>('overseer', `GET /records?${new URLSearchParams(query)}`);
    expect(status, text).toBe(200);
    expect([json.records.map(({ id }) => id), json.total]).toEqual([ids, total]);
  });

  test.each<[what: string, query: Record<string, string>, message: RegExp, details: object]>([
    ['a mistake, with its position', { query: 'total >' }, /value/i, { position: expect.any(Number) }],
    ['an open text', { query: "nothing'else" }, /./, { position: expect.any(Number) }],
    ['an unknown index', { query: 'size > 3' }, /size/, { position: 1 }],
    ['an order by what has none', { sort: 'tags' }, /tags/, { parameter: 'sort_index' }],
    ['an order by what is no index', { sort: 'constructor' }, /constructor/, { parameter: 'sort_index' }],
    ['another direction', { reverse: 'yes' }, /reverse/, {}],
  ])('%s is a 400', async (_, query, message, details) => {
    const answer = await ask('overseer', `GET /records?${new URLSearchParams(query)}`);
    expect([answer.status, errorOf(answer).name]).toEqual([400, 'BadRequestError']);
    expect(errorOf(answer).message).toMatch(message);
    expect(errorOf(answer).details).toMatchObject(details);
  });

  test('a plain text never changes the query', async () => {
    for (const query of ['x) or (1', 'a words', 'names', '\u0000', '%27 or', '{}', '$inc']) {
      const { status, text } = await ask('overseer', `GET /records?${new URLSearchParams({ query })}`);
      expect([200, 400], text).toContain(status);
    }
  });

  test('creators are named, with a link', async () => {
    await stage.send({ as: 'mona', send: 'POST shelf', json: { id: 'by-mona' } });
    await ask('clerk', 'POST /record', { id: 'by-clerk', items: {} });
    const { json } = await ask<RecordsPage>(
      'overseer',
      `GET /records?query=${encodeURIComponent("id in any ('by-mona', 'by-clerk')")}`,
    );
    expect(json.records.map(({ creator }) => [creator?.name, creator?.path])).toEqual([
      ['mona', expect.stringMatching(/^\/content-manager\/collection-types\/plugin::users-permissions.user\/\w+$/)],
      ['clerk@example.com', expect.stringMatching(/^\/settings\/users\/\d+$/)],
    ]);
  });
});

describe('single records', () => {
  const one = async (id: string) => (await ask<RecordDetail>('clerk', `GET /record?id=${encodeURIComponent(id)}`)).json;

  test('are read with their version, and changed as a whole', async () => {
    const { version, items } = await one('b/1');
    expect(items).toMatchObject({ title: 'Berry', total: 7 });
    const changed = await ask<RecordDetail>('clerk', 'PUT /record?id=b%2F1', { items: { title: 'New' }, version });
    expect([changed.status, changed.json.items]).toEqual([200, { title: 'New' }]);
    expect((await one('b/1')).items).toEqual({ title: 'New' });
    const late = await ask('clerk', 'PUT /record?id=b%2F1', { items: {}, version });
    expect([late.status, errorOf(late).name]).toEqual([412, 'PreconditionFailedError']);
  });

  test('run the logic of their block', async () => {
    const made = await ask<{ id: string }>('clerk', 'POST /record', { items: { block: 'book', title: 'loud' } });
    expect(made.status).toBe(201);
    const { items, version, form } = await one(made.json.id);
    expect([items.shout, form]).toEqual(['LOUD', 'book']);
    await ask('clerk', `PUT /record?id=${made.json.id}`, { items: { block: 'book', title: 'more' }, version });
    expect((await one(made.json.id)).items).toMatchObject({ title: 'more', shout: 'MORE' });
  });

  test.each([{ title: 'new' }, { title: 'new', block: null }, { title: 'new', block: 'book' }, {}])(
    'one of a block for managers is not taken out of it: %j',
    async (items) => {
      await stage.send({ as: 'mona', send: 'POST shelf/records', json: [{ id: 'r', block: 'closed', title: 'old' }] });
      const { json } = await ask<RecordDetail>('clerk', 'GET /record?id=r');
      const answer = await ask('clerk', 'PUT /record?id=r', { items, version: json.version });
      expect([answer.status, (await ask<RecordDetail>('clerk', 'GET /record?id=r')).json]).toEqual([403, json]);
    },
  );

  test.each<[what: string, line: string, json: unknown, status: number]>([
    ['a taken id', 'POST /record', { id: 'a', items: {} }, 409],
    ['an id with a control character', 'POST /record', { id: 'a\u0001', items: {} }, 400],
    ['a list of items', 'POST /record', { items: [] }, 400],
    ['no items', 'POST /record', {}, 400],
    ['an unknown block', 'POST /record', { items: { block: 'nothing' } }, 400],
    ['a block for managers', 'POST /record', { items: { block: 'closed' } }, 403],
    ['a record that is not there', 'PUT /record?id=none', { items: {}, version: '"1-1"' }, 404],
    ['no version', 'PUT /record?id=a', { items: {} }, 400],
    ['an increment', 'PUT /record?id=a', { items: { $inc: { total: 1 } }, version: 'x' }, 400],
    ['an id that is none', 'GET /record', undefined, 400],
  ])('%s is refused', async (_, line, json, status) => {
    const answer = await ask('clerk', line, json);
    expect(answer.status, answer.text).toBe(status);
  });
});

describe('many records', () => {
  test('are deleted one by one; the log says which stay', async () => {
    await ask('clerk', 'POST /record', { id: 'k', items: { block: 'book', title: 'kept' } });
    const { json } = await ask<Deleted>('clerk', 'POST /records/delete', { ids: ['a', 'k', 'none', 'a'] });
    expect(json.deleted).toBe(1);
    expect(json.failed.map(({ id }) => id)).toEqual(['k', 'none']);
    const forced = await ask<Deleted>('clerk', 'POST /records/delete', { ids: ['k'], onDelete: false });
    expect(forced.json).toEqual({ deleted: 1, failed: [] });
    expect((await ask<RecordsPage>('clerk', 'GET /records')).json.records.map(({ id }) => id)).toEqual(['b/1', 'c']);
  });

  test.each([{}, { ids: 'a' }, { ids: [1] }, { ids: Array(501).fill('a') }, { ids: ['a'], onDelete: 'no' }])(
    'a wrong list is refused: %j',
    async (json) => {
      expect((await ask('clerk', 'POST /records/delete', json)).status).toBe(400);
      expect((await ask<RecordsPage>('clerk', 'GET /records')).json.total).toBe(3);
    },
  );
});

describe("a block's own form", () => {
  const form = (fields: object, id?: string) =>
    ask<{ kind: string; id: string }>('clerk', 'POST /form', { block: 'book', ...(id ? { id } : {}), fields });

  test('is shown, and makes a record', async () => {
    const { json } = await ask<{ html: string }>('clerk', 'GET /form?block=book');
    expect(json.html).toMatch(/<form .*name="title"/s);
    const made = await form({ title: 'Fig', total: '4', _save: '' });
    expect(made.json).toEqual({ kind: 'saved', id: expect.any(String) });
    expect(await stage.items('shelf', made.json.id)).toMatchObject({
      block: 'book',
      title: 'Fig',
      total: 4,
      shout: 'FIG',
    });
    const changed = await form({ title: 'Fig 2', _save: '' }, made.json.id);
    expect(changed.json).toEqual({ kind: 'saved', id: made.json.id });
    const again = await ask<{ html: string }>('clerk', `GET /form?block=book&id=${made.json.id}`);
    expect(again.json.html).toContain('value="Fig 2"');
  });

  test('is checked as on the site, with the messages beside its fields', async () => {
    const answer = await form({ title: '', total: '-1', _save: '' });
    expect([answer.status, errorOf(answer).name]).toEqual([422, 'ValidationError']);
    expect(errorOf(answer).details.errors).toMatchObject([{ path: ['title'] }, { path: ['total'] }]);
    expect(errorOf(answer).details.html).toMatch(/value="-1"/);
    expect((await ask<RecordsPage>('clerk', 'GET /records')).json.total).toBe(3);
  });

  test('asks the question of a button before it does anything', async () => {
    const { id } = (await form({ title: 'Fig', _save: '' })).json;
    const asked = await form({ title: 'Fig', _delete: '' }, id);
    expect(asked.json).toMatchObject({ kind: 'shown', html: expect.stringContaining('Really?') });
    expect(await stage.items('shelf', id)).toMatchObject({ title: 'Fig' });
    const answered = await form({ title: 'Fig', _delete: '', _confirm: '_delete' }, id);
    expect(answered.json).toEqual({ kind: 'deleted', id });
  });

  test('is checked by the block, too', async () => {
    const answer = await form({ title: 'bad', _save: '' });
    expect([answer.status, errorOf(answer).details.errors]).toEqual([
      422,
      [{ path: ['title'], message: 'not this title' }],
    ]);
    expect(errorOf(answer).details.html).toContain('not this title');
  });

  test.each<[what: string, line: string, json: unknown, status: number]>([
    ['an unknown block', 'GET /form?block=none', undefined, 404],
    ['a block for managers', 'GET /form?block=closed', undefined, 403],
    ['a record of another block', 'GET /form?block=book&id=a', undefined, 400],
    ['a record that is not there', 'GET /form?block=book&id=none', undefined, 404],
    ['fields that are no texts', 'POST /form', { block: 'book', fields: { title: { a: 1 } } }, 400],
    ['an unknown action', 'POST /form', { block: 'book', fields: { 'action.none': '' } }, 404],
  ])('%s is refused', async (_, line, json, status) => {
    const answer = await ask('clerk', line, json);
    expect(answer.status, answer.text).toBe(status);
  });
});

describe('the columns that an administrator has chosen', () => {
  const columns = async (as: string) => (await ask<{ columns: string[] | null }>(as, 'GET /columns')).json.columns;
  const choose = (as: string, columns: unknown) => ask(as, 'PUT /columns', { columns });

  test('are kept for each administrator and app', async () => {
    expect(await columns('clerk')).toBeNull();
    expect((await choose('clerk', ['title', 'gone', 'title'])).json).toEqual({ columns: ['title', 'gone'] });
    expect((await choose('overseer', [])).status).toBe(200);
    expect([await columns('clerk'), await columns('overseer'), await columns('root')]).toEqual([
      ['title', 'gone'],
      [],
      null,
    ]);
    const other = await stage.send<object>({ as: 'clerk', send: 'GET /apps/sites/site/apps/plain/columns' });
    expect([404, 200]).toContain(other.status);
    await choose('clerk', null);
    expect(await columns('clerk')).toBeNull();
  });

  test.each<[string, unknown]>([
    ['no list', 'title'],
    ['nothing', undefined],
    ['other values', [1]],
    ['too many', Array.from({ length: 201 }, (_, n) => `c${n}`)],
    ['too long a name', ['x'.repeat(256)]],
  ])('%s is refused', async (_title, wrong) => {
    expect((await choose('clerk', wrong)).status).toBe(400);
  });
});
