import { describe, expect, test } from 'vitest';
import { AppsError } from '../../common/errors';
import { WorkerFailure } from '../../workers';
import { members } from '../session/outcome';
import { assignedIn, checkProgram } from '.';
import { contextType, memberMistake, typeOfMember } from './members';
import { checkLogic } from './task';

const called = ['on_display', 'on_save', 'total', 'f'];

function found(path: string, text: string): string[] {
  const language = path.endsWith('.py') ? 'python' : 'javascript';
  const { mistakes } = checkLogic({ language, path, text, functions: called, assigned: assignedIn([{ path, text }]) });
  return mistakes.map(({ message, line, column }) => `${line}:${column} ${message}`);
}

const of = (body: string, parameter = 'context') => `export function f(${parameter}) {\n  ${body}\n}`;

test.each<[title: string, body: string, message: string]>([
  [
    'a method of the app',
    'return context.app.get_recrod("x");',
    '2:22 There is no method "get_recrod" of an app, did you mean "get_record"?',
  ],
  ['a property of the app', 'return context.app.idd;', '2:22 There is no property "idd" of an app, did you mean "id"?'],
  ['one that is similar to nothing', 'context.app.frobnicate();', '2:15 There is no method "frobnicate" of an app'],
  [
    'a property of context',
    'return context.contnet.title;',
    '2:18 There is no property "contnet" of `context`, did you mean "content"?',
  ],
  [
    'a method of context',
    'context.invaild("a", "b");',
    '2:11 There is no method "invaild" of `context`, did you mean "invalid"?',
  ],
  [
    'the request',
    'return context.request.querry;',
    '2:26 There is no property "querry" of `request`, did you mean "query"?',
  ],
  [
    'the response',
    'context.request.response.setHeeader("a", "b");',
    '2:28 There is no method "setHeeader" of `response`, did you mean "setHeader"?',
  ],
  ['rights', 'return context.app.acl.has_rigth("x");', '2:26 There is no method "has_rigth" of `acl`'],
  ['mail', 'context.mail.sendd({});', '2:16 There is no method "sendd" of `mail`, did you mean "send"?'],
  [
    'documents',
    'context.api.documents("a").findmany({});',
    '2:30 There is no method "findmany" of `documents`, did you mean "findMany"?',
  ],
  ['a method of a record', 'context.record.sav();', '2:18 There is no method "sav" of a record, did you mean "save"?'],
  [
    'a method of a record that is read',
    'const r = context.app.get_record("a");\n  r?.udpate({});',
    '3:6 There is no method "udpate" of a record',
  ],
  [
    'another app',
    'context.get_app("b").serach("");',
    '2:24 There is no method "serach" of an app, did you mean "search"?',
  ],
  ['a constant', 'const { app } = context;\n  const other = app;\n  other.cuont();', '3:9 There is no'],
  ['an awaited call', '(await context.app.get_record("a")).sav();', '2:39 There is no method "sav" of a record'],
  ['a closure', 'return [1].map(() => context.app.serach(""));', '2:36 There is no method "serach" of an app'],
])('a misspelt member is found in %s', (title, body, message) => {
  const text = of(body).replace(
    'export function',
    title === 'an awaited call' ? 'export async function' : 'export function',
  );
  expect(found('blocks/b.js', text)).toEqual([
    expect.stringContaining(message.replace('3:9 There is no', '4:9 There is no')),
  ]);
});

test.each<[title: string, path: string, text: string, message: string]>([
  [
    'a destructured parameter',
    'blocks/b.js',
    of('return app.serach("");', '{ app, record }'),
    '2:14 There is no method "serach"',
  ],
  [
    'a destructured parameter itself',
    'blocks/b.js',
    of('return 1;', '{ ap }'),
    '1:21 There is no property "ap" of `context`, did you mean "app"?',
  ],
  [
    'an inner pattern',
    'blocks/b.js',
    of('return acl.is_manger();', '{ app: { acl } }'),
    '2:14 There is no method "is_manger"',
  ],
  [
    'an arrow function',
    'blocks/b.js',
    'export const f = ({ app }) => app.serach("");',
    '1:35 There is no method "serach"',
  ],
  [
    'a file without exports',
    'blocks/b.js',
    'function f(context) { context.app.serach(""); }',
    '1:35 There is no method "serach"',
  ],
  [
    'a function that is exported below',
    'blocks/b.js',
    'function g(context) { context.app.serach(""); }\nexport { g };',
    '1:35 There is',
  ],
  [
    'a helper function',
    'blocks/b.js',
    `${of('return helper(1, context.app);')}\nfunction helper(n, app) { return app.serach(""); }`,
    '4:38 There is',
  ],
  [
    'a helper of a helper',
    'blocks/b.js',
    `${of('a(context);')}\nconst a = (c) => b(c);\nconst b = ({ app }) => app.serach("");`,
    '5:28 There is',
  ],
  [
    'TypeScript',
    'blocks/b.ts',
    "import type { Context } from 'strapi-plugin-apps/context';\nexport function f(context: Context, n: number): string[] {\n  const list: Array<string> = context.app.serach('x') as string[]; return list;\n}",
    '3:43 There is no method "serach"',
  ],
  [
    'Python',
    'blocks/b.py',
    'def f(context):\n    return context.app.get_recrod("x")\n',
    '2:24 There is no method "get_recrod" of an app, did you mean "get_record"?',
  ],
  [
    'a property in Python',
    'blocks/b.py',
    '# context.contnet\ndef f(context):\n    """context.contnet"""\n    return context.contnet.title\n',
    '4:20 There is no property "contnet"',
  ],
  [
    'a name in Python',
    'blocks/b.py',
    'def f(context):\n    app = context.app\n    for n in app.serach("", sort_index="a"):\n        pass\n',
    '3:18 There is no method "serach"',
  ],
  [
    'a method of a record in Python',
    'blocks/b.py',
    'def f(context):\n    context.record.sav()\n',
    '2:20 There is no method "sav" of a record',
  ],
  [
    'an argument in Python',
    'blocks/b.py',
    'def f(context):\n    return g(context, app=context.app.idd)\n',
    '2:39 There is no property "idd"',
  ],
])('a misspelt member is found in %s', (_title, path, text, message) => {
  expect(found(path, text)).toEqual([expect.stringContaining(message)]);
});

