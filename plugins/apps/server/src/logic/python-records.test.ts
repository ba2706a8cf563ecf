import { describe, expect, test } from 'vitest';
import { AppsError } from '../common/errors';
import { fakeHost, useRuntime } from './testing/harness';
import { runPython } from './testing/python';

const runtime = useRuntime();

const run = (body: string[], host = fakeHost()) => runPython(runtime, body, host);

test('reads all of many records, and lists in them', async () => {
  const entry = (n: number) => [`r${n}`, { total: n, tags: ['a', 'b'], block: 'box', text: 'some words of a visitor' }];
  const host = fakeHost(Object.fromEntries(Array.from({ length: 3000 }, (_, n) => entry(n))));
  const body = [
    'all = context.app.records()',
    'same = all[2999] is context.app.get_record("r2999")',
    'return len(all), sum([r["total"] + len(r["tags"]) for r in all]), same',
  ];
  expect(await run(body, host)).toEqual([3000, 4_504_500, true]);
  expect(host.calls.filter(([name]) => name === 'changeRecord')).toEqual([]);
});

describe('records in Python', () => {
  const big = 12345678901234567000;
  const stored = () => ({ life: { total: 3, name: 'Ann', list: [1], map: { a: 1 }, big, of: [big] } });
  const get = 'r = context.app.get_record("life")';

  const names = ['big', 'id', 'list', 'map', 'name', 'of', 'total'];
  const cases: [string, string[], unknown, object?][] = [
    ['reading', [get, 'return r["total"], r.name, r.get("none", 5), r.id, r["id"]'], [3, 'Ann', 5, 'life', 'life']],
    ['none there', ['return context.app.get_record("none")'], null],
    ['in', [get, 'return "total" in r, "none" in r, "id" in r, bool(r)'], [true, false, true, true]],
    [
      'going through',
      [get, 'return sorted(r), sorted([k for k, v in r.items()]), r.items()["total"]'],
      [names, names, 3],
    ],
    ['not there', [get, 'try:', '  r["none"]', 'except KeyError as e:', '  return e.args[0]'], 'none'],
    ['setting', [get, 'r["total"] += 1', 'r.name = "Bob"'], null, { total: 4, name: 'Bob' }],
    ['deleting', [get, 'del r["name"]', 'return "name" in r'], false, { total: 3 }],
    ['inside', [get, 'r["list"].append(2)', 'r["map"]["b"] = 2'], null, { list: [1, 2], map: { a: 1, b: 2 } }],
    [
      'the kind of a value inside',
      [get, 'r["list"][0] = True', 'r["map"]["a"] = "1"'],
      null,
      { list: [true], map: { a: '1' } },
    ],
    ['another name inside', [get, 'm = r["map"]', 'del m["a"]', 'm["b"] = 1'], null, { map: { b: 1 } }],
    [
      'deep inside, after it was sent',
      [get, 'l = [[{"a": {1}}]]', 'r["l"] = l', 'context.app.count()', 'l[0][0]["a"].add(2)'],
      null,
      { l: [[{ a: [1, 2] }]] },
    ],
    [
      'the same inside',
      [get, 'l = r["list"]', 'l.append((1,))', 'context.app.count()', 'r.save()', 'l[1] = [1]', 'l.append(2)'],
      null,
      { list: [1, [1], 2] },
    ],
    ['lists that were set', [get, 'l = []', 'r["new"] = l', 'l.append(1)'], null, { new: [1] }],
    ['inc', [get, 'return r.inc("total"), r.inc("visits", 2)'], [4, 2], { total: 4, visits: 2 }],
    ['update', [get, 'r.update({"a": 1}, b=2)', 'return r.pop("a")'], 1, { b: 2 }],
    [
      'a record as items',
      [
        get,
        'a = context.app.create_record("a").save(r)',
        'a["list"].append(2)',
        'b = context.app.create_record("b").set(r)',
        'b.update(r)',
        'return a.items(), len(b) == len(r), r["list"]',
      ],
      [{ id: 'a', ...stored().life, list: [1, 2] }, true, [1]],
      { list: [1] },
    ],
    ['old names', [get, 'r.set_item("x", r.get_item("total", 0))', 'return r.has_item("x")'], true, { x: 3 }],
    ['save', [get, 'r.save({"x": 1})', 'return r["x"]'], 1, { x: 1 }],
    ['dates', [get, 'r["at"] = context.modules.datetime.date(2024, 1, 2)'], null, { at: '2024-01-02' }],
    ['same object', [get, 'return r is context.app.get_record("life"), r == context.app.search("")[0]'], [true, true]],
    ['all', ['return [r.id for r in context.app.records()], context.app.records(limit=1).cursor'], [['life'], 'next']],
    [
      'NaN',
      [get, 'r["n"] = float("nan")'],
      'LogicError: blocks/test.py:3: TypeError: the item n is or holds the number nan, which JSON does not have, in f',
    ],
    [
      'NaN inside',
      [get, 'r["n"] = {"l": [float("inf")]}'],
      expect.stringMatching(/the item n is or holds the number inf/),
    ],
    [
      'a whole number that JSON cannot hold',
      [get, 'r["n"] = 12345678901234567891'],
      'LogicError: blocks/test.py:3: TypeError: the item n is or holds the number 12345678901234567891, which JSON cannot hold exactly: make it a string, in f',
    ],
    ['a large one', [get, 'r["n"] = 10 ** 400'], expect.stringMatching(/holds the number 1(0{39}), which/)],
    ['such one inside', [get, 'r["n"] = {"a": [10 ** 400]}'], expect.stringMatching(/^LogicError: .*the item n is or/)],
    [
      'such one added',
      [get, 'r.inc("total", 10 ** 20 + 1)'],
      expect.stringMatching(/what is added to total is or holds/),
    ],
    [
      'such one in a call',
      ['context.app.search("n > x", names={"x": 2 ** 53 + 1})'],
      expect.stringMatching(/^LogicError/),
    ],
    [
      'a number of the server, changed',
      [get, 'r["big"] += 1'],
      expect.stringMatching(/the item big is or holds the number 12345678901234567001/),
    ],
    [
      'whole numbers as the server writes them',
      [get, 'r["n"] = [2 ** 53, -(2 ** 60), 10 ** 22, 1000]', 'r["m"] = r["big"]', 'r["of"].append(1)'],
      null,
      { n: [2 ** 53, -(2 ** 60), 1e22, 1000], m: big, of: [big, 1] },
    ],
    [
      'whole numbers of any size as text',
      ['return context.modules.json.dumps({"n": [2 ** 64]}), str(2 ** 64)'],
      ['{"n": [18446744073709551616]}', '18446744073709551616'],
    ],
    ['a result', ['return [2 ** 64 + 1]'], expect.stringMatching(/TypeError: the result of f is or holds the number/)],
    ['deleted', [get, 'context.app.delete_record(record=r)', 'return context.app.get_record("life")'], null],
    ['as a result', [get, 'return r'], { id: 'life', ...stored().life }],
    ['creator', [get, 'return r.creator.id, r.creator.username, "creator" in r'], ['maker of life', 'una', false], {}],
    ['creator, of a deleted record', [get, 'context.app.delete_record(r)', 'return r.creator'], null],
    [
      'creator as an item',
      [get, 'r["creator"] = "me"', 'return r["creator"], r.get("creator"), r.creator.username'],
      ['me', 'me', 'una'],
      { creator: 'me' },
    ],
    [
      'creator cannot be set',
      [get, 'try:', '  r.creator = "me"', 'except AttributeError as e:', '  return str(e)'],
      "creator belongs to every record: use record['creator'] for an item of that name",
    ],
    [
      'own records',
      [
        'context.app.search("total>0", own=True)',
        'context.app.count(own=True)',
        'return context.app.records(own=True)',
      ],
      expect.anything(),
    ],
    ['display', [get, 'return r.display(edit=True)'], '<p>life</p>'],
  ];
  test.each(cases)('%s', async (_name, body, expected, items = {}) => {
    const host = fakeHost(stored());
    if (body.join('').includes('limit=1')) host.records = async ({ options: { limit } }) => page(limit);
    expect(await run(body, host)).toEqual(expected);
    if (expected !== null || !('life' in host.stored)) expect(host.stored.life ?? {}).toMatchObject(items);
  });

  test.each([
    ['saved', 's.save({"total": 2})'],
    ['shown', 's.display()'],
    ['deleted', 'context.app.delete_record("s")'],
  ])('what is changed in a list or a dictionary is stored also after another record was %s', async (_name, other) => {
    const host = fakeHost({ ...stored(), s: { total: 1 } });
    const body = [
      get,
      's = context.app.get_record("s")',
      'l, m = r["list"], r["map"]',
      other,
      'l.append("x")',
      'm["b"] = [2]',
      'total = r["total"]',
      'l.append("y")',
      'r.save()',
      'm["b"].append(3)',
      'return total, r["list"] is l',
    ];
    expect(await run(body, host)).toEqual([3, true]);
    expect(host.stored.life).toEqual({ ...stored().life, list: [1, 'x', 'y'], map: { a: 1, b: [2, 3] } });
  });

  const record = (id: string) => ({ id, url: `http://x/record/${id}`, items: {} });
  const page = (limit?: number) => ({ records: [record('life')], cursor: limit === 1 ? 'next' : null });

  test('creating with keyword and positional arguments; search with keyword arguments and slices', async () => {
    const host = fakeHost();
    const body = [
      'a = context.app.create_record(id="/news")',
      'a["total"] = a.get("total", 0) + 1',
      'context.app.create_record("b")',
      'context.app.create_record()',
      'found = context.app.search("total>0", sort_index="total", reverse=True)[:1]',
      'return len(found), context.app.count()',
    ];
    expect(await run(body, host)).toEqual([1, 3]);
    expect(host.stored['/news']).toEqual({ total: 1 });
    expect(host.calls).toContainEqual(['search', null, 'total>0', { sort_index: 'total', reverse: true }]);
  });

  test('long texts pass in both directions', async () => {
    const text = `${'é"\n😀'.repeat(40_000)}`;
    const host = fakeHost({ life: { text, list: [text, '\u0000 1'] } });
    const body = [
      get,
      'r["copy"] = r["text"]',
      'r["list"].append(r["text"][:5])',
      'return r["list"][1], len(r["text"])',
    ];
    // Quadratic time would exceed the limit.
    expect(await run(body, host)).toEqual(['\u0000 1', 160_000]);
    expect(host.stored.life).toEqual({ text, copy: text, list: [text, '\u0000 1', 'é"\n😀é'] });
  });

  test('errors of the server can be caught by their names', async () => {
    const body = [
      'try:',
      '  context.app.create_record("life")',
      'except Exception as error:',
      '  return type(error).__name__, str(error)',
    ];
    expect(await run(body, fakeHost({ life: {} }))).toEqual(['ConflictError', 'The id life is taken']);
  });
});

