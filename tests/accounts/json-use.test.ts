import { beforeAll, describe, expect, test } from 'vitest';
import { useStage, useThemes } from '../support/hooks';
import { html, type RowRequest } from '../support/stage';

/** `json` in settings.yaml (docs/reference/rights.md#the-json-interface). */
const rights = `
acl:
  rights:
    reader: [readers]
    author: [authors]
    editor: [editors]
    submitter: [submitters, Public]
`;
const settings: Record<string, string> = {
  usual: '',
  some: 'json: { reader: none, author: read, submitter: none }',
  shut: 'json: none',
  reading: 'json: read',
  strict: 'strict: true',
  opened: 'strict: true\njson: { submitter: write }',
};

const themes = useThemes({
  ...Object.fromEntries(
    Object.entries(settings).flatMap(([app, keys]) => [
      [`main/apps/${app}/settings.yaml`, `${keys}\n${rights}`],
      [`main/apps/${app}/blocks/note.html`, '{text} {_save} {_edit} {_delete}'],
      [`main/apps/${app}/blocks/note.yaml`, 'elements: { text: TEXT, now: BASIC, press: ACTION }'],
      [
        `main/apps/${app}/blocks/note.js`,
        "export const now = ({ app }) => app.acl.has_access_right('author');\nexport const press = ({ app }) => { app.create_record().save(); };",
      ],
    ]),
  ),
  'main/apps/mixed/settings.yaml':
    'json: { editor: read }\nacl: { rights: { author: [authors], editor: [anna], reader: ["*"] } }\n',
  ...Object.fromEntries(
    ['none', 'read'].flatMap((use) => [
      [`main/apps/moved-${use}/settings.yaml`, `json: ${use}\n${rights}`],
      [
        `main/apps/moved-${use}/blocks/note.yaml`,
        'states: { new: { to: [done], by: [readers, editors] }, done: {} }\nelements: { text: TEXT }',
      ],
    ]),
  ),
  'main/apps/proved/settings.yaml': `strict: true\nproof_of_work: true\n${rights}`,
  'main/apps/proved/blocks/note.html': '{text} {_save}',
  'main/apps/proved/blocks/note.yaml': 'elements: { text: TEXT }',
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));

const people = ['anonymous', 'una', 'sam', 'rita', 'anna', 'eric', 'mona', 'findToken', 'createToken', 'root'] as const;

/** A status, or the 403 of `json`. */
type Cell = number | 'json';

let made = 0;
const item = { block: 'note', text: 'x' };

const reads: [string, RowRequest][] = [
  ['3', { send: 'GET record/kept' }],
  ['3 by HEAD', { send: 'HEAD record/kept' }],
  ['4', { send: 'GET records' }],
  ['4 as NDJSON', { send: 'GET records', accept: 'application/x-ndjson' }],
  ['4 as a table', { send: 'GET records.csv' }],
  ['4 as XLSX', { send: 'GET records.xlsx' }],
  ['11', { send: 'POST search', json: {} }],
  ['11 by a plain link', { send: 'GET search?query=' }],
  ['11 as a table', { send: 'GET search.csv' }],
  ['11 as XLSX', { send: 'GET search.xlsx' }],
];
const creates: [string, RowRequest][] = [
  ['5', { send: 'POST ', json: item }],
  ['6', { send: 'POST records', json: [item] }],
  [
    '6 as NDJSON',
    { send: 'POST records', body: JSON.stringify(item), headers: { 'content-type': 'application/x-ndjson' } },
  ],
  ['7', { send: 'PUT record/new', json: item }],
];
const changes: [string, RowRequest][] = [
  ['10', { send: 'PATCH record/kept', json: { text: 'y' } }],
  ['10 by POST', { send: 'POST record/kept', json: { text: 'y' } }],
  ['8', { send: 'DELETE record/gone' }],
];
const removes: [string, RowRequest][] = [['9', { send: 'DELETE records' }]];

/** What each may do with records of others; operations of one kind have one answer. */
const kinds = { reads, creates, changes, removes };
type Kind = keyof typeof kinds;

