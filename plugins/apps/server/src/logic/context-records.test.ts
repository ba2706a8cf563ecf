import { describe, expect, test } from 'vitest';
import { AppsError } from '../common/errors';
import { contextOf, fakeHost, programOf, runBody, useRuntime } from './testing/harness';

const runtime = useRuntime();

const value = (body: string, host?: ReturnType<typeof fakeHost>) => runBody(runtime, body, host);

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
    [
      "const own = { own: true }; context.app.search('total == 1', own); context.app.count('', own); return context.app.records(own).cursor",
      null,
    ],
    ['return context.record.creator', { id: 'maker of r', username: 'una' }],
    ["context.record.creator = 'x'", expect.stringMatching(/use set\('creator', value\)/)],
    [
      "context.record.set('creator', 'me'); return [context.record.get('creator'), context.record.creator.username, 'creator' in context.record]",
      ['me', 'una', true],
    ],
    ["return ['creator' in context.record, Object.keys(context.record).includes('creator')]", [false, false]],
    ["context.app.delete_record('r'); return context.record.creator", null],
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
    [
      "const copy = context.app.create_record('copy').save(context.record); copy.tags.push('b'); return [copy, context.record.tags]",
      [{ id: 'copy', total: 1, tags: ['a', 'b'], items: 'own', get: 'mine' }, ['a']],
    ],
    [
      "return context.app.create_record('copy').set(context.record).set('total', 2)",
      { id: 'copy', total: 2, tags: ['a'], items: 'own', get: 'mine' },
    ],
    ['return [context.record.save(), context.record.save(null), context.record.save({})].length', 3],
    ...['new Map()', "['a']", "'a'", 'new (class {})()', '1', 'false'].map((wrong): [string, unknown] => [
      `context.record.save(${wrong})`,
      expect.stringMatching(/:1: TypeError: the items of a record are an object/),
    ]),
    ...['new Map()', "['a']", 'null', '{}.x', 'new (class {})()'].map((wrong): [string, unknown] => [
      `context.record.set(${wrong}, 1)`,
      expect.stringMatching(/:1: TypeError: the items of a record are an object/),
    ]),
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
        ['count', null, null, null, false, null],
        ['count', null, null, null, false, null],
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

test.each([
  ['saved', 's.save({ total: 2 })'],
  ['shown', 's.display()'],
  ['deleted', "context.app.delete_record('s')"],
])('what is changed in a list or an object is stored also after another record was %s', async (_name, other) => {
  const host = fakeHost({ r: { tags: ['a'], map: { a: 1 }, total: 1 }, s: { total: 1 } });
  const body = `const r = context.app.get_record('r'); const s = context.app.get_record('s'); const { tags, map } = r; ${other};
    tags.push('x'); map.b = [2]; const total = r.total; tags.push('y'); r.save(); map.b.push(3); return [total, r.tags === tags]`;
  expect(await value(body, host)).toEqual([1, true]);
  expect(host.stored.r).toEqual({ tags: ['a', 'x', 'y'], map: { a: 1, b: [2, 3] }, total: 1 });
});

test('a record whose lists were only read after another was saved is read again alone', async () => {
  const host = fakeHost({ r: { tags: ['a'] }, s: { total: 1 } });
  const body =
    "const { r, s } = { r: context.app.get_record('r'), s: context.app.get_record('s') }; r.tags; s.save(); r.tags";
  await value(body, host);
  expect(host.calls.map(([name]) => name)).toEqual(['getRecord', 'getRecord', 'saveRecord', 'getRecord']);
});

describe('changes whose message fails', () => {
  const begin = "const s = context.app.get_record('s'); context.record.total = 2;";

  /** What logic does, the function's value or the request's error, and the records that are stored. */
  const cases: [name: string, body: string, gives: unknown, stored: object][] = [
    [
      'they are stored with the next message when a call is too large',
      "try { context.app.search('', { names: { x: '\\u0001'.repeat(400_000) } }) } catch (error) { return error.name }",
      'RangeError',
      { r: { total: 2 }, s: { total: 1 } },
    ],
    [
      'they are stored with the next message when the arguments of a call are not JSON',
      "try { context.app.search('', { names: { x: 1n } }) } catch (error) { return error.name }",
      'TypeError',
      { r: { total: 2 }, s: { total: 1 } },
    ],
    [
      'they are stored once when the stack was full',
      "s.inc('total'); const deep = () => { try { return deep() } catch { return context.app.count() } }; return deep()",
      2,
      { r: { total: 2 }, s: { total: 2 } },
    ],
    [
      'they are stored when a value that is not JSON is replaced',
      's.l = []; s.l.push(NaN); try { context.app.count() } catch (error) { s.l = [error.name] }',
      null,
      { r: { total: 2 }, s: { total: 1, l: ['TypeError'] } },
    ],
    [
      'the request fails when such a value stays',
      's.l = []; s.l.push(NaN); try { context.app.count() } catch {}',
      expect.stringMatching(/the item l holds the number NaN/),
      { r: { total: 1 }, s: { total: 1 } },
    ],
    [
      'the request fails when the server refuses one',
      'context.record.refused = 1; s.total = 3; try { context.app.count() } catch {}',
      'There is a rule against it',
      { r: { total: 1 }, s: { total: 1 } },
    ],
    [
      'the others are stored when the function fails with the refusal, which its error mark shows',
      'context.record.refused = 1; s.total = 3; context.app.count()',
      'ForbiddenError: There is a rule against it',
      { r: { total: 1 }, s: { total: 3 } },
    ],
  ];
  test.each(cases)('%s', async (_name, body, gives, stored) => {
    const host = fakeHost({ r: { total: 1 }, s: { total: 1 } });
    const { changeRecord } = host;
    host.changeRecord = async (args) => {
      if (args.change.set?.refused) throw new AppsError('ForbiddenError', 'There is a rule against it');
      return changeRecord(args);
    };
    expect(await value(`${begin} ${body}`, host).catch((error: Error) => error.message)).toEqual(gives);
    expect(host.stored).toEqual(stored);
  });
});

test('a change that one function made and the server refuses fails the request, not the next function', async () => {
  const host = fakeHost({ r: { total: 1 } });
  host.changeRecord = () => Promise.reject(new AppsError('ForbiddenError', 'There is a rule against it'));
  const source =
    'const a = (c) => { c.app.get_record("r").total = 2 }; const b = (c) => c.app.count(); export { a, b }';
  const session = await runtime.open(programOf(source), contextOf(), host, runtime.budget());
  const calls = ['a', 'b'].map((name) => ({ name, contained: true }));
  await expect(session.call(calls)).rejects.toMatchObject({ name: 'ForbiddenError' });
  session.close();
});
