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
