import { describe, expect, test } from 'vitest';
import { contextOf, fakeHost, programOf, runBody, runOnce, useRuntime } from './testing/harness';

const runtime = useRuntime();

const value = (body: string, host?: ReturnType<typeof fakeHost>) => runBody(runtime, body, host);

describe('context', () => {
  const cases: [string, unknown][] = [
    [
      'return [context.app.id, context.app.url, context.app.absolute_url()]',
      ['app', 'http://x/site/@@apps/app', 'http://x/site/@@apps/app'],
    ],
    ['return [context.app.settings.debug, context.app.indexes]', [true, ['id', 'total']]],
    ['return context.app.options.colour', 'red'],
    ['return context.app.blocks.map((b) => b.id)', ['test']],
    ["return context.app.get_block('test').url", 'http://x/site/@@apps/app/blocks/test'],
    ["return context.app.get_block({ block_id: 'test' }).absolute_url()", 'http://x/site/@@apps/app/blocks/test'],
    ["return context.app.get_block('no')", null],
    [
      'const { acl } = context.app; return [acl.current_user(), acl.current_user_groups(), acl.roles(), acl.is_manager()]',
      ['eric', ['editors'], ['boss', 'king'], false],
    ],
    [
      "const { acl } = context.app; return [acl.has_access_right({ access_right: 'author' }), acl.has_role({ role_id: 'boss' }), acl.has_role({ role_id: 'x' })]",
      [true, true, false],
    ],
    [
      "const { acl } = context.app; return [acl.has_access_right('author'), acl.has_access_right('editor'), acl.has_role('boss'), acl.has_role('x')]",
      [true, false, true, false],
    ],
    ['return [context.block.id, context.block.absolute_url()]', ['test', 'http://x/site/@@apps/app/blocks/test']],
    [
      'const r = context.request; return [r.method, r.path, r.query.q, r.form.form, r.body.body, r.headers.accept]',
      ['POST', '/site/@@apps/app/blocks/test', '1', 'yes', 5, 'text/html'],
    ],
    [
      "const r = context.request; return [r.get('form'), r.get('body'), r.get('q'), r.get('no'), r.get('no', 7), r.has('q'), r.has('no'), r.has('toString')]",
      ['yes', 5, '1', null, 7, true, false, false],
    ],
    ['return context.parent_request', null],
    [
      'const p = context.portal; return [p.id, p.title, p.url, p.theme, p.absolute_url()]',
      ['site', 'Site', 'http://x/site', 'basic', 'http://x/site'],
    ],
    ['return [context.portal.time_zone, new Date(context.now) - Date.now() > -5000]', ['Europe/Berlin', true]],
    ['return /^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\+0[12]:00$/.test(context.now)', true],
    [
      "const p = context.portal; return [p.day_begin('2026-03-29'), p.day_begin('2026-03-29', 1), p.day_begin({ day: new Date(0), days: -1 })]",
      ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z', '1969-12-30T23:00:00.000Z'],
    ],
    ['return context.portal.day_begin() === context.portal.day_begin(context.now)', true],
    [
      "const wrong = (work) => { try { work(); } catch (error) { return error.name; } }; const p = context.portal; return [wrong(() => p.day_begin('x')), wrong(() => p.day_begin(5)), wrong(() => p.day_begin('2026-03-29', 0.5)), wrong(() => { context.now = 1; })]",
      ['RangeError', 'TypeError', 'TypeError', 'TypeError'],
    ],
    [
      "return [context.portal.get('/x').title, context.portal.get({ path: '/none' }), context.api.content.get({ path: '/x' }).slug]",
      ['News', null, 'news'],
    ],
    [
      'const c = context.content; return [c.type, c.id, c.documentId, c.title, c.slug, c.url, c.path]',
      ['api::article.article', '1', 'd1', 'News', 'news', 'http://x/site/articles/news', '/articles/news'],
    ],
    [
      'const c = context.content; return [c.absolute_url(), c.absolute_url_path()]',
      ['http://x/site/articles/news', '/articles/news'],
    ],
    ["const c = context.content; c.update({ title: 'New' }); return c.title", 'New'],
    ["return context.api.documents('api::a.a').findMany({ limit: 1 })", [{ uid: 'api::a.a' }]],
    [
      "return Object.keys(context.api.documents('x')).sort()",
      [
        'count',
        'create',
        'delete',
        'discardDraft',
        'findFirst',
        'findMany',
        'findOne',
        'publish',
        'unpublish',
        'update',
      ],
    ],
    ['return context.api.user.username', 'eric'],
    [
      "return [context.get_app('other').id, context.get_app({ id: 'other' }).acl.is_manager(), context.get_app('none')]",
      ['other', true, null],
    ],
    ["return context.get_app('app') === context.app", true],
    ['return context.params.p', 1],
    ['return context.escape(`<a href="x">&\'`)', '&lt;a href=&quot;x&quot;&gt;&amp;&#39;'],
    ['return [context.escape(null), context.escape(5)]', ['', '5']],
    ['context.app = 1', expect.stringMatching(/^LogicError: blocks.test.js:1: TypeError: Cannot set property app/)],
    ['return this === undefined', true],
    ['return arguments.length', 1],
  ];
  test.each(cases)('%s', async (body, expected) => {
    expect(await value(body)).toEqual(expected);
  });
});

test('the user of an anonymous request is null', async () => {
  const outcome = await runOnce(runtime, 'function f(context) { return context.api.user; }', {
    context: contextOf({ user: null }),
  });
  expect(outcome).toMatchObject({ ok: true, value: null });
});

test.each([
  ['js', 'export function f({ request: r }) { return [r.get("n", 7), r.get("n"), r.has("n"), r.get("no", 7)]; }'],
  ['py', 'def f(context):\n    r = context.request\n    return r.get("n", 7), r.get("n"), r.has("n"), r.get("no", 7)'],
])('%s: null in a JSON body is a value, in place of which no default is given', async (language, source) => {
  const path = `blocks/test.${language}`;
  const context = contextOf({ request: { ...contextOf().request, body: { n: null } } });
  const outcome = await runOnce(runtime, programOf({ [path]: source }, path), { context });
  expect(outcome).toMatchObject({ ok: true, value: [null, null, true, 7] });
});

describe('wrong arguments are errors in the logic', () => {
  const cases: [string, RegExp][] = [
    ['context.app.get_record()', /get_record: an id is needed/],
    ['context.app.get_record(new Map())', /an id or a record is needed/],
    ["context.app.search('q', { limit: 'x' })", /options\.limit must be a whole number/],
    ["context.app.search('q', { nothing: 1 })", /has no option nothing/],
    ['context.app.search(5)', /query must be a string/],
    ['context.request.response.status = "x"', /status must be an HTTP status/],
    ["context.request.response.redirect('http://evil/')", /Redirect not allowed/],
    ['context.content.update("x")', /data must be an object/],
    ["context.api.documents('x').findMany(5)", /params must be an object/],
  ];
  test.each(cases)('%s', async (body, message) => {
    const host = fakeHost({});
    const caught = await value(`try { ${body} } catch (error) { return error.message }`, host);
    expect(caught).toMatch(message);
  });
});

test('log has the line, and accepts values other than text', async () => {
  const host = fakeHost();
  await runOnce(runtime, 'function f(context) {\n context.app.log("one");\n\n context.app.log({ a: 1 }, 2);\n}', {
    host,
  });
  expect(host.logs).toEqual([
    { app: 'app', block: 'test', line: 2, message: 'one' },
    { app: 'app', block: 'test', line: 4, message: '{"a":1} 2' },
  ]);
});