const tables: Record<string, Record<Kind, Cell[]>> = {
  //          anonymous una  sam     rita    anna    eric    mona find create root
  usual: {
    reads: [401, 403, 403, 200, 200, 200, 200, 200, 403, 200],
    creates: [201, 403, 201, 403, 201, 201, 201, 403, 201, 201],
    changes: [401, 403, 403, 403, 403, 200, 200, 403, 403, 200],
    removes: [401, 403, 403, 403, 403, 200, 200, 403, 403, 200],
  },
  some: {
    reads: [401, 403, 403, 'json', 200, 200, 200, 200, 403, 200],
    creates: ['json', 403, 'json', 403, 'json', 201, 201, 403, 201, 201],
    changes: [401, 403, 403, 403, 'json', 200, 200, 403, 403, 200],
    removes: [401, 403, 403, 403, 403, 200, 200, 403, 403, 200],
  },
  shut: {
    reads: [401, 403, 403, 'json', 'json', 'json', 200, 200, 403, 200],
    creates: ['json', 403, 'json', 403, 'json', 'json', 201, 403, 201, 201],
    changes: [401, 403, 403, 403, 'json', 'json', 200, 403, 403, 200],
    removes: [401, 403, 403, 403, 403, 'json', 200, 403, 403, 200],
  },
  reading: {
    reads: [401, 403, 403, 200, 200, 200, 200, 200, 403, 200],
    creates: ['json', 403, 'json', 403, 'json', 'json', 201, 403, 201, 201],
    changes: [401, 403, 403, 403, 'json', 'json', 200, 403, 403, 200],
    removes: [401, 403, 403, 403, 403, 'json', 200, 403, 403, 200],
  },
  strict: {
    reads: [401, 403, 403, 200, 200, 200, 200, 200, 403, 200],
    creates: ['json', 403, 'json', 403, 201, 201, 201, 403, 201, 201],
    changes: [401, 403, 403, 403, 403, 200, 200, 403, 403, 200],
    removes: [401, 403, 403, 403, 403, 200, 200, 403, 403, 200],
  },
  opened: {
    reads: [401, 403, 403, 200, 200, 200, 200, 200, 403, 200],
    creates: [201, 403, 201, 403, 201, 201, 201, 403, 201, 201],
    changes: [401, 403, 403, 403, 403, 200, 200, 403, 403, 200],
    removes: [401, 403, 403, 403, 403, 200, 200, 403, 403, 200],
  },
};

/** A row's request below an app; each creation has an id of its own. */
function below(app: string, request: RowRequest): RowRequest {
  made += 1;
  const [method = '', rest = ''] = request.send.split(/ (.*)/s);
  const path = rest.replace('record/new', `record/new-${made}`);
  return { ...request, send: `${method} ${path === '' ? app : `${app}/${path}`}` };
}

async function answer(as: string, app: string, request: RowRequest): Promise<Cell> {
  const { status, json, text } = await stage.send<{ error?: { details: { key?: string }; message: string } }>({
    as,
    ...below(app, request),
  });
  if (status < 400 || request.send.startsWith('HEAD')) return status;
  const { key } = json?.error?.details ?? {};
  if (key !== 'json') return status;
  expect([status, text]).toEqual([403, expect.stringContaining('\\"json\\" in settings.yaml is')]);
  return 'json';
}

describe.each(Object.entries(tables))('records of the app "%s"', (app, table) => {
  const cells = (Object.keys(kinds) as Kind[]).flatMap((kind) =>
    kinds[kind].flatMap(([operation, request]) =>
      people.map((as, at) => ({ as, operation, request, kind, expected: table[kind][at] as Cell })),
    ),
  );

  const put = (id: string) => stage.send({ as: 'mona', send: `PUT ${app}/record/${id}`, json: item });
  beforeAll(() => put('kept'));

  test.each(cells)('operation $operation of $as: $expected', async ({ as, request, kind, expected }) => {
    if (kind === 'reads') {
      const refused = request.send.startsWith('HEAD') && expected === 'json' ? 403 : expected;
      return expect(await answer(as, app, request)).toBe(refused);
    }
    await put('kept');
    await put('gone');
    const before = await stage.send<unknown[]>({ as: 'mona', send: `GET ${app}/records` });
    const cell = await answer(as, app, request);
    expect(cell).toBe(expected);
    if (typeof cell === 'number' && cell < 400) return;
    const after = await stage.send({ as: 'mona', send: `GET ${app}/records` });
    expect(after.text).toBe(before.text);
  });
});

