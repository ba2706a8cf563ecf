import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Row, type Stage } from './support/stage';
import { expectAnswer, runTable } from './support/table';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.close());

const table = (rows: readonly Row[]) => runTable(() => stage, rows);
const html = 'text/html';
const root = () => `${stage.host.url}/site`;
const call = (element: string) => `POST logic/blocks/context/${element}`;

describe('context', () => {
  test('app and block', async () => {
    const { json } = await stage.send<{ blocks: string; indexes: string[] }>({ send: call('app') });
    const app = `${root()}/@@apps/logic`;
    expect(json).toMatchObject({
      id: 'logic',
      url: app,
      debug: null,
      block: { id: 'context', url: `${app}/blocks/context` },
    });
    expect(json.blocks).toContain('toplevel');
    expect(json.indexes).toContain('total');
  });

  test('a record: items as properties, set, delete, inc, save, delete_record', async () => {
    const { json } = await stage.send({ send: call('record') });
    const url = `${root()}/@@apps/logic/record/life`;
    expect(json).toMatchObject({
      before: { has: true, none: false, items: { total: 3, name: 'Ann', items: ['one'] }, id: 'life', url },
      after: { name: 'gone', total: 7, visits: 1, list: ['one'] },
      saved: true,
      missing: null,
      doomed: null,
    });
    const stored = await stage.items('logic', 'life');
    expect(stored).toEqual({ id: 'life', total: 7, visits: 1, items: ['one'], saved: true });
    expect(await stage.items('logic', 'doomed')).toBeNull();
  });

  test('a taken id gets -1, -2; without an id, digits', async () => {
    for (const given of ['wish', 'wish-1', 'wish-2']) {
      expect((await stage.send({ send: call('names') })).json).toMatchObject({ given, digits: true });
    }
  });

  test('search, count and bound names see the own writes of the request', async () => {
    await stage.send({ send: 'DELETE logic/records' });
    expect((await stage.send({ send: call('paging') })).json).toEqual({
      all: 3,
      some: 2,
      found: ['page-3', 'page-2'],
      bound: ['page-2'],
    });
  });

  test('the request, without credentials', async () => {
    const as = 'eric';
    const { json, text } = await stage.send<Record<string, unknown>>({
      as,
      send: `${call('request')}?a=1&b=2&b=3`,
      json: { x: [1] },
      headers: { cookie: 'apps_other=cookie-value', 'x-mark': 'here' },
    });
    expect(json).toMatchObject({
      method: 'POST',
      url: `${root()}/@@apps/logic/blocks/context/request?a=1&b=2&b=3`,
      path: '/site/@@apps/logic/blocks/context/request',
      query: { a: '1', b: ['2', '3'] },
      body: { x: [1] },
      parent: null,
    });
    expect((json.headers as Record<string, string>)['x-mark']).toBe('here');
    const { bearer } = (await stage.credential(as)) as { bearer: string };
    for (const secret of [bearer, await stage.csrf(as), 'cookie-value']) expect(text).not.toContain(secret);
  });

  table([
    { it: 'the portal', send: call('portal'), status: 200, gives: { id: 'site', title: 'Demo site', theme: 'main' } },
    { it: 'nobody is no user', send: call('user'), status: 200, is: null },
    {
      it: 'the user, without secrets',
      as: 'eric',
      send: call('user'),
      status: 200,
      gives: { username: 'eric' },
      lacks: ['password', 'Token', '$2'],
    },
    { it: 'another app', send: call('other_app'), status: 200, is: { id: 'open', none: null } },
    {
      it: 'escape',
      send: call('escaped'),
      status: 200,
      is: expect.stringMatching(/^&lt;a href=&quot;x&quot;&gt;&#0?39;&amp;&#0?39;&lt;\/a&gt;$/),
    },
    { it: 'no parameters', send: call('params'), status: 200, is: {} },
    { it: "the app's own modules", send: call('modules'), status: 200, is: 'from lib' },
    { it: 'async functions and await', send: call('later'), status: 200, is: 5 },
    {
      it: 'a file without exports',
      send: 'GET logic/blocks/toplevel/value',
      status: 200,
      is: 'a function without export',
    },
    {
      it: 'status and allowed headers',
      send: call('answer'),
      status: 203,
      is: 'told',
      answers: { 'cache-control': 'max-age=5' },
    },
    {
      it: 'a redirect inside',
      send: call('inside'),
      status: 303,
      answers: { location: /\/site\/@@apps\/logic\/blocks\/context$/ },
    },
    {
      it: 'the block, the record, Liquid and braces',
      send: 'GET logic/blocks/context',
      accept: html,
      status: 200,
      has: ['<p>block context record null</p>', '{ context.app.id }', '<p>logic noted on display</p>'],
    },
    {
      it: 'display() of a record',
      send: call('displayed'),
      status: 200,
      has: ['Displayed &lt;name&gt;', 'class=\\"small\\"'],
      lacks: ['Displayed <name>'],
    },
  ]);
});

describe('the response', () => {
  // Whether the visitor's request or the app's code is at fault is left open.
  test.each(['forbidden_header', 'away'])('%s: refused', async (element) => {
    const { status, headers, text } = await stage.send({ send: call(element) });
    expect([400, 500]).toContain(status);
    expect([headers.location, headers['set-cookie']]).toEqual([undefined, undefined]);
    expect(text).not.toContain('evil.example');
  });
});

describe('writing during GET needs a token', () => {
  const write = (id: string) => `GET open/blocks/values/write?id=${id}`;
  table([
    { it: 'without one', send: write('g1'), status: 403, error: 'CsrfError' },
    { it: 'HEAD without one', send: write('g2').replace('GET', 'HEAD'), status: 403 },
    { it: 'with a wrong one', send: write('g3'), headers: { 'x-csrf-token': 'x' }, status: 403, error: 'CsrfError' },
    { it: 'nothing was written', send: 'GET open/records', status: 200, is: [] },
    { it: 'by POST', send: 'POST open/blocks/values/write?id=g4', status: 200, is: 'g4' },
    { it: 'and kept', send: 'GET open/record/g4', status: 200, is: { total: 1, id: 'g4' } },
  ]);
  test('with a right one', async () => {
    const headers = { 'x-csrf-token': await stage.csrf('nobody') };
    expectAnswer(await stage.send({ send: write('g5'), headers }), { status: 200, is: 'g5' });
    expect(await stage.items('open', 'g5')).toEqual({ total: 1, id: 'g5' });
  });
});

describe('one unit of work a request', () => {
  const ids = async () => {
    const { json } = await stage.send<{ id: string }[]>({ send: 'GET undo/records' });
    return json.map(({ id }) => id).sort();
  };
  const save = (name: string) =>
    stage.send({ send: 'POST undo/blocks/saver', accept: html, form: { name, _save: '' } });

  test('on_save that throws takes everything back', async () => {
    expect((await save('bad')).status).toBe(500);
    expect(await ids()).toEqual([]);
    expect((await save('fine')).status).toBe(303);
    expect(await ids()).toHaveLength(2);
    expect((await stage.send({ send: 'POST undo/search', json: { query: "name == 'bad'" } })).json).toEqual([]);
    await stage.send({ send: 'DELETE undo/records' });
  });

  table([
    {
      it: 'also by REST',
      send: 'PUT undo/record/r1',
      json: { block: 'saver', name: 'bad' },
      status: 500,
      error: 'LogicError',
    },
    {
      it: 'in bulk',
      send: 'POST undo/records',
      json: [
        { id: 'r2', block: 'saver', name: 'good' },
        { id: 'r3', block: 'saver', name: 'bad' },
      ],
      status: 500,
      error: 'LogicError',
    },
    { it: 'an element', send: 'POST undo/blocks/saver/write_and_fail', status: 500, error: 'LogicError' },
    { it: 'nothing is left', send: 'GET undo/records', status: 200, is: [] },
    { it: 'one that keeps', send: 'PUT undo/record/keep', json: { block: 'saver', name: 'keep' }, status: 201 },
    {
      it: 'an update that fails',
      send: 'PATCH undo/record/keep',
      json: { name: 'bad' },
      status: 500,
      error: 'LogicError',
    },
    { it: 'changes nothing', send: 'GET undo/record/keep', status: 200, gives: { name: 'keep', touched: true } },
    { it: 'on_delete that fails', send: 'DELETE undo/record/keep', status: 500, error: 'LogicError' },
    { it: 'deletes nothing', send: 'GET undo/record/keep', status: 200, gives: { name: 'keep' } },
    { it: 'nor wrote anything', send: 'GET undo/record/deleted-note', status: 404, error: 'NotFoundError' },
    {
      it: 'items are saved and indexed without save()',
      send: 'POST undo/blocks/saver/unsaved',
      status: 200,
      is: ['u1'],
    },
    {
      it: 'and stay',
      send: 'POST undo/search',
      json: { query: "name == 'without save'" },
      status: 200,
      gives: [{ id: 'u1', items: { total: 7 } }],
    },
    {
      it: 'a failing action',
      send: 'POST flow/blocks/buttons',
      accept: html,
      form: { 'action.fail': '' },
      status: 500,
    },
    { it: 'leaves nothing', send: 'GET flow/record/counter', status: 404, error: 'NotFoundError' },
  ]);
});

describe('log', () => {
  const talk = (app: string, mark: string) => ({ send: `GET ${app}/blocks/talk?mark=${mark}`, accept: html });
  // What the browser prints stands in the page as text; `</script>` in it must not end a script.
  const shows = (text: string, mark: string) => new RegExp(`hello .{0,40}script.{0,10} ${mark}`).test(text);

  test('with debug, to the server log and to that visitor', async () => {
    const { text } = await stage.send(talk('debug', 'mark-one'));
    expect(shows(text, 'mark-one'), text).toBe(true);
    expect(text).not.toContain('hello </script>');
    const line = stage.host
      .output()
      .split('\n')
      .find((one) => one.includes('hello </script> mark-one'));
    expect(line).toMatch(/debug/);
    expect(line).toMatch(/talk/);
  });

  test('without debug, to nobody', async () => {
    expect((await stage.send(talk('quiet', 'mark-two'))).text).not.toMatch(/hello/);
    expect(stage.host.output()).not.toContain('hello </script> mark-two');
  });

  test('an entry is one line, without anything that a terminal would obey', async () => {
    const mark = encodeURIComponent('forged\n[info] mark-four \u001b[31m\u009b\u2028end\r');
    expect((await stage.send(talk('debug', mark))).status).toBe(200);
    const output = stage.host.output();
    expect(output).toContain(String.raw`forged\n[info] mark-four \u001b[31m\u009b\u2028end\u000d`);
    expect(output).not.toMatch(/^\[info\] mark-four/m);
  });

  test('across a redirect, once, and to nobody else', async () => {
    const done = await stage.send({
      send: 'POST debug/blocks/talk?mark=mark-three',
      accept: html,
      form: { 'action.go': '' },
    });
    expect(done.status).toBe(303);
    const cookie = (done.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ');
    const target = new URL(String(done.headers.location)).pathname;
    expect((await stage.send({ send: `GET ${target}`, accept: html })).text).not.toContain('mark-three');
    const next = await stage.send({ send: `GET ${target}`, accept: html, headers: { cookie } });
    expect(next.text).toContain('going mark-three');
    expect(next.headers['set-cookie']?.join()).toMatch(/Max-Age=0|Expires=Thu, 01 Jan 1970/i);
  });

  test('a failing function is explained in debug mode alone', async () => {
    expectAnswer(await stage.send({ send: 'GET debug/blocks/talk/fails' }), {
      status: 500,
      error: 'LogicError',
      has: ['told in debug mode', 'blocks/talk.js'],
      gives: { error: { details: { line: expect.any(Number) } } },
    });
    expectAnswer(await stage.send({ send: 'GET quiet/blocks/talk/fails' }), {
      status: 500,
      error: 'LogicError',
      lacks: ['told in debug mode', 'talk.js'],
    });
  });
});