test.each<[title: string, text: string, path?: string]>([
  [
    'known members',
    of(
      'const { app, record, request, api } = context;\n  app.search("a").length; app.acl.is_manager(); request.response.setHeader("a", "b"); api.user?.getId(); record?.set("a", 1).save();\n  context.get_app("x")?.count(); api.documents("a").findMany(); context.portal.get("/a"); context.escape("x"); context.params.anything;',
    ),
  ],
  [
    'items of records',
    of(
      'const { record } = context;\n  return record.titel + record.sav + record.get("x").foo() + record.name.toUpperCase();',
    ),
  ],
  ['fields of content', of('return context.content.sumary + context.content.anything();')],
  [
    'what logic sets on context',
    `${of('return context.recrod;')}\nexport function on_display(context) { context.recrod = 1; }`,
  ],
  [
    'what logic sets by a computed name',
    `${of('return context.recrod;')}\nexport function on_display(context) { context[key()] = 1; }`,
  ],
  [
    'what Object.assign sets',
    `${of('return context.recrod;')}\nexport function on_display(context) { Object.assign(context, { recrod: 1 }); }`,
  ],
  ['own names on context', of('return context.total + context.my_own_thing();')],
  [
    'settings, options and items of a form',
    of('return context.app.settings.debgu + context.app.options.a.b + context.request.form.nmae;'),
  ],
  ['another object', of('return "open".search("a") + document.app.foo + app.foo();')],
  ['a parameter of another function', of('return [1].map((context) => context.app.foo());')],
  [
    'a function that is not called by the server',
    'export function f() {}\nfunction other(context) { return context.app.foo(); }',
  ],
  [
    'a helper that gets other values too',
    `${of('helper(context.app); helper({});')}\nfunction helper(app) { return app.foo(); }`,
  ],
  [
    'a helper that is passed on',
    `${of('helper(context.app); return [1].map(helper);')}\nfunction helper(app) { return app.foo(); }`,
  ],
  ['a variable that changes', of('let app = context.app;\n  app = other();\n  return app.foo();')],
  ['a name of two blocks', of('{ const app = context.app; }\n  { const app = other(); app.foo(); }')],
  [
    'a name of an inner function',
    of(
      'const { app } = context;\n  return list.map((app) => app.foo()) + list.map(function () { const app = 1; return app.foo; });',
    ),
  ],
  ['a parameter with a default', of('return app.foo();', '{ app = {} }')],
  ['a computed member', of('return context.app[name]();')],
  ['a test whether it is there', of('return typeof context.app.foo === "function" ? context.app.foo?.() : null;')],
  ['members of all objects', of('return context.app.toString() + context.hasOwnProperty("x");')],
  ['the result of save with a block', of('return context.record.save({}, { block_id: "b" }).anything();')],
  ['a syntax error', 'export function f(context) { context.app.foo( }'],
  [
    'a shadowed helper',
    `${of('const helper = (a) => a; helper(context.app);')}\nfunction helper(app) { return app.foo(); }`,
  ],
  [
    'known members in Python',
    'def f(context):\n    app = context.app\n    r = app.get_record("x")\n    r.update({"a": 1})\n    r["a"] = r.nmae\n    context.request.keys()\n    return context.modules.random.random() + context.record.get_item("x")\n',
    'b.py',
  ],
  [
    'a name that changes in Python',
    'def f(context):\n    app = context.app\n    app = other()\n    return app.foo()\n',
    'b.py',
  ],
  [
    'a name of a loop in Python',
    'def f(context):\n    app = context.app\n    return [app.foo() for app in x]\n',
    'b.py',
  ],
  ['another context in Python', 'def f(context):\n    context = other()\n    return context.app.foo()\n', 'b.py'],
  [
    'an inner function of Python',
    'def f(context):\n    def g(context):\n        return context.app.foo()\n    return g(1)\n',
    'b.py',
  ],
  ['a function of Python that is not called by the server', 'def g(context):\n    return context.app.foo()\n', 'b.py'],
  ['what logic sets in Python', 'def f(context):\n    context.recrod = 1\n    return context.recrod\n', 'b.py'],
  [
    'texts and comments of Python',
    'def f(context):\n    # context.app.foo()\n    return "context.app.foo()"\n',
    'b.py',
  ],
])('no mistake is found in %s', (_title, text, path = 'b.js') => {
  expect(found(path, text)).toEqual([]);
});