describe('what stays open where `json` is none', () => {
  beforeAll(async () => {
    await stage.send({ as: 'mona', send: 'PUT shut/record/kept', json: item });
  });
  const open: [string, string, RowRequest, number][] = [
    ['the settings', 'anonymous', { send: 'GET ' }, 200],
    ['the definition of a block', 'anonymous', { send: 'GET blocks/note' }, 200],
    ['an element', 'sam', { send: 'GET blocks/note/now' }, 200],
    ['an action, whose logic stores a record', 'sam', { send: 'POST blocks/note/press', json: {} }, 200],
    ['a form as JSON', 'sam', { send: 'POST blocks/note', json: { text: 'x', _save: '' } }, 201],
    ['a form as JSON of anonymous', 'anonymous', { send: 'POST blocks/note', json: { text: 'x', _save: '' } }, 201],
    ['a form', 'anna', { send: 'POST blocks/note', accept: html, form: { text: 'x', _save: '' } }, 303],
    ['the page of a record', 'rita', { send: 'GET record/kept', accept: html }, 200],
    ['the form of a record', 'eric', { send: 'POST record/kept', accept: html, form: { text: 'z', _save: '' } }, 303],
    ['its deletion by a form', 'eric', { send: 'POST record/kept', accept: html, form: { _delete: '' } }, 303],
  ];
  test.each(open)('%s of %s', async (_title, as, request, status) => {
    const sent = await stage.send({ as, ...below('shut', request) });
    expect(sent.status, sent.text).toBe(status);
  });

  test('logic asks for the rights of the acl', async () => {
    expect((await stage.send({ as: 'anna', send: 'GET shut/blocks/note/now' })).json).toBe(true);
  });
});

describe('several lists', () => {
  const patch = (as: string, id: string) => answer(as, 'mixed', { send: `PATCH record/${id}`, json: { a: 1 } });

  test('are joined: one that is closed takes nothing from one that is open', async () => {
    await stage.put('mixed', 'own', {}, 'anna');
    await stage.put('mixed', 'other', {}, 'abel');
    expect(await patch('anna', 'own')).toBe(200);
    expect(await patch('anna', 'other')).toBe('json');
    expect(await answer('anna', 'mixed', { send: 'DELETE record/other' })).toBe('json');
    expect(await answer('anna', 'mixed', { send: 'DELETE records' })).toBe('json');
    expect(await answer('anna', 'mixed', { send: 'DELETE record/own' })).toBe(200);
    expect(await answer('anna', 'mixed', { send: 'GET records' })).toBe(200);
    expect(await patch('abel', 'own')).toBe(404);
    expect(await patch('abel', 'other')).toBe(200);
  });
});

describe('the state of a record, by those whom `by` names', () => {
  test.each<[string, string, Cell]>([
    ['rita', 'moved-none', 'json'],
    ['eric', 'moved-none', 'json'],
    ['sam', 'moved-none', 403],
    ['mona', 'moved-none', 200],
    ['rita', 'moved-read', 200],
    ['eric', 'moved-read', 'json'],
  ])('is changed by %s in "%s": %s', async (as, app, expected) => {
    const id = `of-${as}`;
    await stage.put(app, id, { block: 'note', text: 'x' });
    expect(await answer(as, app, { send: `PATCH record/${id}`, json: { state: 'done' } })).toBe(expected);
    expect(await stage.items(app, id)).toMatchObject({ state: expected === 200 ? 'done' : 'new' });
  });
});

describe('the refusal', () => {
  test.each([
    ['sam', 'some', '"none" for "submitter"'],
    ['anna', 'some', '"read" for "author"'],
    ['eric', 'shut', '"none" for "editor"'],
    ['sam', 'strict', '"none" for "submitter", the default of a strict app'],
  ])('of %s in "%s" names the key and the list', async (as, app, says) => {
    const { json } = await stage.send<{ error: unknown }>({ as, send: `POST ${app}`, json: item });
    expect(json.error).toMatchObject({
      status: 403,
      name: 'ForbiddenError',
      message: `The JSON interface cannot be used for this: "json" in settings.yaml is ${says}`,
      details: { key: 'json', lists: [/for "(\w+)"/.exec(says)?.[1]] },
    });
  });
});

describe('the form of a strict app as JSON', () => {
  const save = (as: string) => stage.send({ as, send: 'POST proved/blocks/note', json: { text: 'x', _save: '' } });

  test('of anonymous needs a proof of work where the app asks for one', async () => {
    const refused = await save('anonymous');
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('ValidationError')]);
  });

  test('of an API token, and of a user, needs none', async () => {
    expect((await save('createToken')).status).toBe(201);
    expect((await save('sam')).status).toBe(201);
  });
});
