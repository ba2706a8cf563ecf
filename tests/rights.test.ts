import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Person, type Row, type Stage } from './support/stage';
import { expectAnswer, runTable } from './support/table';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.close());

const table = (rows: readonly Row[]) => runTable(() => stage, rows);
const html = 'text/html';

interface Operation {
  name: string;
  /** `ID` stands for a fresh record. */
  send: string;
  rest?: Partial<Row>;
  /** Made by somebody else, by the requester, or no record at all. */
  record?: 'foreign' | 'own';
  /** What is needed, and the status for those who have it. */
  needs: 'nothing' | 'view' | 'create' | 'edit' | 'editOwn' | 'delete' | 'deleteOwn' | 'deleteAll' | 'manage';
  status: number;
}

const operations: Operation[] = [
  { name: '1 settings', send: 'GET APP', needs: 'nothing', status: 200 },
  { name: '3 get', send: 'GET APP/record/ID', record: 'foreign', needs: 'view', status: 200 },
  {
    name: '3 a page',
    send: 'GET APP/record/ID',
    rest: { accept: html },
    record: 'foreign',
    needs: 'view',
    status: 200,
  },
  { name: '4 list', send: 'GET APP/records', needs: 'view', status: 200 },
  { name: '5 create', send: 'POST APP', rest: { json: { a: 1 } }, needs: 'create', status: 201 },
  { name: '6 create many', send: 'POST APP/records', rest: { json: [{ a: 1 }] }, needs: 'create', status: 201 },
  { name: '7 create by id', send: 'PUT APP/record/ID', rest: { json: { a: 1 } }, needs: 'create', status: 201 },
  { name: '8 delete a foreign one', send: 'DELETE APP/record/ID', record: 'foreign', needs: 'delete', status: 200 },
  { name: '8 delete their own', send: 'DELETE APP/record/ID', record: 'own', needs: 'deleteOwn', status: 200 },
  {
    name: '10 update a foreign one',
    send: 'PATCH APP/record/ID',
    rest: { json: { a: 2 } },
    record: 'foreign',
    needs: 'edit',
    status: 200,
  },
  {
    name: '10 update their own',
    send: 'PATCH APP/record/ID',
    rest: { json: { a: 2 } },
    record: 'own',
    needs: 'editOwn',
    status: 200,
  },
  {
    name: '10 by POST',
    send: 'POST APP/record/ID',
    rest: { json: { a: 2 } },
    record: 'foreign',
    needs: 'edit',
    status: 200,
  },
  { name: '11 search', send: 'POST APP/search', rest: { json: {} }, needs: 'view', status: 200 },
  { name: '12 re-index', send: 'POST APP/refresh', needs: 'manage', status: 200 },
  { name: '9 delete all', send: 'DELETE APP/records', needs: 'deleteAll', status: 200 },
];

type Need = Operation['needs'];
const reader: Need[] = ['view'];
const author: Need[] = ['view', 'create', 'editOwn', 'deleteOwn'];
const editor: Need[] = [...author, 'edit', 'delete', 'deleteAll'];
const submitter: Need[] = ['create'];
const manager: Need[] = [...editor, 'manage'];

let count = 0;

/** One test for each operation and requester: what they may do, and 401 or 403 for everything else. */
function matrix(app: string, requesters: Record<Person, Need[]>): void {
  for (const [who, may] of Object.entries(requesters)) {
    test.each(operations.filter(({ record }) => record !== 'own' || (may.includes('create') && who !== 'nobody')))(
      `${who} in ${app}: $name`,
      async ({ send, rest, record, needs, status }) => {
        count += 1;
        const id = `r${count}`;
        if (record) await stage.put(app, id, { a: 0 }, record === 'own' ? who : 'mona');
        const allowed = needs === 'nothing' || may.includes(needs);
        const line = send.replace('APP', app).replace('ID', id);
        const answer = await stage.send({ as: who, send: line, ...rest });
        const refusal =
          who === 'nobody' ? { status: 401, error: 'UnauthorizedError' } : { status: 403, error: 'ForbiddenError' };
        const { status: refused, error } = refusal;
        expectAnswer(
          answer,
          allowed ? { status } : { status: refused, error: rest?.accept === html ? undefined : error },
        );
        if (!allowed && record) expect(await stage.items(app, id)).toEqual({ a: 0, id });
        if (!allowed && needs === 'create') expect(await stage.items(app, id)).toBeNull();
      },
    );
  }
}

