import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorText } from '../errors';
import { contextOf, fakeHost, programOf, runOnce, startRuntime } from './testing/harness';
import type { LogicRuntime } from './types';

let runtime: LogicRuntime;
beforeAll(async () => {
  runtime = await startRuntime();
});
afterAll(() => runtime.destroy());

const value = async (body: string, host = fakeHost({ r: { total: 1, tags: ['a'], items: 'own', get: 'mine' } })) => {
  const record = { id: 'r', url: 'http://x/record/r', items: structuredClone(host.stored.r ?? {}) };
  const outcome = await runOnce(runtime, `async function f(context) { ${body} }`, {
    host,
    context: contextOf({ record }),
  });
  return outcome.ok ? outcome.value : `${outcome.error.name}: ${errorText(outcome.error)}`;
};

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

test('records() returns all records, a thousand at a time', async () => {
  const stored = Object.fromEntries(Array.from({ length: 2500 }, (_, n) => [`r${n}`, { total: n }]));
  const host = fakeHost(stored);
  expect(await value('const all = context.app.records(); return [all.length, all[2499].id, all.cursor]', host)).toEqual(
    [2500, 'r2499', null],
  );
});

test('a value that is added to an object later is checked before it is stored', async () => {
  await expect(value('context.record.l = []; context.record.l.push(NaN)')).rejects.toThrow(
    /the item l holds the number NaN/,
  );
});

test('the user of an anonymous request is null', async () => {
  const outcome = await runOnce(runtime, 'function f(context) { return context.api.user; }', {
    context: contextOf({ user: null }),
  });
  expect(outcome).toMatchObject({ ok: true, value: null });
});

