import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStage, type Row, type Stage } from './support/stage';
import { runTable } from './support/table';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.close());

const table = (rows: readonly Row[]) => runTable(() => stage, rows);
const html = 'text/html';
type Form = Record<string, string>;
const get = (path: string, rest: Partial<Row> = {}) => stage.send({ send: `GET ${path}`, accept: html, ...rest });
const post = (path: string, form: Form, rest: Partial<Row> = {}) =>
  stage.send({ send: `POST ${path}`, accept: html, form, ...rest });
const clear = () => stage.send({ as: 'mona', send: 'DELETE flow/records' });
const ids = async () => {
  const { json } = await stage.send<{ id: string }[]>({ as: 'mona', send: 'GET flow/records' });
  return json.map(({ id }) => id);
};
const app = () => `${stage.host.url}/site/@@apps/flow`;

describe('_save, _edit, _delete', () => {
  beforeEach(clear);

  test("saving leads to the record's page, shown with its block", async () => {
    const saved = await post('flow/blocks/item', { name: 'First <one>', _save: '' });
    const [id = ''] = await ids();
    expect([saved.status, saved.headers.location]).toEqual([303, `${app()}/record/${id}`]);
    const page = await get(`flow/record/${id}`);
    expect(page.status).toBe(200);
    expect(page.text).toContain('Item: First &lt;one&gt;');
    expect(page.text).toMatch(/<form[^>]*name="item"/);
    expect(page.text).toContain(`action="${app()}/record/${id}"`);
    expect(await stage.items('flow', id)).toEqual({ id, name: 'First <one>', block: 'item' });
  });

  test('editing', async () => {
    await stage.put('flow', 'it', { block: 'item', name: 'old', other: 1 });
    const edit = await post('flow/record/it', { _edit: '' });
    expect([edit.status, edit.headers.location]).toEqual([303, `${app()}/record/it/edit`]);
    expect((await get('flow/record/it/edit')).text).toMatch(/<input[^>]*value="old"/);
    const saved = await post('flow/record/it', { name: 'new', _save: '' });
    expect([saved.status, saved.headers.location]).toEqual([303, `${app()}/record/it`]);
    expect(await stage.items('flow', 'it')).toEqual({ id: 'it', block: 'item', name: 'new', other: 1 });
  });

  test('an invalid edit changes nothing', async () => {
    await stage.put('flow', 'it', { block: 'item', name: 'old' });
    expect((await post('flow/record/it', { name: '', _save: '' })).status).toBe(422);
    expect(await stage.items('flow', 'it')).toMatchObject({ name: 'old' });
  });

  test('a record whose id ends with /edit', async () => {
    await stage.put('flow', 'a/edit', { block: 'item', name: 'whole id' });
    expect((await get('flow/record/a/edit')).text).toContain('Item: whole id');
    await stage.put('flow', 'a', { block: 'item', name: 'short id' });
    expect((await get('flow/record/a/edit')).text).toContain('Item: whole id');
    expect((await get('flow/record/a/edit/edit')).text).toMatch(/<input[^>]*value="whole id"/);
    await stage.send({ send: 'DELETE flow/record/a/edit' });
    expect((await get('flow/record/a/edit')).text).toMatch(/<input[^>]*value="short id"/);
    expect((await stage.send({ send: 'GET flow/record/a/edit' })).status).toBe(404);
  });

  test('deleting', async () => {
    await stage.put('flow', 'it', { block: 'item', name: 'x' });
    const done = await post('flow/record/it', { _delete: '' });
    expect(done.status).toBe(303);
    expect(new URL(String(done.headers.location)).origin).toBe(stage.host.url);
    expect(await ids()).toEqual([]);
  });

  test('record_id names, on_save and on_delete lead elsewhere', async () => {
    for (const id of ['named-x', 'named-x-1', 'named-x-2']) {
      const saved = await post('flow/blocks/named', { name: 'x', _save: '' });
      expect([saved.status, saved.headers.location]).toEqual([303, `${app()}/blocks/thanks`]);
      expect(await stage.items('flow', id)).toMatchObject({ name: 'x' });
    }
    const deleted = await post('flow/record/named-x', { _delete: '' });
    expect([deleted.status, deleted.headers.location]).toEqual([303, `${app()}/blocks/thanks`]);
    expect((await ids()).sort()).toEqual(['gone-named-x', 'named-x-1', 'named-x-2']);
    expect((await get('flow/blocks/thanks')).text).toContain('Thank you, flow');
  });

  test('a record without a block has a plain page of its items', async () => {
    await stage.put('flow', 'bare', { title: 'A <b>', list: [1, 2], none: null });
    const { status, text } = await get('flow/record/bare');
    expect(status).toBe(200);
    for (const shown of ['bare', 'title', 'A &lt;b&gt;', 'list']) expect(text).toContain(shown);
    expect(text).not.toContain('A <b>');
    const fragment = await get('flow/record/bare', { headers: { 'x-requested-with': 'XMLHttpRequest' } });
    expect(fragment.text).toContain('A &lt;b&gt;');
    expect(fragment.text).not.toContain('<html');
  });

  table([
    {
      it: 'a form without its token',
      send: 'POST flow/blocks/item',
      accept: html,
      form: { name: 'x', _save: '' },
      csrf: false,
      status: 403,
    },
    { it: 'a required field', send: 'POST flow/blocks/item', accept: html, form: { name: '', _save: '' }, status: 422 },
    { it: 'no such block', send: 'POST flow/blocks/absent', accept: html, form: { _save: '' }, status: 404 },
    { it: 'no such record', send: 'POST flow/record/absent', accept: html, form: { _save: '' }, status: 404 },
    { it: 'no such record to edit', send: 'GET flow/record/absent/edit', accept: html, status: 404 },
    { it: 'a page needs a layout', send: 'GET open/blocks/values', accept: html, status: 404 },
    {
      it: 'a body that is no form',
      send: 'POST flow/blocks/item',
      accept: html,
      body: '<x/>',
      headers: { 'content-type': 'text/xml' },
      status: 415,
    },
  ]);

  test('the token may come as the field of the form', async () => {
    const _csrf = await stage.csrf('nobody');
    expect((await post('flow/blocks/item', { name: 'x', _save: '', _csrf }, { csrf: false })).status).toBe(303);
    expect((await post('flow/blocks/item', { name: 'x', _save: '', _csrf: `${_csrf}x` }, { csrf: false })).status).toBe(
      403,
    );
  });

  test('multipart forms', async () => {
    const body = ['name', '_save']
      .map((name) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nm\r\n`)
      .join('');
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const answer = await stage.send({ send: 'POST flow/blocks/item', accept: html, body: `${body}--b--\r\n`, headers });
    expect(answer.status, answer.text).toBe(303);
    expect(await ids()).toHaveLength(1);
  });
});

describe('rights of a record page', () => {
  beforeAll(async () => {
    await stage.put('rights', 'annas', { block: 'form', name: 'private words' }, 'anna');
  });
  const page = (as: string, status: number): Row => ({
    it: 'shown',
    as,
    send: 'GET rights/record/annas',
    accept: html,
    status,
  });
  const submit = (as: string, form: Form, status: number): Row => ({
    it: JSON.stringify(form),
    as,
    send: 'POST rights/record/annas',
    accept: html,
    form,
    status,
  });
  table([
    { ...page('nobody', 401), has: ['@@login'], lacks: ['private words'], answers: { 'www-authenticate': null } },
    { ...page('sam', 403), lacks: ['private words'] },
    { ...page('rita', 200), has: ['private words'], lacks: ['name="_edit"', 'name="_delete"'] },
    { ...page('abel', 200), has: ['private words'], lacks: ['name="_edit"', 'name="_delete"'] },
    { ...page('anna', 200), has: ['name="_edit"', 'name="_delete"'] },
    { ...page('eric', 200), has: ['name="_edit"', 'name="_delete"'] },
    { it: 'edit mode', as: 'rita', send: 'GET rights/record/annas/edit', accept: html, status: 403 },
    { it: 'edit mode', as: 'anna', send: 'GET rights/record/annas/edit', accept: html, status: 200 },
    submit('nobody', { name: 'x', _save: '' }, 401),
    submit('rita', { name: 'x', _save: '' }, 403),
    submit('abel', { name: 'x', _save: '' }, 403),
    submit('abel', { _delete: '' }, 403),
    submit('anna', { name: 'mine', _save: '' }, 303),
    submit('eric', { name: 'edited', _save: '' }, 303),
    submit('eric', { _delete: '' }, 303),
  ]);
});

describe('actions', () => {
  beforeEach(clear);

  test('run, and the block is shown again', async () => {
    const done = await post('flow/blocks/buttons', { 'action.add': 'Add one' });
    expect(done.status).toBe(200);
    expect(done.text).toContain('Count 1');
    expect(done.text).toMatch(/<form[^>]*class="apps-block apps-target-ajax"/);
    expect(await stage.items('flow', 'counter')).toEqual({ id: 'counter', count: 1 });
  });

  test('as a fragment', async () => {
    const { text } = await post(
      'flow/blocks/buttons',
      { 'action.add': '' },
      { headers: { 'x-requested-with': 'XMLHttpRequest' } },
    );
    expect(text.trim()).toMatch(/^<form\b[\s\S]*Count 1[\s\S]*<\/form>$/);
  });

  test('buttons are named action.<element>', async () => {
    const { text } = await get('flow/blocks/buttons');
    for (const [name, label] of Object.entries({ add: 'Add one', go: 'Go' })) {
      expect(text).toMatch(new RegExp(`<(button|input)[^>]*name="action\\.${name}"[^>]*>`));
      expect(text).toContain(label);
    }
  });

  test('a returned string is a redirect', async () => {
    const { status, headers } = await post('flow/blocks/buttons', { 'action.go': '' });
    expect([status, headers.location]).toEqual([303, `${app()}/blocks/thanks`]);
  });

  test('but not out of the site', async () => {
    const { status, headers, text } = await post('flow/blocks/buttons', { 'action.away': '' });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(headers.location).toBeUndefined();
    expect(text).not.toContain('evil.example');
  });

  test('by JSON', async () => {
    expect((await stage.send({ send: 'POST flow/blocks/buttons/add' })).status).toBe(200);
    expect(await stage.items('flow', 'counter')).toMatchObject({ count: 1 });
    const { json } = await stage.send({ send: 'POST flow/blocks/buttons', json: { 'action.add': '' } });
    expect(json).toEqual({ html: expect.stringMatching(/^<form[\s\S]*Count 2[\s\S]*<\/form>$/) });
  });

  table([
    {
      it: 'of a function that is no action',
      send: 'POST flow/blocks/buttons',
      accept: html,
      form: { 'action.count': '' },
      status: 404,
    },
    { it: 'of a helper', send: 'POST flow/blocks/buttons', accept: html, form: { 'action.counter': '' }, status: 404 },
    { it: 'of on_save', send: 'POST flow/blocks/named', accept: html, form: { 'action.on_save': '' }, status: 404 },
    {
      it: 'without token',
      send: 'POST flow/blocks/buttons',
      accept: html,
      form: { 'action.add': '' },
      csrf: false,
      status: 403,
    },
    { it: 'nothing was counted', send: 'GET flow/record/counter', status: 404 },
  ]);
});

describe('on_display', () => {
  table([
    {
      it: 'redirects',
      send: 'GET flow/blocks/moved',
      accept: html,
      status: 303,
      lacks: ['never seen'],
      answers: { location: /\/@@apps\/flow\/blocks\/thanks$/ },
    },
    {
      it: 'or sets what elements see',
      send: 'GET flow/blocks/moved?stay=1',
      accept: html,
      status: 200,
      has: ['never seen set on display'],
    },
  ]);

  describe('that redirects guards the elements too', () => {
    const away = { status: 303, lacks: ['for the chosen few'], answers: { location: /\/blocks\/thanks$/ } };
    const calls = [
      ['as JSON', { send: 'GET flow/blocks/guarded/value' }],
      ['as a page', { send: 'GET flow/blocks/guarded/value', accept: html }],
      ['an action', { send: 'POST flow/blocks/guarded/act', json: {} }],
      ['an action as a page', { send: 'POST flow/blocks/guarded/act', accept: html, form: {} }],
      ['an action of a form', { send: 'POST flow/blocks/guarded', accept: html, form: { 'action.act': '' } }],
    ] as const;
    table([
      ...calls.flatMap(([it, { send, ...call }]) => [
        { it, send, ...call, ...away },
        { it: `${it}, by a returned address`, send: `${send}?returned=1`, ...call, ...away },
      ]),
      { it: 'nothing has run', send: 'GET flow/record/acted', status: 404 },
      {
        it: 'and lets others pass',
        send: 'GET flow/blocks/guarded/value?stay=1',
        status: 200,
        is: 'for the chosen few',
      },
    ]);
  });
});

describe('a failing element is contained', () => {
  table([
    {
      it: 'the rest is whole',
      send: 'GET flow/blocks/half',
      accept: html,
      status: 200,
      has: ['before', 'the good part', 'after'],
      lacks: ['words of the bad part', 'half.js'],
    },
    {
      it: 'a manager is told',
      as: 'mona',
      send: 'GET flow/blocks/half',
      accept: html,
      status: 200,
      has: ['the good part', 'words of the bad part', 'half.js'],
    },
    { it: 'as JSON it is 500', send: 'GET flow/blocks/half/bad', status: 500, error: 'LogicError' },
    { it: 'the good one is not', send: 'GET flow/blocks/half/good', status: 200, is: 'the good part' },
  ]);
  test('and leaves a mark in its place', async () => {
    const { text } = await get('flow/blocks/half');
    expect(text).toMatch(/the good part\s*<[^>]+error[^>]*>[\s\S]+<p>after/);
  });
});