describe('changes in Python whose message fails', () => {
  const begin = ['r, s = [context.app.get_record(id) for id in ("r", "s")]', 'r["total"] = 2'];
  const caught = (call: string, ...then: string[]) => ['try:', `  ${call}`, 'except Exception as error:', ...then];
  const deep = ['def deep():', '  try:', '    return deep()', '  except Exception:', '    return context.app.count()'];
  const unchanged = { r: { total: 1 }, s: { total: 1 } };

  const cases: [name: string, body: string[], gives: unknown, stored: object][] = [
    [
      'they are stored with the next message when a call is too large',
      caught('context.app.search("", names={"x": "\\x01" * 400000})', '  return type(error).__name__'),
      'ValueError',
      { r: { total: 2 }, s: { total: 1 } },
    ],
    [
      'they are stored with the next message when the arguments of a call are not JSON',
      caught('context.app.search("", names={"x": len})', '  return type(error).__name__'),
      'TypeError',
      { r: { total: 2 }, s: { total: 1 } },
    ],
    [
      'they are stored when a value that is not JSON is replaced',
      ['s["l"] = []', 's["l"].append(len)', ...caught('context.app.count()', '  s["l"] = [type(error).__name__]')],
      null,
      { r: { total: 2 }, s: { total: 1, l: ['TypeError'] } },
    ],
    [
      'the request fails when such a value stays',
      ['s["l"] = []', 's["l"].append(len)', ...caught('context.app.count()', '  pass')],
      expect.stringMatching(/^TypeError: /),
      unchanged,
    ],
    [
      'the request fails when a list gets a number that is none in JSON',
      ['s["l"] = l = []', 'l.append(float("nan"))'],
      'TypeError: the item l is or holds the number nan, which JSON does not have',
      unchanged,
    ],
    [
      'the request fails when a list gets a whole number that JSON cannot hold',
      ['s["l"] = l = []', 'context.app.count()', 'l.append(2 ** 53 + 1)'],
      expect.stringMatching(/^TypeError: the item l is or holds the number 9007199254740993, which JSON cannot hold/),
      { r: { total: 2 }, s: { total: 1, l: [] } },
    ],
    [
      'the request fails when the server refuses one',
      ['r["refused"] = 1', 's["total"] = 3', ...caught('context.app.count()', '  pass')],
      'There is a rule against it',
      unchanged,
    ],
    [
      'the others are stored when the function fails with the refusal, which its error mark shows',
      ['r["refused"] = 1', 's["total"] = 3', 'context.app.count()'],
      expect.stringMatching(/^ForbiddenError: There is a rule against it/),
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
    expect(await run([...begin, ...body], host).catch((error: Error) => error.message)).toEqual(gives);
    expect(host.stored).toEqual(stored);
  });

  test('they are stored once when the stack was full', async () => {
    const host = fakeHost({ r: { total: 1 }, s: { total: 1 } });
    expect(await run([...begin, 's.inc("total")', ...deep, 'return deep()'], host)).toBe(2);
    expect(host.stored).toEqual({ r: { total: 2 }, s: { total: 2 } });
  });
});