describe('records', () => {
  const cases: [string, unknown][] = [
    [
      'const { record } = context; return [record.id, record.url, record.absolute_url()]',
      ['r', 'http://x/record/r', 'http://x/record/r'],
    ],
    [
      "const { record } = context; return [record.total, record['total'], record.get('total'), record.get('no'), record.get('no', 3), record.no]",
      [1, 1, 1, null, 3, null],
    ],
    [
      "const { record } = context; return ['total' in record, 'no' in record, 'id' in record, 'save' in record]",
      [true, false, true, false],
    ],
    [
      "const { record } = context; return [typeof record.items, record.get('items'), record.get('get'), record.items().items]",
      ['function', 'own', 'mine', 'own'],
    ],
    ['const { record } = context; delete record.total; return Object.keys(record)', ['id', 'tags', 'items', 'get']],
    ['return context.record', { id: 'r', total: 1, tags: ['a'], items: 'own', get: 'mine' }],
    ['return { ...context.record }.total', 1],
    ["return context.app.get_record('r') === context.record", true],
    ["return [context.app.get_record({ id: 'r' }).total, context.app.get_record('no')]", [1, null]],
    [
      "return [context.app.create_record('n').id, context.app.create_record({ id: 'm' }).id, context.app.create_record().id]",
      ['n', 'm', '1'],
    ],
    [
      "try { context.app.create_record('r') } catch (e) { return [e.name, e.message, e instanceof Error] }",
      ['ConflictError', 'The id r is taken', true],
    ],
    ["return [context.app.delete_record(context.record), context.app.get_record('r')]", [true, null]],
    ["context.app.delete_record('r'); context.record.total = 1", expect.stringMatching(/has been deleted/)],
    [
      'const page = context.app.records({ limit: 5 }); return [page.length, page.cursor, page[0] === context.record]',
      [1, null, true],
    ],
    [
      "for (let n = 0; n < 3; n += 1) context.app.create_record('n' + n); const page = context.app.records({ limit: 2 }); return [page.length, page.cursor, context.app.records({ limit: 9, cursor: page.cursor }).map((r) => r.id)]",
      [2, '2', ['n1', 'n2']],
    ],
    ["return [context.app.count(), context.app.search('total == 1').map((r) => r.total)]", [1, [1]]],
    ['context.record.items = 1', expect.stringMatching(/use set\('items', value\)/)],
    ["context.record.id = 'x'", expect.stringMatching(/id of a record cannot be changed/)],
    [
      'return [context.record.inc("total"), context.record.inc("total", 2), context.record.inc("new"), context.record.total]',
      [2, 4, 1, 4],
    ],
    ['context.record.inc("tags")', expect.stringMatching(/tags is not a number/)],
    [
      'context.record.big = 1n',
      expect.stringMatching(/:1: TypeError: the item big is a bigint, which JSON does not have$/),
    ],
    [
      'context.record.n = NaN',
      expect.stringMatching(/:1: TypeError: the item n is the number NaN, which JSON does not have$/),
    ],
    [
      'context.record.n = [1, { n: -Infinity }]',
      expect.stringMatching(/the item n holds the number -Infinity \("n"\)/),
    ],
    ['context.record.m = new Map()', expect.stringMatching(/the item m is a Map/)],
    ['context.record.m = { all: new Set() }', expect.stringMatching(/the item m holds a Set \("all"\)/)],
    ['context.record.u = undefined; return context.record.u', null],
    ['const a = {}; a.a = a; context.record.ring = a', expect.stringMatching(/circular/)],
    ['context.record.when = new Date(0); return context.record.when', '1970-01-01T00:00:00.000Z'],
    ['context.record.f = () => 1', expect.stringMatching(/the item f is a function, which JSON does not have/)],
    ["return context.record.set('a', 1).set({ b: 2 }).items().b", 2],
    ['return [context.record.display(), context.record.display({ edit: true })]', ['<p>r</p>', '<p>r</p>']],
    ["context.record.set_block('test'); return context.record.block", 'test'],
    ["context.record.__proto__ = 5; return Object.keys(context.record).includes('__proto__')", true],
  ];
  test.each(cases)('%s', async (body, expected) => {
    expect(await value(body)).toEqual(expected);
  });

  const writes: [string, unknown[]][] = [
    ['context.record.total += 1', [['changeRecord', null, 'r', { set: { total: 2 } }]]],
    ['context.record.tags.push("b")', [['changeRecord', null, 'r', { set: { tags: ['a', 'b'] } }]]],
    ['context.record.tags.length', []],
    [
      'context.record.inc("total", 2); context.record.inc("total")',
      [['changeRecord', null, 'r', { inc: { total: 3 } }]],
    ],
    ['context.record.total = 5; context.record.inc("total")', [['changeRecord', null, 'r', { set: { total: 6 } }]]],
    ['delete context.record.total', [['changeRecord', null, 'r', { unset: ['total'] }]]],
    [
      'context.record.total = 2; context.app.count(); context.app.count()',
      [
        ['changeRecord', null, 'r', { set: { total: 2 } }],
        ['count', null, null, null],
        ['count', null, null, null],
      ],
    ],
    [
      'context.record.save({ total: 3 }, { block_id: "test" })',
      [
        ['changeRecord', null, 'r', { set: { total: 3 } }],
        ['saveRecord', null, 'r', { block: 'test', creation: false, form: false }],
      ],
    ],
    [
      'context.record.save(context.request, { block: context.app.get_block("test"), creation: true })',
      [['saveRecord', null, 'r', { block: 'test', creation: true, form: true }]],
    ],
    [
      'context.record.display(); return context.record.total',
      [
        ['displayRecord', null, 'r', false],
        ['getRecord', null, 'r'],
      ],
    ],
    ['context.record.reindex()', [['reindexRecord', null, 'r']]],
    ["context.app.search('q', 'total', true)", [['search', null, 'q', { sort_index: 'total', reverse: true }]]],
    ["context.app.search({ query: 'q', limit: 2 })", [['search', null, 'q', { limit: 2 }]]],
    [
      "context.app.search('q', { names: { a: 1 }, offset: 3 })",
      [['search', null, 'q', { names: { a: 1 }, offset: 3 }]],
    ],
    [
      "context.get_app('other').get_record('r').total = 9",
      [
        ['openApp', 'other'],
        ['getRecord', 'other', 'r'],
        ['changeRecord', 'other', 'r', { set: { total: 9 } }],
      ],
    ],
    [
      "context.request.response.status = 404; context.request.response.set_header('X-A', 'b'); context.request.response.redirect('/x')",
      [
        ['respond', { status: 404 }],
        ['respond', { headers: { 'X-A': 'b' } }],
        ['respond', { redirect: '/x' }],
      ],
    ],
  ];
  test.each(writes)('%s asks the host', async (body, expected) => {
    const host = fakeHost({ r: { total: 1, tags: ['a'] } });
    expect(String(await value(body, host))).not.toMatch(/Error/);
    expect(host.calls).toEqual(expected);
  });
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

test('functions are the exports, or the functions of the top level', async () => {
  const cases: [Record<string, string>, string[]][] = [
    [{ 'blocks/a.js': 'export function a() {}\nfunction hidden() {}\nexport const b = () => 1, c = 5;' }, ['a', 'b']],
    [
      { 'blocks/a.js': 'function a() {}\nconst b = () => 1, c = 5;\nlet d = async function () {}; class E {}' },
      ['a', 'b', 'd'],
    ],
    [
      {
        'blocks/a.ts': "export * from '../lib/b';\nexport { x as y } from '../lib/b';",
        'lib/b.ts': 'export const x = (): number => 1;',
      },
      ['x', 'y'],
    ],
    [
      { 'blocks/a.js': 'export const { x, y: [z = () => 1, ...w] } = { x: () => 1, y: [] };\nexport default () => 1;' },
      ['default', 'x', 'z'],
    ],
    [
      { 'blocks/a.js': 'const x = () => 1;\nexport {\n x as a, x };\nexport default function b() {}' },
      ['a', 'default', 'x'],
    ],
    [
      { 'blocks/a.js': "import data from '../lib/d.json';\nfunction a() { return data.k }", 'lib/d.json': '{"k": 1}' },
      ['a'],
    ],
  ];
  for (const [files, names] of cases) {
    const program = programOf(files, Object.keys(files)[0]);
    const session = await runtime.open(program, contextOf(), fakeHost(), runtime.budget());
    expect([...session.functions].sort()).toEqual(names);
    session.close();
  }
});

test('imports run: named, default, JSON, circular, TypeScript', async () => {
  const program = programOf(
    {
      'blocks/a.ts':
        "import data from '../lib/d.json';\nimport add, { twice as t } from '../lib/b';\nimport * as all from '../lib/b';\nexport const f = (): number => data.k + add(1, 2) + t(5) + all.twice(1);",
      'lib/b.ts':
        "import { f } from '../blocks/a';\nexport default (a: number, b: number) => a + b;\nexport const twice = (x: number) => 2 * x + (f ? 0 : 1);",
      'lib/d.json': '{"k": 100}',
    },
    'blocks/a.ts',
  );
  expect(await runOnce(runtime, program)).toEqual({ ok: true, defined: true, value: 115 });
});