function searches(path: string, text: string) {
  const language = path.endsWith('.py') ? 'python' : 'javascript';
  return checkLogic({ language, path, text, functions: called, assigned: [] }).searches.map(
    ({ query, sortIndex, mayHaveNames, line, column }) => [query, sortIndex, mayHaveNames, line, column],
  );
}

test.each<[body: string, ...found: unknown[]]>([
  ["context.app.search('a == 1');", 'a == 1', null, false, 2, 22],
  ['context.app.search(`a == 1`, "b", true);', 'a == 1', 'b', false, 2, 22],
  ["context.app.search('a == x', { names: { x: 1 }, sort_index: 'b' });", 'a == x', 'b', true, 2, 22],
  ["context.app.search('a == 1', { sort_index: 'b', limit: 3 });", 'a == 1', 'b', false, 2, 22],
  ["context.app.search('a == 1', options);", 'a == 1', null, true, 2, 22],
  ["context.app.search('a == 1', { ...options });", 'a == 1', null, true, 2, 22],
  ["context.app.search({ query: 'a == 1', sort_index: 'b' });", 'a == 1', 'b', false, 2, 22],
  ["context.app.count('a == 1');", 'a == 1', null, false, 2, 21],
  ['context.app.search(`a == ${x}`, "b");', null, 'b', false, 2, 22],
  ['context.app.count();', null, null, false, 2, 3],
])('the search %s', (body, ...expected) => {
  expect(searches('b.js', of(body))).toEqual([expected]);
});

test.each<[body: string, ...found: unknown[]]>([
  ["context.app.search('a == 1')", 'a == 1', null, false, 2, 24],
  ["context.app.search('a == 1', 'b', True)", 'a == 1', 'b', false, 2, 24],
  ["context.app.search('a == x', names={'x': 1}, sort_index='b')", 'a == x', 'b', true, 2, 24],
  ["context.app.search(query='a == 1', sort_index='b')", 'a == 1', 'b', false, 2, 24],
  ["context.app.search('a == 1', **options)", 'a == 1', null, true, 2, 24],
  ["context.app.count('a == ' + x)", null, null, false, 2, 23],
  ["context.app.count(f'a == {x}')", null, null, false, 2, 23],
])('the search %s in Python', (body, ...expected) => {
  expect(searches('b.py', `def f(context):\n    ${body}\n`)).toEqual([expected]);
});

test.each([
  ['a search of a text', of("return 'x'.search('nothing == 1');")],
  ['a search of another app', of("return context.get_app('b').search('nothing == 1');")],
  ['a search of what is not known', of("return app.search('nothing == 1');", 'other, app')],
])('%s is not taken for one of the app', (_title, text) => {
  expect(searches('b.js', text)).toEqual([]);
});

test('all members that a failed line is compared with are known', () => {
  const paths: Record<string, string[]> = {
    context: [],
    app: ['app'],
    record: ['record'],
    acl: ['app', 'acl'],
    request: ['request'],
    response: ['request', 'response'],
    portal: ['portal'],
    content: ['content'],
    api: ['api'],
  };
  const wrong = Object.entries(members).flatMap(([object, names]) => {
    const type = (paths[object] ?? []).reduce(
      (of, name) => typeOfMember(of, name, false) ?? expect.fail(`${object} has no type`),
      contextType,
    );
    return names.map((name) => memberMistake({ type, name, isCall: true, mayBeSet: () => false })).filter(Boolean);
  });
  expect(wrong).toEqual([]);
});

describe('in a worker process', () => {
  const file = { path: 'blocks/b.js', text: of('return context.app.serach("");') };
  const program = {
    scope: 's',
    revision: '1',
    language: 'javascript',
    path: file.path,
    files: new Map([[file.path, file]]),
  } as const;
  const by = (run: (input: never) => unknown) =>
    checkProgram({ run: async (_task, input) => run(input as never) }, program, ['f']);
  const nothing = { mistakes: [], searches: [] };
  const failing = (error: Error) => () => {
    throw error;
  };

  test('the file is checked', async () => {
    expect((await by(checkLogic)).mistakes).toHaveLength(1);
  });

  test('nothing is found over its limits, or where no process is free', async () => {
    expect(await by(failing(new WorkerFailure('time')))).toEqual(nothing);
    expect(await by(failing(new AppsError('ServiceUnavailableError', 'busy')))).toEqual(nothing);
  });

  test('an answer that is none is refused', async () => {
    await expect(by(() => ({ mistakes: [{ message: 1 }] }))).rejects.toThrow(
      'What the check of logic answers is no answer',
    );
  });
});