describe('acl by groups and names', () => {
  matrix('rights', {
    nobody: [],
    una: [],
    rita: reader,
    nina: reader,
    anna: author,
    eric: editor,
    sam: submitter,
    mona: manager,
    root: manager,
    fullToken: manager,
  });
});

describe("acl with '*'", () => {
  matrix('all-reader', { nobody: reader, una: reader });
  // "Anonymous owns nothing": an anonymous author creates, and changes nothing afterwards.
  matrix('all-author', { nobody: ['view', 'create'], una: author });
  matrix('all-editor', { nobody: editor, una: editor });
  matrix('all-submitter', { nobody: submitter, una: submitter });
});

describe('without acl: Strapi permissions', () => {
  matrix('plain', {
    nobody: [],
    una: [],
    eric: [],
    finder: ['view'],
    updater: ['edit', 'editOwn'],
    deleter: ['delete', 'deleteOwn', 'deleteAll'],
    mona: manager,
    readToken: ['view'],
    findToken: ['view'],
    manageToken: manager,
    fullToken: manager,
    root: manager,
    ada: manager,
    olga: [],
  });

  // One may create without seeing, changing or deleting; what Strapi permissions say of own records is left open.
  table([
    { it: 'create', as: 'creator', send: 'PUT plain/record/made', json: {}, status: 201 },
    { it: 'create many', as: 'creator', send: 'POST plain/records', json: [{}], status: 201 },
    { it: 'no list', as: 'creator', send: 'GET plain/records', status: 403, error: 'ForbiddenError' },
    { it: 'create', as: 'createToken', send: 'POST plain', json: {}, status: 201 },
    { it: 'no list', as: 'createToken', send: 'GET plain/records', status: 403, error: 'ForbiddenError' },
    { it: 'permissions add to an acl', as: 'finder', send: 'GET rights/records', status: 200 },
    { it: 'read-only tokens read everywhere', as: 'readToken', send: 'GET rights/records', status: 200 },
    { it: 'and write nowhere', as: 'readToken', send: 'POST plain', json: {}, status: 403, error: 'ForbiddenError' },
  ]);
});

describe('owners', () => {
  test("an author may not touch another author's record, and it stays theirs whoever edits it", async () => {
    await stage.put('rights', 'annas', { a: 0 }, 'anna');
    const patch = (as: Person) => stage.send({ as, send: 'PATCH rights/record/annas', json: { a: 1 } });
    expect((await patch('abel')).status).toBe(403);
    expect((await patch('eric')).status).toBe(200);
    expect((await patch('anna')).status).toBe(200);
    expect((await stage.send({ as: 'abel', send: 'DELETE rights/record/annas' })).status).toBe(403);
    expect((await stage.send({ as: 'anna', send: 'DELETE rights/record/annas' })).status).toBe(200);
  });

  const ways: [string, (id: string) => Omit<Row, 'it' | 'status'>][] = [
    ['operation 5', (id) => ({ send: 'POST rights', json: { id } })],
    ['operation 6', (id) => ({ send: 'POST rights/records', json: [{ id }] })],
    [
      'operation 6 as NDJSON',
      (id) => ({
        send: 'POST rights/records',
        body: JSON.stringify({ id }),
        headers: { 'content-type': 'application/x-ndjson' },
      }),
    ],
    ['operation 7', (id) => ({ send: `PUT rights/record/${id}`, json: {} })],
  ];
  test.each(ways)('%s stores the creator', async (way, request) => {
    const id = way.replace(/\W/g, '-');
    expect((await stage.send({ as: 'anna', ...request(id) })).status).toBe(201);
    expect((await stage.send({ as: 'abel', send: `PATCH rights/record/${id}`, json: {} })).status).toBe(403);
    expect((await stage.send({ as: 'anna', send: `PATCH rights/record/${id}`, json: { a: 1 } })).status).toBe(200);
    expect(Object.keys((await stage.items('rights', id)) ?? {}).sort()).toEqual(['a', 'id']);
  });

  test.each(['creator', '_creator', 'owner', 'author', 'createdBy', 'created_by'])(
    'an item "%s" is no creator',
    async (name) => {
      const { documentId } = await stage.host.run((strapi) =>
        strapi.db.query('plugin::users-permissions.user').findOne({ where: { username: 'abel' } }),
      );
      const id = `claim-${name}`;
      await stage.put('rights', id, { [name]: `user:${documentId}` }, 'mona');
      expect((await stage.send({ as: 'abel', send: `DELETE rights/record/${id}` })).status).toBe(403);
    },
  );

  test('a form stores the creator too', async () => {
    const answer = await stage.send({
      as: 'anna',
      send: 'POST rights/blocks/form',
      accept: html,
      form: { name: 'by form', _save: '' },
    });
    expect(answer.status).toBe(303);
    const path = new URL(String(answer.headers.location)).pathname;
    expect((await stage.send({ as: 'abel', send: `PATCH ${path}`, json: {} })).status).toBe(403);
    expect((await stage.send({ as: 'anna', send: `PATCH ${path}`, json: {} })).status).toBe(200);
  });
});

