import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { useStage, useThemes } from '../support/hooks';
import { createChecker, type OpenApi } from '../support/openapi';
import { runTable } from '../support/table';

const form = `
elements:
  name: {type: TEXT, required: true, maxlength: 20, label: Your name}
  code: {type: TEXT, pattern: '[a-z]{2}'}
  mail: EMAIL
  age: {type: NUMBER, min: 0, max: 150}
  day: DATE
  at: DATETIME
  agreed: BOOLEAN
  color: {type: SELECT, options: [red, {value: 2, label: two}], required: true}
  sizes: {type: CHECKBOXES, options: [S, M]}
  computed: {type: RADIO}
  sum: {type: BASIC, mode: COMPUTED_ON_SAVE}
  shown: BASIC
  like: {type: ACTION, label: Like}
`;

const themes = useThemes({
  'main/apps/api/settings.yaml': 'acl: {rights: {editor: ["*"]}}\n',
  'main/apps/limited/settings.yaml': 'strict: true\njson: {author: read}\n',
  'main/apps/api/blocks/form.yaml': form,
  'main/apps/api/blocks/form.html': '{name} {_save}',
  'main/apps/api/blocks/broken.yaml': 'elements: {a: NONE}\n',
  'main/apps/sent/settings.yaml': 'acl: {rights: {submitter: ["*"]}}\n',
  'main/apps/sent/blocks/apply.yaml':
    'drafts: true\nself_service: [edit]\n' +
    'elements:\n  name: {type: TEXT, label: Name}\n  cv: {type: FILE, required: true}\n' +
    '  more: {type: REPEAT, elements: {text: TEXT}}\n',
  'main/apps/sent/blocks/apply.html': '{name} {cv} {more} {_save}',
  'main/apps/openapi.json/settings.yaml': 'debug: false\n',
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));

const documentOf = async (path: string) => (await stage.send<OpenApi>({ as: 'mona', send: `GET ${path}` })).json;

type Paths = Record<string, { parameters?: { $ref: string }[]; security?: object[]; description?: string } | undefined>;

describe('who gets the OpenAPI document', () => {
  runTable(stage, [
    {
      title: 'a manager gets the document',
      as: 'mona',
      send: 'GET api/openapi.json',
      status: 200,
      gives: { openapi: '3.1.0' },
    },
    { title: 'a token with full access gets the document', as: 'fullToken', send: 'GET api/openapi.json', status: 200 },
    { title: 'HEAD of the document has no body', as: 'mona', send: 'HEAD api/openapi.json', status: 200 },
    {
      title: 'an anonymous requester does not get the document',
      send: 'GET api/openapi.json',
      status: 401,
      error: 'UnauthorizedError',
    },
    {
      title: 'an editor does not get the document',
      as: 'eric',
      send: 'GET api/openapi.json',
      status: 403,
      error: 'ForbiddenError',
    },
    {
      title: 'a missing app has no document',
      as: 'mona',
      send: 'GET none/openapi.json',
      status: 404,
      error: 'NotFoundError',
    },
    {
      title: 'the document can only be read',
      as: 'mona',
      send: 'POST api/openapi.json',
      status: 405,
      answers: { allow: 'GET, HEAD, OPTIONS' },
    },
    { title: 'an app of that id keeps its address', send: 'GET openapi.json', status: 200, is: { debug: false } },
    {
      title: 'a manager gets the document of the site',
      as: 'mona',
      send: 'GET /site/@@apps.openapi.json',
      status: 200,
    },
    {
      title: 'an anonymous requester does not get the document of the site',
      send: 'GET /site/@@apps.openapi.json',
      status: 401,
      error: 'UnauthorizedError',
    },
    {
      title: 'an editor does not get the document of the site',
      as: 'eric',
      send: 'GET /site/@@apps.openapi.json',
      status: 403,
      error: 'ForbiddenError',
    },
    {
      title: 'the whole site can only be read',
      as: 'mona',
      send: 'PUT /site/@@apps.openapi.json',
      status: 405,
      error: 'MethodNotAllowedError',
    },
    {
      title: 'the document of the site is no content',
      as: 'mona',
      send: 'GET /site/articles/@@apps.openapi.json',
      accept: 'application/json',
      status: 404,
    },
  ]);
});

