import { describe, expect, test } from 'vitest';
import { contextOf, fakeHost, programOf, useRuntime } from './testing/harness';
import type { ContextData, LogicProgram } from './types';

const runtime = useRuntime();

const request = {
  method: 'GET',
  url: 'http://x/site/page?q=1&page=2',
  path: '/site/page',
  query: { q: '1', page: '2', tag: ['a', 'b'] },
  form: {},
  body: null,
  headers: { accept: 'text/html', referer: 'http://y/' },
};
const given = contextOf({ request, parent_request: { ...request, path: '/site' } });

/** What `f` of the program has looked at, sorted; the properties of `context` are asked for as well. */
async function lookedAt(program: LogicProgram, context: ContextData = given): Promise<string[]> {
  const session = await runtime.open(program, context, fakeHost({ r: { total: 1 } }), runtime.budget());
  try {
    await session.call([{ name: 'f', contained: true }]);
    await session.properties();
    return [...session.looked].sort();
  } finally {
    session.close();
  }
}

const query = ['request.query'];
const all = (name: string) =>
  ['body', 'form', 'headers', 'method', 'path', 'query', 'url'].map((part) => `${name}.${part}`);

const javascript: [body: string, names: string[]][] = [
  ['', []],
  ["return context.app.search('total > 0').length", []],
  ["context.app.log('x'); console.log({ a: 1 }); context.mine = { a: 1 }", []],
  ['return [context.params.p, context.content.title, context.record, context.portal.title, context.app.options]', []],
  ['const { request, api, app, parent_request } = context; return [!!request, !!api, !!app.acl, !!parent_request]', []],
  // The query
  ['const { q } = context.request.query; return q', ['request.query.q']],
  ['return context.request.query.none?.length', ['request.query.none']],
  ["return 'q' in context.request.query", ['request.query.q']],
  ["return context.request.query.hasOwnProperty('q')", ['request.query.hasOwnProperty', 'request.query.q']],
  ["return Object.hasOwn(context.request.query, 'q')", ['request.query.q']],
  ["return Object.getOwnPropertyDescriptor(context.request.query, 'q').value", ['request.query.q']],
  ['return context.request.query.tag.map((tag) => tag)', ['request.query.tag']],
  ['return Object.keys(context.request.query)', query],
  ['return Reflect.ownKeys(context.request.query)', query],
  ['return Object.entries(context.request.query)', query],
  ['return { ...context.request.query }', query],
  ['return structuredClone(context.request.query)', query],
  // `await` asks a result for its `then`.
  ['return context.request.query', ['request.query', 'request.query.then']],
  ['const { q, ...rest } = context.request.query; return rest', ['request.query', 'request.query.q']],
  ['context.mine = context.request.query', query],
  ['console.log(context.request.query)', query],
  ["context.app.search('total > 0', context.request.query)", query],
  ["context.request.query.q = '5'; context.request.query = {}", ['request.query.q']],
  ['Object.freeze(context.request.query); return context.request.query.q', query],
  ['Object.prototype.get = Object.prototype.has = 5; return context.request.query.q', ['request.query.q']],
  ['Object.prototype.get = 5; Object.prototype.value = 5; return Math.floor(0.5) + new Date(0)', []],
  // Headers and form
  ["return context.request.headers['Accept-Language']", ['request.headers.accept-language']],
  ['for (const k in context.request.headers) return k', ['request.headers']],
  ['return context.request.form.title', ['request.form.title']],
  // The request
  ["return context.request.get('x')", ['request.body', 'request.form.x', 'request.query.x']],
  ["return context.request.has('x')", ['request.body', 'request.form.x', 'request.query.x']],
  ['return context.request.URL', ['request.url']],
  ['return context.request.url', ['request.url']],
  ['return [context.request.path, context.request.method]', ['request.method', 'request.path']],
  ['return JSON.stringify(context.request)', all('request')],
  ['return JSON.stringify({ ...context.parent_request })', all('parent_request')],
  ['return context.parent_request.query.q', ['parent_request.query.q']],
  [
    "return context.parent_request.get('x')",
    ['parent_request.body', 'parent_request.form.x', 'parent_request.query.x'],
  ],
  ['context.request.response.set_header("X-A", "1"); return context.request.response.status', []],
  // The clock
  ['return new Date(0).toLocaleString() + new Date("2026-01-01").getDay() + Date.UTC(2026, 1)', []],
  ['return new Date()', ['clock']],
  ['return Date()', ['clock']],
  ['return Date.now()', ['clock']],
  ['return context.now', ['clock']],
  ['return context.portal.day_begin()', ['clock']],
  ["return context.portal.day_begin('2026-03-01', 1)", []],
  ['return Reflect.construct(Date, [])', ['clock']],
  ['class Day extends Date {} return [new Day(0) instanceof Day, new Day(0) instanceof Date]', []],
  ['class Day extends Date {} return new Day()', ['clock']],
  ['return new (new Date(0).constructor)()', ['clock']],
  ['return structuredClone(new Date(0))', []],
  ['const f = new Intl.DateTimeFormat("en"); return [f.format === f.format, f.format(0), f.formatToParts(0)]', []],
  ['return new Intl.DateTimeFormat("en").format()', ['clock']],
  ['return new Intl.DateTimeFormat("en").formatToParts()', ['clock']],
  ['return [0, 1].map(new Intl.DateTimeFormat("en").format)', []],
  ['console.time("a"); console.timeEnd("a")', ['clock']],
  ['Date.now = () => 5; return context.now', ['clock']],
  [
    'globalThis.Proxy = Reflect.construct = Object.defineProperty = WeakMap.prototype.get = () => 5; return new Date()',
    ['clock'],
  ],
  ['return [typeof performance, typeof Temporal?.Now]', []],
  // Random numbers
  ['return Math.random()', ['random']],
  ['return crypto.randomUUID()', ['random']],
  ['return crypto.getRandomValues(new Uint8Array(2))', ['random']],
  ['Math.random = () => 5; return Math.random()', []],
  ['const real = Math.random; Math.random = () => 5; return real()', ['random']],
  // The requester
  ['return context.api.user.username', ['user']],
  ['return Object.entries(context.api.user ?? {})', ['user']],
  ['return Object.entries(context.user ?? {})', []],
  ['return JSON.stringify(context.api)', ['user']],
  ['return context.visitor?.id', ['visitor']],
  ['return context.app.acl.current_user()', ['acl']],
  ["return context.app.acl.has_role('boss')", ['groups']],
  ["return context.app.acl.has_access_right('author')", ['groups']],
  ['return [context.app.acl.current_user_groups(), context.app.acl.roles(), context.app.acl.is_manager()]', ['groups']],
  // Built-ins that were changed
  ['Object.keys = () => []; return JSON.stringify(context.request.query)', query],
  [
    'JSON.stringify = () => "x"; Set.prototype.has = Array.prototype.push = () => 5; return context.request.query.q',
    ['request.query.q'],
  ],
  ['Object.defineProperty(Array.prototype, 0, { set() {} }); return context.request.query.q', ['request.query.q']],
  [
    'Reflect.get = Reflect.ownKeys = () => 5; globalThis.Proxy = null; return context.request.query.q',
    ['request.query.q'],
  ],
  ['String.prototype.toLowerCase = () => "x"; return context.request.headers.Accept', ['request.headers.accept']],
  // Functions that fail
  ['throw new Error(context.request.query.q)', ['request.query.q']],
  ["throw { get message() { return '' }, ...context.request.query }", query],
  // The limits
  ["for (let n = 0; n < 201; n += 1) context.request.query['x' + n]", ['everything']],
  ["return context.request.query['x'.repeat(200)]", ['everything']],
  ["return context.request.query['\\ud800\\n']", ['request.query.\ud800\n']],
];

