import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { grantRole } from './support/seed';
import { openStage, type Stage } from './support/stage';
import { runTable } from './support/table';

const themesDirectory = path.resolve(__dirname, 'fixtures', 'site-themes');

const hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>javascript:alert(1)`;

/** Articles whose addresses say what they are for. */
const articles: { slug: string; title: string; summary?: string; tiles?: string[]; draft?: boolean }[] = [
  { slug: 'plain', title: 'Plain', summary: 'A summary' },
  { slug: 'rules', title: 'Rules', tiles: ['show/blocks/where'] },
  { slug: 'replace', title: 'Replace' },
  { slug: 'nested', title: 'Nested' },
  { slug: 'conditional', title: 'Conditional' },
  { slug: 'failing', title: 'Failing' },
  { slug: 'looping', title: 'Looping', tiles: ['show/blocks/hello'] },
  { slug: 'unbalanced', title: 'Unbalanced' },
  {
    slug: 'tiles',
    title: 'Tiles',
    tiles: [
      'show/blocks/hello?who=tile',
      'bad/blocks/fails',
      'show/blocks/secret',
      'no such thing',
      'bad/blocks/syntax',
      'show/blocks/hello?who=last',
    ],
  },
  { slug: 'hostile', title: hostile, summary: hostile, tiles: [hostile] },
  { slug: 'hidden-draft', title: 'Draft', draft: true },
];

async function makeArticles(stage: Stage): Promise<void> {
  for (const role of ['Public', 'readers', 'editors', 'managers']) {
    await grantRole(stage.host, role, ['api::article.article.find', 'api::article.article.findOne']);
  }
  await grantRole(stage.host, 'readers', ['api::page.page.find']);
  await stage.host.run(async (strapi, articles) => {
    for (const { slug, title, summary, tiles = [], draft } of articles) {
      const data = {
        slug,
        title,
        summary,
        secret: 'hush',
        tiles: tiles.map((block) => ({ __component: 'tiles.block', block })),
      };
      await strapi
        .documents('api::article.article')
        .create({ data: data as never, status: draft ? 'draft' : 'published' });
    }
    await strapi.documents('api::page.page').create({ data: { title: 'Members', slug: 'members' } });
  }, articles);
}

const page = { accept: 'text/html' } as const;

describe('pages of the site', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({ themesDirectory });
    await makeArticles(stage);
  });
  afterAll(() => stage?.close());

  const html = async (send: string, as = 'nobody') => (await stage.send({ ...page, send, as })).text;
  const whereIn = (text: string) =>
    JSON.parse(/<div class="where">(.*?)<\/div>/s.exec(text)?.[1]?.replaceAll('&quot;', '"') ?? 'null');
  const where = async (send: string, as?: string) => whereIn(await html(send, as));

  describe('theme pages', () => {
    runTable(
      () => stage,
      [
        {
          it: 'the root is the portal',
          ...page,
          send: 'GET /site/',
          status: 200,
          has: ['<body class="portal">', '<h1>Demo site</h1>'],
        },
        { it: 'the root without a slash', ...page, send: 'GET /site', status: 200, has: ['<body class="portal">'] },
        {
          it: 'an article in its template',
          ...page,
          send: 'GET /site/articles/plain',
          status: 200,
          has: ['<body class="api::article.article">', '<h1>Plain</h1>', '<p class="summary">A summary</p>'],
          lacks: ['hush'],
        },
        {
          it: 'single braces of a layout are text',
          ...page,
          send: 'GET /site/articles/plain',
          status: 200,
          has: ['unclosed {keep} &copy\n'],
        },
        {
          it: 'no such content is told in the theme',
          ...page,
          send: 'GET /site/articles/none',
          status: 404,
          has: ['<h1>Not found</h1>', '<footer>End</footer>'],
          answers: { etag: null, 'cache-control': 'private, no-store' },
        },
        {
          it: 'to a JSON client as JSON',
          accept: 'application/json, text/html',
          send: 'GET /site/@@none',
          status: 404,
        },
        { it: 'a draft', ...page, send: 'GET /site/articles/hidden-draft', status: 404 },
        { it: 'what the requester may not read', ...page, send: 'GET /site/members', status: 404 },
        {
          it: 'what the requester may read',
          ...page,
          as: 'rita',
          send: 'GET /site/members',
          status: 200,
          has: ['<h1>Members</h1>', '</header>'],
        },
        { it: 'a listing is no page', ...page, send: 'GET /site/articles', status: 404 },
        { it: 'HEAD', ...page, send: 'HEAD /site/articles/plain', status: 200 },
        {
          it: 'OPTIONS',
          ...page,
          send: 'OPTIONS /site/articles/plain',
          status: 204,
          answers: { allow: 'GET, HEAD, OPTIONS' },
        },
        {
          it: 'POST',
          ...page,
          send: 'POST /site/articles/plain',
          status: 405,
          answers: { allow: 'GET, HEAD, OPTIONS' },
        },
        { it: 'JSON is not offered', send: 'GET /site/articles/plain', status: 406 },
        {
          it: 'unknown content, asked for as JSON',
          send: 'GET /site/articles/none',
          status: 404,
          error: 'NotFoundError',
        },
        { it: 'an unknown view, asked for as JSON', send: 'GET /site/@@none', status: 404, error: 'NotFoundError' },
        { it: 'no such site is Strapi’s', ...page, send: 'GET /nosite/articles/plain', status: 404 },
        {
          it: 'stored markup is text everywhere',
          ...page,
          send: 'GET /site/articles/hostile',
          status: 200,
          lacks: ['<script>alert', '<img src=x', "'><img"],
          has: ['&lt;script&gt;alert(1)&lt;/script&gt;'],
        },
      ],
    );
  });

  describe('theme rules', () => {
    runTable(
      () => stage,
      [
        {
          it: 'append, always',
          ...page,
          send: 'GET /site/articles/plain',
          status: 200,
          has: [/<div class="comments"><form name="where"/],
        },
        {
          it: 'before, for a path',
          ...page,
          send: 'GET /site/articles/rules',
          status: 200,
          has: [/<b class="hello">Hello rule<\/b>\n<\/form><footer>/],
        },
        {
          it: 'after, with select, for a glob',
          ...page,
          send: 'GET /site/articles/rules',
          status: 200,
          has: ['<footer>End</footer><b class="hello">Hello after</b>\n</body>'],
        },
        {
          it: 'not for other paths',
          ...page,
          send: 'GET /site/articles/plain',
          status: 200,
          lacks: ['Hello rule', 'Hello after', 'Hello replaced'],
        },
        {
          it: 'replace, for the whole path',
          ...page,
          send: 'GET /site/articles/replace',
          status: 200,
          has: ['Hello replaced'],
          lacks: ['<header'],
        },
        {
          it: 'prepend, for content',
          ...page,
          send: 'GET /site/articles/conditional',
          status: 200,
          has: [/<main id="main"><form name="hello"/],
        },
        { it: 'not for other content', ...page, send: 'GET /site/articles/plain', status: 200, lacks: ['Hello first'] },
        {
          it: 'a rule does not reach into forms',
          ...page,
          send: 'GET /site/articles/nested',
          status: 200,
          lacks: ['Hello second', 'Hello inform', 'Hello void'],
        },
        {
          it: 'a failing include leaves the page whole',
          ...page,
          send: 'GET /site/articles/failing',
          status: 200,
          has: ['<div class=slot></div><div class=slot2></div>', '<footer>End</footer>'],
          lacks: ['boom', 'apps-error'],
        },
        {
          it: 'an include that is not permitted',
          ...page,
          send: 'GET /site/articles/plain',
          status: 200,
          has: ['<div class=slot></div>'],
          lacks: ['For editors'],
        },
        {
          it: 'the same for whom it is permitted',
          ...page,
          as: 'eric',
          send: 'GET /site/articles/plain',
          status: 200,
          has: ['For editors: eric'],
        },
        {
          it: 'an include that is not balanced',
          ...page,
          send: 'GET /site/articles/unbalanced',
          status: 200,
          has: [
            /<div class=slot><form name="unbalanced".*<\/form>\s*<div>open <!-- not closed.*--><\/div><\/div><div class=slot2>/s,
          ],
        },
      ],
    );

    test('the page stays byte for byte what it was outside', async () => {
      const text = await html('GET /site/articles/failing');
      const without = text.replace(/<form name="where".*?<\/form>/s, '');
      expect(without).toBe(
        '<!DOCTYPE html>\r\n<HTML lang=en>\n<head><meta charset=utf-8><title>Failing</title>\n' +
          `<script src="${stage.host.url}/site/@@apps.js" defer></script></head>\n<body class="api::article.article">\n` +
          '<!-- kept   as  it is -->\n<header id=top>Demo site </header>\n<p>unclosed {keep} &copy\n<main id="main">' +
          '<article><h1>Failing</h1><p class="summary"></p><div class="comments"></div></article>\n</main>\n' +
          '<img id=void src=x.png>\n<div class=slot></div><div class=slot2></div><form id=own><i id=inform></i></form>\n' +
          '<footer>End</footer>\n</body>\n</HTML>\n',
      );
    });

    test('all logic of a page shares one budget, and what comes too late is left out', async () => {
      const begin = performance.now();
      const { status, text } = await stage.send({ ...page, send: 'GET /site/articles/looping' });
      expect(performance.now() - begin).toBeLessThan(4_000);
      expect(status).toBe(200);
      expect(text).toContain('<footer>End</footer>');
      expect(text).not.toContain('name="loops"');
    });

    test('a broken rule is told to the log, with its place', () => {
      const told = stage.host.output().match(/rules\.yaml:\d+:\d+: [^"\\,]{0,40}/g);
      expect(new Set(told)).toEqual(
        new Set([
          'rules.yaml:43:11: 15.before: This is not a CSS selector: E',
          'rules.yaml:45:3: 16: A rule needs exactly one of before',
          "rules.yaml:49:12: 17.include: This must be a block's addre",
          'rules.yaml:51:3: 18.inclde: The key ',
        ]),
      );
    });
  });

  describe('what an embedded block knows', () => {
    test('by a rule', async () => {
      expect(await where('GET /site/articles/plain?page=2', 'rita')).toEqual({
        type: 'api::article.article',
        title: 'Plain',
        path: '/articles/plain',
        portal: 'site',
        parent: '/site/articles/plain',
        request: '/site/articles/plain/@@apps/show/blocks/where',
        query: {},
        method: 'GET',
        secret: null,
        headers: [],
      });
    });

    test('as a view', async () => {
      expect(await where('GET /site/articles/plain/@@where')).toMatchObject({
        title: 'Plain',
        parent: null,
        request: '/site/articles/plain/@@where',
      });
      expect(await where('GET /site/@@where')).toMatchObject({ type: 'portal', path: '/', parent: null });
    });

    test('by a tile', async () => {
      const text = await html('GET /site/articles/rules');
      expect(text.match(/name="where"/g)).toHaveLength(2);
      expect(whereIn(text.slice(text.indexOf('<section><form name="where"')))).toMatchObject({
        type: 'api::article.article',
        path: '/articles/rules',
        portal: 'site',
        parent: '/site/articles/rules',
        request: '/site/articles/rules/@@apps/show/blocks/where',
        method: 'GET',
        secret: null,
      });
    });

    test('alone', async () => {
      expect(await where('GET /site/articles/plain/@@apps/show/blocks/where')).toMatchObject({
        title: 'Plain',
        parent: null,
      });
    });
  });

  describe('tiles', () => {
    runTable(
      () => stage,
      [
        {
          it: 'what fails is marked in its place, what is not permitted is left out',
          ...page,
          send: 'GET /site/articles/tiles',
          status: 200,
          has: [
            'Hello tile',
            'Hello last',
            /<section><span class="apps-error" role="alert">This part could not be shown<\/span><\/section>/,
            '<section></section>',
          ],
          lacks: ['boom', 'For editors'],
        },
        {
          it: 'a manager is told why',
          ...page,
          as: 'mona',
          send: 'GET /site/articles/tiles',
          status: 200,
          has: ['boom', 'is not a block such as rating/blocks/rate', 'For editors'],
        },
      ],
    );
  });

  describe('views', () => {
    runTable(
      () => stage,
      [
        {
          it: 'in the theme',
          ...page,
          send: 'GET /site/articles/plain/@@themed',
          status: 200,
          has: ['<footer>End</footer>', '<form name="themed"', '<i>A summary null</i> in Plain'],
        },
        {
          it: 'in the theme, at the root',
          ...page,
          send: 'GET /site/@@themed',
          status: 200,
          has: ['<footer>End</footer>'],
        },
        { it: 'of the default site', ...page, send: 'GET /@@themed', status: 200, has: ['<footer>End</footer>'] },
        {
          it: 'the form alone',
          ...page,
          headers: { 'x-requested-with': 'XMLHttpRequest' },
          send: 'GET /site/@@themed',
          status: 200,
          has: [/^<form name="themed"/],
          lacks: ['<footer>'],
        },
        {
          it: 'without the theme',
          ...page,
          send: 'GET /site/@@plain',
          status: 200,
          has: ['class="plain"', '<!doctype html>'],
          lacks: ['<footer>'],
        },
        { it: 'no such view', ...page, send: 'GET /site/@@none', status: 404 },
        { it: 'on no such content', ...page, send: 'GET /site/articles/none/@@themed', status: 404 },
        { it: 'on a draft', ...page, send: 'GET /site/articles/hidden-draft/@@themed', status: 404 },
        { it: 'on content that may not be seen', ...page, send: 'GET /site/members/@@themed', status: 404 },
        { it: 'without its permission, anonymous', ...page, send: 'GET /site/@@secret-view', status: 401 },
        { it: 'without its permission, known', ...page, as: 'rita', send: 'GET /site/@@secret-view', status: 403 },
        {
          it: 'with its permission',
          ...page,
          as: 'eric',
          send: 'GET /site/@@secret-view',
          status: 200,
          has: ['For editors: eric'],
        },
        {
          it: 'that redirects inside the site',
          ...page,
          send: 'GET /site/@@away',
          status: 303,
          answers: { location: /\/site\/articles\/rules$/ },
        },
        ...[
          '//evil.example',
          'https:evil.example',
          '/\\evil.example',
          'https://evil.example/',
          'javascript:alert(1)',
          '\t//evil.example',
        ].map((to) => ({
          it: `that redirects to ${JSON.stringify(to)}`,
          ...page,
          send: `GET /site/@@away?to=${encodeURIComponent(to)}`,
          status: 400,
          answers: { location: null },
        })),
        {
          it: 'that sets a header',
          ...page,
          send: 'GET /site/@@header?value=fine',
          status: 200,
          answers: { 'x-app-note': 'fine' },
        },
        {
          it: 'that sets a header with a line break',
          ...page,
          send: 'GET /site/@@header?value=a%0d%0aSet-Cookie:%20x=1',
          status: 500,
          answers: { 'x-app-note': null, 'set-cookie': null },
        },
      ],
    );
  });

  describe('caching', () => {
    runTable(
      () => stage,
      [
        {
          it: 'a page with a form is kept by nobody',
          ...page,
          send: 'GET /site/articles/plain',
          status: 200,
          answers: {
            'cache-control': 'private, no-store',
            etag: null,
            vary: /Authorization, Cookie, Accept, X-Requested-With/i,
          },
        },
        {
          it: 'a page without one has an ETag',
          ...page,
          send: 'GET /site/',
          status: 200,
          answers: { 'cache-control': 'public, no-cache', etag: /^"[\w-]{22}"$/, vary: /Authorization, Cookie/ },
        },
        {
          it: 'a page of a user is private',
          ...page,
          as: 'rita',
          send: 'GET /site/members',
          status: 200,
          answers: { 'cache-control': 'private, no-cache' },
        },
      ],
    );

    test('304 for who has it, 200 for who is somebody else', async () => {
      const { etag } = (await stage.send({ ...page, send: 'GET /site/' })).headers;
      const again = { ...page, send: 'GET /site/', headers: { 'if-none-match': String(etag) } };
      expect((await stage.send(again)).status).toBe(304);
      expect((await stage.send({ ...again, as: 'rita' })).status).toBe(200);
    });
  });
});

describe('themes with little or nothing in them', () => {
  test.each([
    ['empty', 'APPS_THEME', 'empty', /<main><article>\n<h1>Demo site<\/h1>/],
    ['with a broken rules.yaml', 'APPS_THEME', 'broken', /<footer>End<\/footer>/],
  ])('%s', async (_, name, value, expected) => {
    const stage = await openStage({ themesDirectory, env: { [name]: value } });
    try {
      const { status, text } = await stage.send({ ...page, send: 'GET /site/' });
      expect(status, text).toBe(200);
      expect(text).toMatch(expected);
    } finally {
      await stage.close();
    }
  });
});