test.each(['api/openapi.json', '/site/@@apps.openapi.json'])('%s is valid OpenAPI 3.1', async (path) => {
  const document = await documentOf(path);
  const { valid, errors } = await new Validator().validate({ ...document });
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
  const ids = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap((one) => (one as { operationId?: string }).operationId ?? []);
  expect(new Set(ids).size).toBe(ids.length);
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)];
  const components = document.components as unknown as Record<string, Record<string, unknown>>;
  expect(references.filter(([, kind = '', name = '']) => !components[kind]?.[name])).toEqual([]);
  const used = new Set(references.filter(([, kind]) => kind === 'responses').map(([, , name]) => name));
  // The answer to a method that no operation has.
  expect(Object.keys(components.responses ?? {}).filter((name) => !used.has(name))).toEqual(['Error405']);
});

test('the document of the site has the operations of all its sound apps', async () => {
  const { paths } = await documentOf('/site/@@apps.openapi.json');
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining(['/api/records', '/open/records', '/openapi.json', '/linked']),
  );
  expect(Object.keys(paths).filter((path) => /^\/(?:badsettings|broken)/.test(path))).toEqual([]);
});

test('the elements of a block are operations, and its inputs items', async () => {
  const { paths, components } = await documentOf('api/openapi.json');
  expect(Object.keys(paths)).toEqual([
    '/api',
    '/api/records',
    '/api/records.csv',
    '/api/search.csv',
    '/api/records.xlsx',
    '/api/search.xlsx',
    '/api/record/{record_id}',
    '/api/files/{file_id}/{name}',
    '/api/search',
    '/api/refresh',
    '/api/blocks/form',
    ...['name', 'code', 'mail', 'age', 'day', 'at', 'agreed', 'color', 'sizes', 'computed', 'sum', 'shown', 'like'].map(
      (name) => `/api/blocks/form/${name}`,
    ),
    '/api/openapi.json',
  ]);
  expect(components.schemas['api.form.Items']).toMatchObject({
    required: ['block'],
    properties: {
      block: { const: 'form' },
      name: { title: 'Your name', type: 'string', minLength: 1, maxLength: 20 },
      code: { anyOf: [{ const: '' }, { type: 'string', pattern: '^(?:[a-z]{2})$' }] },
      mail: { anyOf: [{ const: '' }, { type: 'string', format: 'idn-email' }] },
      age: { type: ['number', 'null'], minimum: 0, maximum: 150 },
      day: { type: ['string', 'null'], format: 'date' },
      agreed: { type: 'boolean' },
      color: { enum: ['red', 2] },
      sizes: { type: 'array', items: { enum: ['S', 'M'] }, uniqueItems: true },
      computed: { type: ['string', 'number', 'boolean', 'null'] },
      sum: {},
    },
  });
  expect(components.schemas['api.form.Items']).not.toHaveProperty('properties.shown');
});

test('operations have the parameters that they take, and the CSRF token where it is needed', async () => {
  const { paths } = (await documentOf('api/openapi.json')) as unknown as { paths: Record<string, Paths> };
  const parameters = (path: string, method: string) =>
    (paths[path]?.[method]?.parameters ?? []).map(({ $ref }) => $ref.split('/').at(-1));
  const ofSearch = ['Query', 'SortIndex', 'Reverse', 'Limit', 'Offset', 'Names', 'WithTotal'];
  expect(parameters('/api/records', 'get')).toEqual(['Cursor', 'Limit', 'Offset']);
  expect(parameters('/api/search', 'get')).toEqual(ofSearch);
  expect(parameters('/api/search.csv', 'get')).toEqual(ofSearch);
  expect(parameters('/api/search', 'post')).toEqual([]);
  const csrfToken: string[] = [];
  expect(paths['/api/search']?.get?.security).toBeUndefined();
  expect(paths['/api/search']?.post?.security).toEqual([
    { csrfToken },
    { bearer: [] },
    { basic: [], csrfToken },
    { session: [], csrfToken },
  ]);
});

