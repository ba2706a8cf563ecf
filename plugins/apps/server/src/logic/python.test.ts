import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contextOf, fakeHost, programOf, runOnce, startRuntime, useRuntime } from './testing/harness';
import { lines, python, runPython } from './testing/python';
import type { ContentData, LogicRuntime } from './types';

const runtime = useRuntime();

const run = (body: string[], host = fakeHost(), changed = {}) => runPython(runtime, body, host, changed);

test('the user of an anonymous request is None', async () => {
  const body = ['user = context.api.user', 'return [user, user == None, not user, user.is_anonymous()]'];
  expect(await run(body, fakeHost(), { user: null })).toEqual([null, true, true, true]);
});

describe('context', () => {
  const cases: [string, unknown][] = [
    ['context.app.id', 'app'],
    ['context.app.settings["debug"]', true],
    ['context.app.blocks[0].url', 'http://x/site/@@apps/app/blocks/test'],
    ['"test" in context.app.blocks', true],
    ['context.app.indexes', ['id', 'total']],
    ['context.app.get_block("test").url', 'http://x/site/@@apps/app/blocks/test'],
    ['context.app.get_block("none")', null],
    ['context.app.acl.current_user()', 'eric'],
    ['context.app.acl.has_access_right("author")', true],
    ['[context.app.acl.has_role(role) for role in context.app.acl.roles()]', [true, false]],
    ['context.block.id', 'test'],
    ['context.record', null],
    ['context.request.method', 'POST'],
    ['[context.request.get(n) for n in ("form", "body", "q", "none")]', ['yes', 5, '1', null]],
    ['context.request["form"]', 'yes'],
    ['"none" in context.request', false],
    ['context.request.get("none", 7)', 7],
    ['context.request.form', { form: 'yes' }],
    ['context.parent_request', null],
    ['context.portal.title', 'Site'],
    ['context.portal.get("/x").title', 'News'],
    ['context.portal["x"].slug', 'news'],
    ['[context.portal.time_zone, len(context.now), context.now[19:22] in ("+01", "+02")]', ['Europe/Berlin', 25, true]],
    ['context.portal.day_begin("2026-03-29", 1)', '2026-03-29T22:00:00.000Z'],
    ['context.portal.day_begin(day=context.modules.datetime.date(2026, 3, 29))', '2026-03-28T23:00:00.000Z'],
    ['context.portal.day_begin() == context.portal.day_begin(context.now)', true],
    ['context.modules.datetime.datetime.fromisoformat(context.now).isoformat() == context.now', true],
    ['context.content.absolute_url_path()', '/articles/news'],
    ['context.content.absolute_url()', 'http://x/site/articles/news'],
    ['context.content.slug', 'news'],
    ['context.content.update({"title": "New"}).title', 'New'],
    ['context.content.update(title="New").title', 'New'],
    ['context.api.user["username"]', 'eric'],
    ['context.api.user', { username: 'eric' }],
    ['[context.api.user.is_anonymous(), context.api.user == None]', [false, false]],
    ['context.api.user.get_current().getUserName()', 'eric'],
    ['context.api.content.get(path="/x").title', 'News'],
    ['context.api.content.get(path="/none")', null],
    ['context.api.documents("api::x.x").findMany(filters={"a": 1})', [{ uid: 'api::x.x' }]],
    ['context.get_app("other").id', 'other'],
    ['context.rapido("none")', null],
    ['context.params["p"]', 1],
    ['context.escape("<a href=\'x\'>&")', '&lt;a href=&#39;x&#39;&gt;&amp;'],
    ['sorted(dir(context.modules))[-6:]', ['datetime', 'json', 'math', 'random', 're', 'time']],
  ];
  test.each(cases)('%s', async (expression, expected) => {
    expect(await run([`return ${expression}`])).toEqual(expected);
  });
});