describe('what logic sees of rights', () => {
  const who = 'GET rights/blocks/form/who';
  const none = { rights: [], moderator: false, roles: ['moderator'], manager: false };
  table([
    { it: 'nobody', send: who, status: 200, gives: { ...none, groups: ['Public'] } },
    { it: 'a stranger', as: 'una', send: who, status: 200, is: { ...none, user: 'una', groups: ['strangers'] } },
    {
      it: 'by name',
      as: 'nina',
      send: who,
      status: 200,
      gives: { user: 'nina', rights: ['reader'], moderator: true, roles: ['moderator'] },
    },
    {
      it: 'by group',
      as: 'eric',
      send: who,
      status: 200,
      gives: { user: 'eric', groups: ['editors'], moderator: true, roles: ['moderator'], manager: false },
    },
    { it: 'a manager', as: 'mona', send: who, status: 200, gives: { user: 'mona', manager: true } },
  ]);
  test('an editor has the editor right', async () => {
    const { json } = await stage.send<{ rights: string[] }>({ as: 'eric', send: who });
    expect(json.rights).toContain('editor');
  });
});

describe('view_permission guards pages, element calls and form posts', () => {
  const may: Record<string, Person[]> = {
    list: ['eric', 'nina', 'mona', 'root'],
    text: ['eric', 'nina', 'mona', 'root'],
    everyone: ['nobody', 'una'],
    nobody: ['mona', 'root'],
    free: ['nobody', 'una'],
  };
  const mayNot: Record<string, Person[]> = {
    list: ['nobody', 'una', 'rita', 'readToken'],
    text: ['nobody', 'una', 'rita'],
    everyone: [],
    nobody: ['nobody', 'eric'],
    free: [],
  };
  const refused = (as: Person) => (as === 'nobody' ? 401 : 403);
  const calls = (block: string): { it: string; send: string; rest: Partial<Row> }[] => [
    { it: 'page', send: `GET guarded/blocks/${block}`, rest: { accept: html } },
    { it: 'definition', send: `GET guarded/blocks/${block}`, rest: {} },
    { it: 'form post', send: `POST guarded/blocks/${block}`, rest: { accept: html, form: { other: '' } } },
    ...(block === 'free'
      ? []
      : [
          { it: 'element', send: `GET guarded/blocks/${block}/value`, rest: {} },
          { it: 'element by POST', send: `POST guarded/blocks/${block}/value`, rest: {} },
        ]),
  ];
  table(
    Object.keys(may).flatMap((block) =>
      calls(block).flatMap(({ it, send, rest }) => [
        ...may[block]!.map((as) => ({ it: `${it} of ${block}`, as, send, ...rest, status: 200 })),
        ...mayNot[block]!.map((as) => ({
          it: `${it} of ${block}`,
          as,
          send,
          ...rest,
          status: refused(as),
          lacks: ['inner value', 'guarded list'],
        })),
      ]),
    ),
  );
  table([
    { it: 'saving is guarded too', send: 'POST guarded/blocks/list', accept: html, form: { _save: '' }, status: 401 },
  ]);
});