describe('JavaScript', () => {
  test.each(javascript)('%s', async (body, names) => {
    const found = await lookedAt(programOf(`export function f(context) { ${body} }`));
    expect(found).toEqual(names);
  });

  const modules: [name: string, files: Record<string, string>, names: string[]][] = [
    ['at the top level', { 'blocks/test.js': 'const t = Date.now(); export const f = () => t' }, ['clock']],
    [
      'in modules that modules import',
      {
        'blocks/test.js': "import { a } from '../lib/a'; export const f = () => a",
        'lib/a.js': "import { b } from './b'; export const a = b",
        'lib/b.js': 'export const b = Math.random()',
      },
      ['random'],
    ],
    [
      'in a function of a module',
      {
        'blocks/test.js': "import { page } from '../lib/a'; export const f = (context) => page(context)",
        'lib/a.js': 'export const page = ({ request: { query } }) => query.page ?? 1',
      },
      ['request.query.page'],
    ],
  ];
  test.each(modules)('%s', async (_name, files, names) => {
    expect(await lookedAt(programOf(files))).toEqual(names);
  });

  test('there is no parent request', async () => {
    const program = programOf('export const f = (context) => context.parent_request?.query.q');
    expect(await lookedAt(program, contextOf())).toEqual([]);
  });

  test('as many as there may be', async () => {
    const body = "for (let n = 0; n < 199; n += 1) context.request.query['x' + n]; return Date.now()";
    expect(await lookedAt(programOf(`export function f(context) { ${body} }`))).toHaveLength(200);
  });
});