describe('failures', () => {
  const cases: [string, string, RegExp, number?][] = [
    ['an exception', 'def f(context):\n  return 1 / 0', /^ZeroDivisionError: divide by zero, in f$/, 2],
    ['deep inside', 'def g():\n  {}["x"]\n\ndef f(context):\n  g()', /^KeyError: 'x', in g/, 2],
    ['syntax', 'def f(context)\n  pass', /^SyntaxError: invalid syntax/, 1],
    ['indentation', 'def f(context):\n  x = 1\n    y = 2', /^IndentationError/, 3],
    ['the top level', 'x = 1\ny = z', /^NameError: name 'z' isn't defined/, 2],
    ['recursion', 'def f(context):\n  return f(context)', /^RuntimeError: /],
    ['memory', 'def f(context):\n  a = []\n  while True: a.append("x" * 100000 + str(len(a)))', /MemoryError|64 MB/],
    ['a result', 'def f(context):\n  return object()', /^TypeError: the result of f is of the type object, which JSON/],
    ['a large result', 'def f(context):\n  return "x" * 1048576', /^ValueError: The result of f is larger/],
    ['an import', 'import os', /^ImportError: there is no module 'os': there are collections, /, 1],
    ['an import from outside', 'from ....x import y', /^ImportError: imports stay inside/, 1],
    ['a reserved name', 'def f(context):\n  context.app = 1', /^AttributeError: context.app cannot be replaced/, 2],
    ['content', 'def f(context):\n  context.content.url = 1', /^AttributeError: 'url' of a content item/, 2],
    ['exit', 'def f(context):\n  raise SystemExit', /^SystemExit/, 2],
    ['open', 'def f(context):\n  open("/etc/passwd")', /^NameError: name 'open' isn't defined/],
  ];
  test.each(cases)('%s', async (_name, source, message, line) => {
    const outcome = await runOnce(runtime, python(source)).catch((error) => ({ ok: false as const, error }));
    if (outcome.ok) throw new Error('it did not fail');
    expect(outcome.error).toMatchObject({ name: 'LogicError', message: expect.stringMatching(message) });
    if (line !== undefined) expect(outcome.error.position).toMatchObject({ file: 'blocks/test.py', line });
  });

  // How much time it may get back for a processor that was busy is tested without a clock: `sandbox/src/request-clock.test.ts`.
  test('time', async () => {
    const failed = runOnce(runtime, python('def f(context):\n  while True: pass'));
    await expect(failed).rejects.toMatchObject({ name: 'LogicTimeoutError' });
  });

  test('a result that is too large in bytes fails alone', async () => {
    const texts = ["'x' * (2 ** 20 - 2)", "'é' * (600 * 1024)", "'😀' * (2 ** 18)", "'é' * (2 ** 19 - 1)"];
    const source = lines(...texts.map((text, at) => `def f${at}(context):\n    return ${text}`));
    const outcomes = [];
    const session = await runtime.open(python(source), contextOf(), fakeHost(), runtime.budget());
    for (const at of texts.keys()) outcomes.push(...(await session.call([{ name: `f${at}`, contained: true }])));
    session.close();
    const error = { message: expect.stringMatching(/The result of f\d is larger than 1048576 bytes/) };
    expect(outcomes).toMatchObject([{ ok: true }, { ok: false, error }, { ok: false, error }, { ok: true }]);
  });

  test('what is set on context is too large in bytes', async () => {
    const source = python("def f(context):\n    context.text = 'é' * (600 * 1024)");
    const session = await runtime.open(source, contextOf(), fakeHost(), runtime.budget());
    await session.call([{ name: 'f', contained: true }]);
    await expect(session.properties()).rejects.toThrow(/What was set on context is larger than 1048576 bytes/);
    session.close();
  });

  test('do not affect the other functions of the same call', async () => {
    const source = python('def a(c):\n  return 1 / 0\n\ndef b(c):\n  return 2\n\nasync def d(c):\n  return 3');
    const session = await runtime.open(source, contextOf(), fakeHost(), runtime.budget());
    const names = ['a', 'b', 'd', 'none'];
    const outcomes = await session.call(names.map((name) => ({ name, contained: true })));
    session.close();
    expect(outcomes).toMatchObject([{ ok: false }, { value: 2 }, { value: 3 }, { ok: true, defined: false }]);
  });
});

describe('modules', () => {
  test('of the folder', async () => {
    const files = {
      'blocks/test.py': lines(
        'from lib.text import shout',
        'from ..lib import more',
        'import text as again',
        'from lib.all import *',
        'def f(context):',
        '  return shout("a"), more.twice("b"), again.shout("c"), star, more.text.shout("d")',
      ),
      'lib/text.py': 'def shout(x):\n  return x.upper() + "!"',
      'lib/more.py': 'from . import text\ndef twice(x): return text.shout(x) * 2',
      'lib/all.py': 'star = "*"\n_hidden = 1',
    };
    const outcome = await runOnce(runtime, python(files));
    expect(outcome.ok ? outcome.value : outcome.error.message).toEqual(['A!', 'B!B!', 'C!', '*', 'D!']);
  });

  test('errors in them have their file and line', async () => {
    const files = {
      'blocks/test.py': 'from lib.bad import g\ndef f(context): return g()',
      'lib/bad.py': '\n\ndef g():\n  return None.x',
    };
    const outcome = await runOnce(runtime, python(files));
    expect(outcome).toMatchObject({ ok: false, error: { position: { file: 'lib/bad.py', line: 4 } } });
  });
});

describe('no state is left', () => {
  test('for the next request', async () => {
    const spoil = python(
      lines(
        'import json, re, random, datetime',
        'builtins = __import__.__globals__["builtins"]',
        'kept = []',
        'json.dumps = None',
        'builtins.len = lambda x: 7',
        'datetime.datetime.left = "behind"',
        'def f(context):',
        '  context.app.log.__globals__["left"] = "behind"',
        '  kept.append(1)',
        '  context.left = "behind"',
        '  return len([])',
      ),
    );
    expect(await runOnce(runtime, spoil)).toMatchObject({ ok: true, value: 7 });
    for (let round = 0; round < 5; round += 1) {
      const readLeft = [
        'g = context.app.log.__globals__',
        'd = context.modules.datetime.datetime',
        'return len([]), "left" in g, hasattr(d, "left"), hasattr(context, "left"), context.modules.json.dumps(1)',
      ];
      expect(await run(readLeft)).toEqual([0, false, false, false, '1']);
    }
  });

  test('random numbers differ every time', async () => {
    const draw = () => run(['return context.modules.random.random()']);
    expect(new Set([await draw(), await draw(), await draw()]).size).toBe(3);
  });
});

test('log, print and the response', async () => {
  const host = fakeHost();
  const lines = ['context.app.log({"a": [1]}, "b")', 'print("c", 1)', 'context.request.response.status = 404'];
  expect(await run([...lines, 'return context.app.messages'], host)).toEqual(['{"a":[1]} b', 'c 1']);
  expect(host.logs.map(({ message }) => message)).toEqual(['{"a":[1]} b', 'c 1']);
  expect(host.calls).toContainEqual(['respond', { status: 404 }]);
});

describe('arguments of a call out', () => {
  const all = { method: 'PUT', headers: { 'x-a': 'b' }, body: { c: 1 }, timeout: 50 };
  test.each<[string, object | RegExp]>([
    ['"x"', {}],
    ['url="x", method="POST"', { method: 'POST' }],
    ['"x", "POST"', { method: 'POST' }],
    ['"x", "PUT", {"x-a": "b"}, {"c": 1}, 50', all],
    ['"x", {"method": "PUT", "headers": {"x-a": "b"}}, body={"c": 1}, timeout=50', all],
    ['"x", methd="POST"', /^LogicError: blocks.test.py:2: TypeError: unexpected keyword argument 'methd'/],
    ['"x", {"methd": "POST"}', /BadRequestError: .*options has no option methd/],
  ])('%s', async (given, expected) => {
    const host = fakeHost();
    const options: unknown[] = [];
    Object.assign(host, {
      fetch: (call: { options: object }) => {
        options.push(call.options);
        return { status: 200, headers: {}, text: '' };
      },
      addFetch: (call: { options: object }) => `${options.push(call.options)}`,
    });
    for (const name of ['context.fetch', 'context.jobs.fetch']) {
      const value = await run([`${name}(${given})`], host);
      expect(value).toEqual(expected instanceof RegExp ? expect.stringMatching(expected) : null);
    }
    expect(options).toEqual(expected instanceof RegExp ? [] : [expected, expected]);
  });
});

describe('the parts of context are JSON', () => {
  const { content, portal, request, visitor, app } = contextOf({ visitor: { id: 'v' } });
  const { fields, ...item } = content as ContentData;
  const requested = { ...request, URL: request.url.split('?')[0] };
  const cases: [string, unknown][] = [
    ['context.content', { ...fields, ...item }],
    ['[context.portal.get("/x")]', [{ ...fields, ...item }]],
    ['context.portal', portal],
    ['context.visitor', visitor],
    ['context.block.places', { limit: 3, taken: 1, left: 2, waiting: 0, state: 'open' }],
    ['context.app.get_record("r").creator', { id: 'maker of r', username: 'una' }],
    ['context.request', requested],
    ['context.parent_request', requested],
    ['context.app', app],
    ['context.fetch("http://x/")', expect.objectContaining({ status: 200, ok: true })],
    ['context.modules.json.loads(context.modules.json.dumps(context.visitor))', visitor],
  ];
  test.each(cases)('%s', async (expression, expected) => {
    const changed = { visitor, parent_request: request };
    const source = `def f(context):\n  return ${expression}\ndef set(context):\n  context.part = ${expression}`;
    const session = await runtime.open(python(source), contextOf(changed), fakeHost({ r: {} }), runtime.budget());
    const calls = ['f', 'set'].map((name) => ({ name, contained: true }));
    expect(await session.call(calls)).toMatchObject([{ value: expected }, { value: null }]);
    expect(await session.properties()).toEqual({ part: expected });
    session.close();
  });

  test('a request that is a result has been looked at as a whole', async () => {
    const source = python('def f(context):\n  return context.request');
    const session = await runtime.open(source, contextOf(), fakeHost(), runtime.budget());
    await session.call([{ name: 'f', contained: true }]);
    const parts = ['method', 'url', 'path', 'query', 'form', 'body', 'headers'];
    expect([...session.looked]).toEqual(expect.arrayContaining(parts.map((part) => `request.${part}`)));
    session.close();
  });

  test('a content item is kept in a record', async () => {
    const host = fakeHost({ r: {} });
    await run(['r = context.app.get_record("r")', 'r["item"] = context.portal.get("/x")'], host);
    expect(host.stored.r).toEqual({ item: { ...fields, ...item } });
  });
});

test('properties of context reach the layout', async () => {
  const source = python(
    'def on_display(context):\n  context.total = 5\n  context.fun = lambda: 1\n  context.large = 2 ** 64 + 1',
  );
  const session = await runtime.open(source, contextOf(), fakeHost(), runtime.budget());
  await session.call([{ name: 'on_display', contained: false }]);
  expect(await session.properties()).toEqual({ total: 5 });
  session.setContext({ record: { id: 'x', url: 'u', items: { a: 1 } } });
  session.close();
});

const taskset = '/usr/bin/taskset';
if (!existsSync(taskset))
  console.warn('Not tested, because it is not on this machine: Python beside loops on one processor');

describe.skipIf(!existsSync(taskset))('on one processor, beside two loops', () => {
  const logicTime = 1_500;
  let shared: LogicRuntime;
  beforeAll(async () => {
    shared = await startRuntime({ logicTime }, [taskset, '-c', '0']);
    await runOnce(shared, programOf('def f(context): return 1', 'blocks/test.py'));
  });
  afterAll(() => shared?.destroy());

  /** Counts for about a second of the processor, measured by what an undisturbed loop of the same kind takes. */
  const count = (steps: number) =>
    programOf(`def f(context):\n    for n in range(${steps}): pass\n    return 'counted'`, 'blocks/test.py');

  test('Python that has time enough by the processor ends', async () => {
    const steps = 400_000;
    const begin = performance.now();
    expect(await runOnce(shared, count(steps))).toMatchObject({ value: 'counted' });
    const second = Math.round((steps * 900) / (performance.now() - begin));
    const loops = [1, 2].map(() => runOnce(shared, 'function f() { for (;;); }').catch((error: Error) => error));
    expect(await runOnce(shared, count(second))).toMatchObject({ value: 'counted' });
    for (const one of await Promise.all(loops)) expect(one).toMatchObject({ name: 'LogicTimeoutError' });
  });

  test('Python that does not end is late soon after its latest time', async () => {
    const loops = [1, 2].map(() => runOnce(shared, 'function f() { for (;;); }').catch((error: Error) => error));
    const begin = performance.now();
    const endless = programOf('def f(context):\n    while True: pass', 'blocks/test.py');
    await expect(runOnce(shared, endless)).rejects.toMatchObject({ name: 'LogicTimeoutError' });
    expect(performance.now() - begin).toBeLessThan(logicTime * 3 + 1_000);
    await Promise.all(loops);
  });
});