describe('saving by a form asks the right to create', () => {
  const save = (app: string, block: string, as: Person, status: number, rest: Partial<Row> = {}): Row => ({
    it: 'saves by a form',
    as,
    send: `POST ${app}/blocks/${block}`,
    accept: html,
    form: { name: 'By a form', _save: '' },
    status,
    ...rest,
  });
  table([
    save('rights', 'form', 'nobody', 401, { has: ['@@login?next=%2Fsite%2F%40%40apps%2Frights%2Fblocks%2Fform'] }),
    save('rights', 'form', 'una', 403),
    save('rights', 'form', 'rita', 403),
    ...['anna', 'eric', 'sam', 'mona', 'creator', 'root'].map((who) => save('rights', 'form', who, 303)),
    save('rights', 'form', 'nobody', 401, { accept: 'application/json', error: 'UnauthorizedError' }),
    save('rights', 'form', 'una', 403, { accept: 'application/json', error: 'ForbiddenError' }),
    save('rights', 'form', 'sam', 201, { accept: 'application/json' }),
    // Without `acl`: a manager's.
    save('guarded', 'everyone', 'nobody', 401),
    save('guarded', 'everyone', 'eric', 403),
    save('guarded', 'everyone', 'mona', 303),
    { it: 'a form that does not save', send: 'POST guarded/blocks/everyone', accept: html, form: {}, status: 200 },
  ]);

  test('nothing is stored by who may not', async () => {
    const count = async () => (await stage.send<unknown[]>({ as: 'mona', send: 'GET rights/records' })).json.length;
    const before = await count();
    for (const as of ['nobody', 'una'])
      await stage.send({ as, send: 'POST rights/blocks/form', accept: html, form: { name: 'x', _save: '' } });
    expect(await count()).toBe(before);
  });

  test('who may not read the saved record is thanked, and reads nothing of it', async () => {
    const form = { name: 'By Sam', _save: '' };
    const { headers } = await stage.send({ as: 'sam', send: 'POST rights/blocks/form', accept: html, form });
    const { pathname, search } = new URL(String(headers.location));
    const page = await stage.send({ as: 'sam', send: `GET ${pathname}${search}`, accept: html });
    expect(page.status).toBe(200);
    expect(page.text).toContain('Thank you');
    expect(page.text).not.toContain('By Sam');
    expect((await stage.send({ as: 'sam', send: `GET ${pathname}`, accept: html })).status).toBe(403);
    expect((await stage.send({ as: 'sam', send: `GET ${pathname}${search}` })).status).toBe(403);
    const read = await stage.send({ as: 'rita', send: `GET ${pathname}${search}`, accept: html });
    expect(read.text).toContain('By Sam');
  });
});