/** What logic does with a request's data, which does not notice that it is not a plain object. */
const plain: string[] = [
  'return [Object.keys(request), Object.keys(request.query), Reflect.ownKeys(request.headers)]',
  'return [JSON.stringify(request.query), JSON.stringify({ ...request, response: 0 })]',
  'const { q, ...rest } = request.query; return [q, rest]',
  'const names = []; for (const name in request.query) names.push(name); return names',
  "request.query.x = '1'; request.query.q = '2'; delete request.query.page; return [request.query, request.get('x'), request.get('q')]",
  "request.query = { z: '1' }; request.url = 'u'; request.mine = 1; return [request.query.z, request.url, request.mine, request.get('z')]",
  "Object.assign(request.query, { a: 1 }); Object.defineProperty(request.query, 'b', { value: 2 }); return [Object.values(request.query), request.query.b]",
  'return [request.query instanceof Object, request.query.constructor === Object, typeof request.query, Object.prototype.toString.call(request)]',
  "return [`${request.query}`, request.query == '[object Object]', Array.isArray(request.query), request.query === request.query]",
  "return [request.query.hasOwnProperty('q'), 'toString' in request.query, request.query.toString === Object.prototype.toString]",
  'return [structuredClone(request.query), Object.fromEntries(Object.entries(request.headers)), [...request.query.tag]]',
  'return [Object.getOwnPropertyDescriptors(request.query), Object.getOwnPropertyDescriptor(request, "url")]',
  "Object.freeze(request.query); try { 'use strict'; request.query.q = 2 } catch {} return [request.query.q, Object.isFrozen(request.query)]",
  'return [new Map(Object.entries(request.query)).size, new URLSearchParams(request.query).toString()]',
  'const seen = new WeakMap([[request.query, 5]]); return [seen.get(request.query), new Set([request, request]).size]',
  'return Object.entries({ ...request.query, ...request.headers, q: 1 })',
  'const child = Object.create(request.query); child.q = 5; return [request.query.q, child.q, child.page]',
  'return Object.getPrototypeOf(request.query) === Object.prototype && Object.isExtensible(request.query)',
];
test.each(plain)('as a plain object: %s', async (body) => {
  const inNode = () => {
    const data: { [name: string]: unknown } = structuredClone(request.query);
    const get = (name: string) => data[name] ?? null;
    const own = {
      ...structuredClone(request),
      query: data,
      URL: 'http://x/site/page',
      get,
      has: () => false,
      response: 0,
    };
    return JSON.parse(JSON.stringify(new Function('request', body)(own)));
  };
  const program = programOf(`export function f({ request }) { ${body} }`);
  const session = await runtime.open(program, given, fakeHost(), runtime.budget());
  const [outcome] = await session.call([{ name: 'f', contained: true }]);
  session.close();
  expect(outcome).toEqual({ ok: true, defined: true, value: inNode() });
});

