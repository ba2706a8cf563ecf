import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { grantRole } from './support/seed';
import { openStage, type Row, type Stage } from './support/stage';
import { runTable } from './support/table';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ env: { APPS_CORS_ORIGINS: 'https://there.example, https://app.example' } });
  await grantRole(stage.host, 'Public', ['api::article.article.find', 'api::article.article.findOne']);
  await stage.host.run(async (strapi) => {
    const articles = strapi.documents('api::article.article');
    const article = (slug: string) => ({ title: `Title of ${slug}`, slug, secret: `secret of ${slug}`, tiles: [] });
    await articles.create({ data: article('one'), status: 'published' });
    await articles.create({ data: article('hidden') });
    await strapi.documents('api::page.page').create({ data: { title: 'About', slug: 'about', tiles: [] } });
  });
});
afterAll(() => stage?.close());

const table = (rows: readonly Row[]) => runTable(() => stage, rows);
const html = 'text/html';

describe('record ids are everything after /record/, decoded once', () => {
  /** Raw path after `record/`, the id that it names, and how a returned path writes it (where that is settled). */
  const ids: [raw: string, id: string, path?: string][] = [
    ['simple', 'simple', 'simple'],
    ['a/b/c', 'a/b/c', 'a/b/c'],
    ['/tutorial/news', '/tutorial/news', '/tutorial/news'],
    ['//two', '//two', '//two'],
    ['a%2Fd', 'a/d', 'a/d'],
    ['with%20space', 'with space', 'with%20space'],
    ['per%2525cent', 'per%25cent', 'per%2525cent'],
    ['question%3Fmark', 'question?mark', 'question%3Fmark'],
    ['hash%23tag', 'hash#tag', 'hash%23tag'],
    ['plus+plus', 'plus+plus', 'plus+plus'],
    ['%C3%A9t%C3%A9', 'été', '%C3%A9t%C3%A9'],
    ['%F0%9F%8D%8E', '🍎', '%F0%9F%8D%8E'],
    ['end/', 'end/', 'end/'],
    ['a/../b', 'a/../b'],
    ['a%2F..%2Fc', 'a/../c'],
    ['..', '..'],
    ['a/.', 'a/.'],
    ['__proto__', '__proto__', '__proto__'],
    ['constructor', 'constructor', 'constructor'],
    ['records', 'records', 'records'],
    ['blocks/x/y', 'blocks/x/y', 'blocks/x/y'],
    ['some/edit', 'some/edit', 'some/edit'],
    ["it's", "it's", "it's"],
    ['semi;colon,=&$@!*()', 'semi;colon,=&$@!*()', 'semi;colon,=&$@!*()'],
    ['%22double%22%3Ctag%3E', '"double"<tag>', '%22double%22%3Ctag%3E'],
    ['x'.repeat(255), 'x'.repeat(255), 'x'.repeat(255)],
  ];
  test.each(ids)('%s', async (raw, id, written) => {
    const made = await stage.send<{ id: string; path: string }>({ send: `PUT open/record/${raw}`, json: { raw } });
    expect(made.status, made.text).toBe(201);
    expect(made.json.id).toBe(id);
    const base = `${stage.host.url}/site/@@apps/open/record/`;
    expect(decodeURIComponent(made.json.path)).toBe(base + id);
    // Sub-delimiters may be written either way, a slash may not.
    if (written) expect(made.json.path.split('/').length).toBe((base + written).split('/').length);
    // "A URL that works when requested": browsers and fetch resolve dot segments, and leave everything else.
    expect(new URL(made.json.path).href).toBe(made.json.path);
    const path = made.json.path.slice(stage.host.url.length);
    expect(path).toMatch(/^[\x21-\x7e]+$/);
    expect(path).not.toMatch(/[?#"<>]/);
    for (const address of [path, `open/record/${raw}`]) {
      expect((await stage.send({ send: `GET ${address}` })).json).toEqual({ raw, id });
    }
    expect((await stage.send({ send: `DELETE ${path}` })).status).toBe(200);
  });

  test('ids are compared byte by byte', async () => {
    const near = ['Case', 'case', 'CASE', 'cafe', 'café', 'cafe\u0301', 'tail', 'tail ', 'tail  ', ' tail', 'ß', 'ss'];
    for (const id of near) await stage.put('open', id, { me: id });
    for (const id of near) expect(await stage.items('open', id)).toEqual({ me: id, id });
    expect((await stage.send({ send: 'DELETE open/record/tail%20' })).status).toBe(200);
    expect(await stage.items('open', 'tail')).toEqual({ me: 'tail', id: 'tail' });
  });

  table([
    { it: 'a zero byte', send: 'PUT open/record/%00', json: {}, status: 400, error: 'BadRequestError' },
    { it: 'a line break', send: 'GET open/record/a%0Ab', status: 400, error: 'BadRequestError' },
    { it: 'a control character', send: 'DELETE open/record/a%7F', status: 400, error: 'BadRequestError' },
    { it: 'malformed encoding', send: 'GET open/record/%ZZ', status: 400, error: 'BadRequestError' },
    { it: 'half an encoding', send: 'GET open/record/%', status: 400, error: 'BadRequestError' },
    { it: 'no UTF-8', send: 'GET open/record/%FF', status: 400, error: 'BadRequestError' },
    { it: '256 characters', send: `GET open/record/${'x'.repeat(256)}`, status: 400, error: 'BadRequestError' },
    {
      it: '300 characters',
      send: `PUT open/record/${'x'.repeat(300)}`,
      json: {},
      status: 400,
      error: 'BadRequestError',
    },
    { it: 'no characters', send: 'GET open/record/', status: 400 },
    { it: 'an empty id in operation 5', send: 'POST open', json: { id: '' }, status: 400, error: 'BadRequestError' },
    {
      it: 'an id with a zero byte in operation 5',
      send: 'POST open',
      json: { id: 'a\u0000' },
      status: 400,
      error: 'BadRequestError',
    },
    {
      it: 'a long id in operation 5',
      send: 'POST open',
      json: { id: 'x'.repeat(256) },
      status: 400,
      error: 'BadRequestError',
    },
    {
      it: 'an object as id in operation 5',
      send: 'POST open',
      json: { id: { a: 1 } },
      status: 400,
      error: 'BadRequestError',
    },
  ]);
});

describe('ids of sites, apps, blocks and elements', () => {
  const bad = [
    '__proto__',
    'constructor',
    'prototype',
    '..',
    'a..b',
    '.hidden',
    '-dash',
    'a%2Fb',
    '%00',
    '%ZZ',
    'a%20b',
    'x'.repeat(300),
  ];
  table(
    bad.flatMap((id) => [
      { it: 'as a site', send: `GET /${id}/@@apps/open`, status: 404 },
      { it: 'as an app', send: `GET ${id}`, status: 404 },
      { it: 'as a block', send: `GET open/blocks/${id}`, status: 404 },
      { it: 'as an element', send: `GET open/blocks/values/${id}`, status: 404 },
    ]),
  );
  table([
    { it: 'an unknown site', send: 'GET /elsewhere/@@apps/open', status: 404 },
    { it: 'an app without an id', send: 'GET /site/@@apps/', status: 404 },
    { it: 'nothing after blocks', send: 'GET open/blocks/', status: 404 },
    { it: 'too many segments', send: 'GET open/blocks/values/info/more', status: 404 },
    { it: 'an unknown target', send: 'GET open/anything', status: 404 },
    { it: 'a path out of the app', send: 'GET open/../../../etc/passwd', status: 404 },
    { it: 'an encoded path out of the app', send: 'GET open%2F..%2Fplain', status: 404 },
  ]);
});

describe('addresses are made from the configured origin alone', () => {
  test.each(['host', 'x-forwarded-host', 'x-forwarded-proto', 'forwarded'])('%s is not believed', async (header) => {
    const value =
      header === 'x-forwarded-proto' ? 'https' : header === 'forwarded' ? 'host=evil.example' : 'evil.example';
    const made = await stage.send<{ path: string }>({ send: 'POST open', json: {}, headers: { [header]: value } });
    expect(made.json.path).toMatch(new RegExp(`^${stage.host.url}/site/@@apps/open/record/\\d+$`));
    const page = await stage.send({ send: 'GET open/blocks/note', accept: html, headers: { [header]: value } });
    expect(page.text).toContain(`action="${stage.host.url}/site/@@apps/open/blocks/note"`);
    expect(page.text).not.toContain('evil.example');
  });

  test.each([
    ['another name', 'other.example', true],
    ['its own name', '', false],
  ])('a page opened under %s may use the addresses in it', async (_what, name, other) => {
    const headers: Record<string, string> = other ? { host: name } : {};
    const page = await stage.send({ send: 'GET open/blocks/note', accept: html, headers });
    const policy = String(page.headers['content-security-policy']);
    const allowed = policy.includes(`form-action 'self' ${stage.host.url}`);
    expect([page.status, allowed, policy.includes('other.example')]).toEqual([200, other, false]);
  });
});

describe('JSON or page', () => {
  beforeAll(() => stage.put('open', 'shown', { title: 'Shown <b>' }));
  table([
    { it: 'Accept names JSON', send: 'GET open/record/shown', status: 200, is: { title: 'Shown <b>', id: 'shown' } },
    {
      it: 'among others',
      send: 'GET open/record/shown',
      accept: 'text/html, application/json;q=0.1',
      status: 200,
      gives: { id: 'shown' },
    },
    {
      it: 'Content-Type is JSON',
      send: 'GET open/record/shown',
      accept: '*/*',
      headers: { 'content-type': 'application/json' },
      status: 200,
      gives: { id: 'shown' },
    },
    {
      it: 'else a page',
      send: 'GET open/record/shown',
      accept: html,
      status: 200,
      has: ['Shown &lt;b&gt;'],
      lacks: ['Shown <b>'],
      answers: { 'content-type': /text\/html/ },
    },
    {
      it: 'anything is a page',
      send: 'GET open/record/shown',
      accept: '*/*',
      status: 200,
      answers: { 'content-type': /text\/html/ },
    },
    { it: 'records is JSON', send: 'GET open/records', accept: html, status: 200, answers: { 'content-type': /json/ } },
    {
      it: 'search is JSON',
      send: 'POST open/search',
      json: {},
      accept: html,
      status: 200,
      answers: { 'content-type': /json/ },
    },
    {
      it: 'a block page',
      send: 'GET open/blocks/note',
      accept: html,
      status: 200,
      answers: { 'content-type': /text\/html/ },
    },
    {
      it: 'a block as JSON',
      send: 'GET open/blocks/note',
      status: 200,
      answers: { 'content-type': /application\/json/ },
    },
    { it: 'a page not offered', send: 'GET open/blocks/note', accept: 'image/png', status: 406 },
    { it: 'an error as JSON', send: 'GET open/record/absent', status: 404, error: 'NotFoundError' },
    {
      it: 'an error as a page',
      send: 'GET open/record/absent',
      accept: html,
      status: 404,
      answers: { 'content-type': /text\/html/ },
    },
    {
      it: 'an error page escapes',
      send: 'GET open/record/%3Cscript%3E',
      accept: html,
      status: 404,
      lacks: ['<script>'],
    },
  ]);
  test('caches keep JSON and pages apart', async () => {
    for (const accept of ['application/json', html]) {
      const { headers } = await stage.send({ send: 'GET open/record/shown', accept });
      expect(headers.vary).toMatch(/Accept/);
    }
  });
});

describe('content paths', () => {
  const at = (path: string) => `GET /site/${path}/@@apps/logic/blocks/context/content`;
  table([
    {
      it: 'the portal at the root',
      send: 'GET logic/blocks/context/content',
      status: 200,
      gives: { title: 'Demo site', path: '/', slug: null },
    },
    {
      it: 'a published article',
      send: at('articles/one'),
      status: 200,
      gives: {
        type: 'api::article.article',
        title: 'Title of one',
        path: '/articles/one',
        slug: 'one',
        secret: null,
        got: 'Title of one',
        none: null,
      },
    },
    { it: 'a draft', send: at('articles/hidden'), status: 404, error: 'NotFoundError' },
    { it: 'nothing there', send: at('articles/absent'), status: 404, error: 'NotFoundError' },
    { it: 'a type that the requester may not read', send: at('about'), status: 404, error: 'NotFoundError' },
    { it: 'the same without rights at all', as: 'una', send: at('articles/one'), status: 404, error: 'NotFoundError' },
    { it: 'a path of nothing', send: at('a/b/c'), status: 404, error: 'NotFoundError' },
    { it: 'an odd path', send: at('articles/%00'), status: 404 },
    { it: 'a path out of the site', send: at('articles/../articles/one'), status: 404 },
    { it: 'for the app root as well', send: 'GET /site/articles/one/@@apps/open', status: 200, is: { debug: false } },
    { it: 'and its refusal', send: 'GET /site/articles/hidden/@@apps/open', status: 404, error: 'NotFoundError' },
  ]);

  test('the addresses of a page stay below the content', async () => {
    const page = await stage.send({ send: 'GET /site/articles/one/@@apps/open/blocks/note', accept: html });
    expect(page.text).toContain(`action="${stage.host.url}/site/articles/one/@@apps/open/blocks/note"`);
    const content = await stage.send<{ url: string; absolute: string[] }>({ send: at('articles/one') });
    expect(content.json.url).toBe(`${stage.host.url}/site/articles/one`);
    expect(content.json.absolute[0]).toBe(content.json.url);
  });
});

describe('the rest of the host', () => {
  table([
    { it: "Strapi's own API goes on", send: 'GET /api/articles', status: 200, gives: { data: [{ slug: 'one' }] } },
    {
      it: 'and refuses in its own words',
      send: 'GET /api/articles?sort=secret',
      status: 400,
      error: 'ValidationError',
    },
    { it: 'and forbids itself', send: 'GET /api/pages', status: 403, error: 'ForbiddenError' },
    { it: 'and says 404 itself', send: 'GET /api/nothing', status: 404 },
    {
      it: 'OPTIONS',
      send: 'OPTIONS open',
      headers: { origin: 'https://there.example', 'access-control-request-method': 'POST' },
      status: 204,
      answers: {
        'access-control-allow-origin': 'https://there.example',
        'access-control-allow-credentials': null,
        'access-control-allow-headers': /X-CSRF-TOKEN/,
      },
    },
    {
      it: 'OPTIONS from an origin that is not listed',
      send: 'OPTIONS open',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      status: 204,
      answers: { 'access-control-allow-origin': null, 'access-control-allow-credentials': null, allow: /POST/ },
    },
    ...['https://there.example', 'https://app.example'].map((origin) => ({
      it: `a page of ${origin} may read the token`,
      send: 'GET open',
      headers: { origin },
      status: 200,
      answers: {
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': null,
        'access-control-expose-headers': /X-CSRF-TOKEN/,
      },
    })),
    ...['https://evil.example', 'http://127.0.0.1:4000', 'null'].map((origin) => ({
      it: `a page of ${origin} may not`,
      send: 'GET open',
      headers: { origin },
      status: 200,
      answers: { 'access-control-allow-origin': null, 'access-control-allow-credentials': null },
    })),
  ]);
});