describe('view_permission is asked wherever a block’s logic runs', () => {
  const block = 'approve';
  const ndjson = { 'content-type': 'application/x-ndjson' };
  interface Way extends Partial<Row> {
    name: string;
    send: string;
    /** The record ID before: one of the guarded block, one of no block, or none. */
    record?: 'guarded' | 'plain';
    /** The status for those whom the block's definition names. */
    status: number;
    /** What the block's logic leaves behind when it runs, if any of it leaves something. */
    leaves?: 'saved' | 'deleted';
  }
  const page = { accept: html };
  const ways: Way[] = [
    { name: '5 create', send: 'POST approval', json: { id: 'ID', block }, status: 201, leaves: 'saved' },
    {
      name: '6 create many',
      send: 'POST approval/records',
      json: [{ id: 'ID-first' }, { id: 'ID', block }],
      status: 201,
      leaves: 'saved',
    },
    {
      name: '6 as NDJSON',
      send: 'POST approval/records',
      body: '{"id":"ID-first"}\n{"id":"ID","block":"approve"}\n',
      headers: ndjson,
      status: 201,
      leaves: 'saved',
    },
    { name: '7 create by id', send: 'PUT approval/record/ID', json: { block }, status: 201, leaves: 'saved' },
    {
      name: '8 delete',
      send: 'DELETE approval/record/ID',
      record: 'guarded',
      status: 200,
      leaves: 'deleted',
    },
    {
      name: '10 naming the block',
      send: 'PATCH approval/record/ID',
      json: { block },
      record: 'plain',
      status: 200,
      leaves: 'saved',
    },
    ...['PATCH', 'POST'].map<Way>((method) => ({
      name: `10 by ${method} of a record of the block`,
      send: `${method} approval/record/ID`,
      json: { a: 2 },
      record: 'guarded',
      status: 200,
    })),
    {
      name: '10 by $inc',
      send: 'PATCH approval/record/ID',
      json: { $inc: { a: 1 } },
      record: 'guarded',
      status: 200,
    },
    ...[null, 'open'].map<Way>((other) => ({
      name: `10 out of the block, to ${other}`,
      send: 'PATCH approval/record/ID',
      json: { block: other },
      record: 'guarded',
      status: 200,
    })),
    { name: 'a record’s page', send: 'GET approval/record/ID', ...page, record: 'guarded', status: 200 },
    { name: 'its form', send: 'GET approval/record/ID/edit', ...page, record: 'guarded', status: 200 },
    {
      name: 'its form, saved',
      send: 'POST approval/record/ID',
      ...page,
      form: { title: 'x', _save: '' },
      record: 'guarded',
      status: 303,
    },
    {
      name: 'its form, deleting',
      send: 'POST approval/record/ID',
      ...page,
      form: { _delete: '' },
      record: 'guarded',
      status: 303,
      leaves: 'deleted',
    },
    { name: 'the block’s page', send: 'GET approval/blocks/approve', ...page, status: 200 },
    {
      name: 'its form, saved',
      send: 'POST approval/blocks/approve',
      ...page,
      form: { title: 'x', _save: '' },
      status: 303,
    },
    { name: 'an element', send: 'GET approval/blocks/approve/approved', status: 200 },
    { name: 'an element by POST', send: 'POST approval/blocks/approve/approved', status: 200 },
  ];
  let number = 0;
  const fresh = async ({ record }: Way): Promise<string> => {
    number += 1;
    const id = `way${number}`;
    if (record) await stage.put('approval', id, record === 'guarded' ? { block, a: 1 } : { a: 1 });
    return id;
  };
  const withId = (way: Way, id: string): Omit<Row, 'it' | 'status'> =>
    JSON.parse(
      JSON.stringify({ ...way, leaves: undefined, record: undefined, status: undefined }).replaceAll('ID', id),
    );
  const people: [Person, 'let in' | 401 | 403][] = [
    ['nobody', 401],
    ['una', 403],
    ['createToken', 403],
    ['eric', 'let in'],
    ['mona', 'let in'],
  ];
  test.each(ways.flatMap((way) => people.map(([who, answer]) => ({ ...way, who, answer }))))(
    '$name | $who: $answer',
    async ({ who, answer, ...way }) => {
      const id = await fresh(way);
      const before = await stage.items('approval', id);
      const { status, text } = await stage.send({ as: who, ...withId(way, id) });
      expect(status, text).toBe(answer === 'let in' ? way.status : answer);
      const left = way.leaves && (await stage.items('approval', `${way.leaves}-${id}`));
      if (answer === 'let in') return way.leaves && expect(left).not.toBeNull();
      expect(text).not.toContain('secret words');
      expect(await stage.items('approval', id)).toEqual(before);
      expect(await stage.items('approval', `${id}-first`)).toBeNull();
      expect(left ?? null).toBeNull();
    },
  );

  const calls = ['approval/blocks/open', 'caller/blocks/call'].flatMap((from) =>
    ['save', 'display'].map((element) => ({ from, element })),
  );
  test.each(calls)('$element by logic of $from is asked of the requester', async ({ from, element }) => {
    const outcomes = [];
    for (const as of ['nobody', 'una', 'eric', 'mona']) {
      const id = await fresh({ name: '', send: '', status: 200, record: 'guarded' });
      const { json } = await stage.send<string>({ as, send: `POST ${from}/${element}?id=${id}` });
      outcomes.push(json.includes('secret words') ? 'saved' : json);
    }
    expect(outcomes).toEqual(['UnauthorizedError', 'ForbiddenError', 'saved', 'saved']);
  });

  test('a call from code is asked too, in the name that it gives', async () => {
    const outcomes = await stage.host.run(async (strapi) => {
      const { call } = strapi.plugin('apps').service('apps');
      const users = strapi.db.query('plugin::users-permissions.user');
      const as = async (username: string) => ({
        requester: {
          auth: { strategy: { name: 'users-permissions' }, credentials: await users.findOne({ where: { username } }) },
        },
      });
      const outcome = (options: object) =>
        call('approval/approve/approved', options).catch((error: Error) => error.name) as Promise<string>;
      return [await outcome({}), await outcome(await as('una')), await outcome(await as('eric'))];
    });
    expect(outcomes).toEqual(['UnauthorizedError', 'ForbiddenError', 'yes']);
  });
});