const python: [body: string, names: string[]][] = [
  ['return 1', []],
  ["return len(context.app.search('total > 0'))", []],
  ['print(context.app.id, context.portal.title); context.mine = [1]', []],
  ["return context.request.get('x')", ['request.body', 'request.form.x', 'request.query.x']],
  ["return 'x' in context.request", ['request.body', 'request.form.x', 'request.query.x']],
  ["return context.request['q']", ['request.body', 'request.form.q', 'request.query.q']],
  ["return context.request.query['q']", query],
  ["return context.request.headers.get('referer')", ['request.headers']],
  ['return context.request.keys()', ['request.body', 'request.form', 'request.query']],
  ['return [context.request.URL, context.request.path]', ['request.path', 'request.url']],
  [
    "return context.parent_request.get('q')",
    ['parent_request.body', 'parent_request.form.q', 'parent_request.query.q'],
  ],
  ['return vars(context.request)', ['everything']],
  ['import time; return time.time()', ['clock']],
  ['import time; return time.monotonic()', ['clock']],
  ['import time; return time.strftime("%Y")', ['clock']],
  ['import time; return time.gmtime(0)', []],
  ['from datetime import datetime; return datetime.now()', ['clock']],
  ['from datetime import date; return date.today()', ['clock']],
  ['from datetime import datetime; return datetime(2026, 1, 1).isoformat()', []],
  ['return context.now', ['clock']],
  ['return context.portal.day_begin()', ['clock']],
  ["return context.portal.day_begin('2026-03-01')", []],
  ['import random', []],
  ['import random; return random.random()', ['random']],
  ['import random; return random.choice([1, 2])', ['random']],
  ['return context.modules.random.shuffle([1, 2])', ['random']],
  ['return context.api.user.username', ['user']],
  ['return context.visitor.id', ['visitor']],
  ['return context.app.acl.current_user()', ['acl']],
  ["return context.app.acl.has_role('boss')", ['groups']],
  ['return context.app.acl.is_manager()', ['groups']],
  ['raise ValueError(context.request.path)', ['request.path']],
  ["for n in range(300): context.request.get('x%d' % n)", ['everything']],
];

describe('Python', () => {
  test.each(python)('%s', async (body, names) => {
    const program = programOf(`def f(context):\n    ${body}\n`, 'blocks/test.py');
    expect(await lookedAt(program)).toEqual(names);
  });

  test('at the top level of a module; the next session begins without', async () => {
    const files = {
      'blocks/test.py': 'from lib.a import t\n\ndef f(context):\n    return t\n',
      'lib/a.py': 'import time\nt = time.time()\n',
    };
    expect(await lookedAt(programOf(files, 'blocks/test.py'))).toEqual(['clock']);
    expect(await lookedAt(programOf('def f(context):\n    return 1\n', 'blocks/test.py'))).toEqual([]);
  });
});

test('the names are complete with each answer, and those of another request are added', async () => {
  const source = `export const a = ({ request }) => request.query.a; export const b = ({ request }) => request.query.b`;
  const session = await runtime.open(programOf(source), given, fakeHost(), runtime.budget());
  const names: string[][] = [];
  for (const name of ['a', 'b', 'a']) {
    await session.call([{ name, contained: false }]);
    names.push([...session.looked]);
    session.setContext({ request });
  }
  session.close();
  const both = ['request.query.a', 'request.query.b'];
  expect(names).toEqual([both.slice(0, 1), both, both]);
});

const endless = 'export const a = ({ request }) => request.query.a; export function f() { for (;;); }';
test.each<[how: string, source: string, names: string[]]>([
  ['throws', 'export function f({ request }) { throw new Error(request.query.a) }', ['request.query.a']],
  ['has no answer', endless, ['everything']],
])('a call that is not contained %s', async (_how, source, names) => {
  const session = await runtime.open(programOf(source), given, fakeHost(), runtime.budget());
  await expect(session.call([{ name: 'f', contained: false }])).rejects.toBeInstanceOf(Error);
  expect([...session.looked]).toEqual(names);
  session.close();
});