test('a form is described as JSON and as browsers send it, with its files', async () => {
  const document = await documentOf('sent/openapi.json');
  const { paths } = document as unknown as {
    paths: Record<
      string,
      Record<string, { requestBody: { content: Record<string, { schema: { properties: object } }> } }>
    >;
  };
  const { content } = paths['/sent/blocks/apply']?.post?.requestBody ?? { content: {} };
  const fieldsOf = (type: string) => Object.keys(content[type]?.schema.properties ?? {});
  const buttons = ['_save', '_draft', '_delete'];
  expect(fieldsOf('application/json')).toEqual(['name', 'cv', 'more', ...buttons]);
  expect(fieldsOf('application/x-www-form-urlencoded')).toEqual(['name', ...buttons]);
  expect(fieldsOf('multipart/form-data')).toEqual(['name', 'cv', ...buttons]);
  const bytes = { type: 'string', format: 'binary' };
  expect(content['multipart/form-data']?.schema.properties).toMatchObject({
    cv: { anyOf: [bytes, { type: 'array', items: bytes }] },
    name: { title: 'Name' },
  });
  expect(Object.keys(paths['/sent/draft/{token}']?.post?.requestBody.content ?? {})).toEqual(Object.keys(content));

  const body = new FormData();
  body.set('name', 'Ada');
  body.set('cv', new Blob(['%PDF-1.4\n%%EOF'], { type: 'application/pdf' }), 'cv.pdf');
  body.set('_save', '');
  const request = new Request('http://localhost', { method: 'POST', body });
  const answer = await stage.send({
    send: 'POST sent/blocks/apply',
    headers: { accept: 'application/json', 'content-type': request.headers.get('content-type') ?? '' },
    body: Buffer.from(await request.arrayBuffer()),
  });
  expect(answer.status, answer.text).toBe(201);
  const check = createChecker(document);
  const sent = (cv: unknown) => ({ method: 'POST', path: '', json: { name: 'Ada', cv, _save: '' } });
  check('/sent/blocks/apply', sent({ documentId: 'a', name: 'cv.pdf' }), answer);
  check('/sent/blocks/apply', sent([{ documentId: 'a' }]), answer);
  check('/sent/blocks/apply', sent(null), answer);
  expect(() => check('/sent/blocks/apply', sent('cv.pdf'), answer)).toThrow(/cv/);
});

test.each([
  ['/sent/mine/{token}', 'patch'],
  ['/sent/mine/{token}', 'post'],
  ['/sent/draft/{token}', 'post'],
  ['/sent', 'post'],
])('%s takes an Idempotency-Key by %s', async (path, method) => {
  const { paths } = (await documentOf('sent/openapi.json')) as unknown as { paths: Record<string, Paths> };
  expect(paths[path]?.[method]?.parameters).toContainEqual({ $ref: '#/components/parameters/IdempotencyKey' });
});

test('operations say which lists `json` of the settings closes them to', async () => {
  const { paths } = (await documentOf('limited/openapi.json')) as unknown as { paths: Record<string, Paths> };
  const said = (path: string, method: string) =>
    /these lists of acl alone: (.*)\.$/.exec(paths[path]?.[method]?.description ?? '')?.[1];
  expect(said('/limited', 'get')).toBeUndefined();
  expect(said('/limited', 'post')).toBe('author, submitter');
  expect(said('/limited/records', 'get')).toBeUndefined();
  expect(said('/limited/record/{record_id}', 'patch')).toBe('author');
  expect(said('/limited/records', 'delete')).toBeUndefined();
  expect((await stage.send({ as: 'mona', send: 'GET api/openapi.json' })).text).not.toContain('lists of acl');
});

test('a checker refuses what the document does not say', async () => {
  const check = createChecker(await documentOf('api/openapi.json'));
  const answer = (status: number, json: unknown, type = 'application/json') => ({
    status,
    json,
    text: '-',
    bytes: Buffer.from('-'),
    headers: { 'content-type': type },
  });
  const sent = (method: string) => ({ method, path: '' });
  expect(() => check('/api', sent('POST'), answer(201, { id: 'a', success: 'created' }))).toThrow(/path/);
  expect(() => check('/api', sent('POST'), answer(200, {}))).toThrow(/not in the document/);
  expect(() => check('/api/records', sent('GET'), answer(200, null, 'text/xml'))).toThrow(/text\/xml/);
  expect(() =>
    check(
      '/api',
      sent('GET'),
      answer(404, { data: null, error: { status: 404, name: 'CsrfError', message: '', details: {} } }),
    ),
  ).toThrow(/name/);
});
