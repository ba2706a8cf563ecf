import { beforeAll, describe, expect, test } from 'vitest';
import { useStage } from '../support/hooks';

interface Entry {
  id: string;
}

const stage = useStage();
beforeAll(async () => {
  const answer = await stage.send({ send: 'POST search/records', json: records });
  expect(answer.status, answer.text).toBe(201);
});

/** In order of creation. */
const records = [
  { id: 'a', title: 'Alpha', total: 3, flag: true, tags: ['red', 'green'], mixed: 2, body: 'The quick brown fox' },
  {
    id: 'b',
    title: 'beta',
    total: 1,
    flag: false,
    tags: ['blue'],
    mixed: '2',
    body: 'A lazy dog, a quick dog and a dog',
  },
  { id: 'c', title: 'Gämma', total: 2, flag: true, tags: [], mixed: true, body: 'Crème brûlée für Zoë' },
  { id: 'd', title: 'it\'s "D"', total: -1.5, flag: null, tags: ['red'], mixed: null, body: 'quick-witted prefixing' },
  { id: 'e', title: '', total: null, mixed: 10, body: '' },
  { id: 'F', title: 'alpha', total: 3, flag: false, tags: ['green', 'red', 'blue'], mixed: 'x' },
];

const search = (body: object) => stage.send<Entry[]>({ send: 'POST search/search', json: body });

async function found(body: object): Promise<string> {
  const answer = await search(body);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.map(({ id }) => id).join('');
}

describe('queries', () => {
  const cases: [query: string, ids: string, names?: object][] = [
    // Comparisons on a field index match values of the same type only.
    ['total == 3', 'aF'],
    ['total != 3', 'bcd'],
    ['total < 2', 'bd'],
    ['total <= 2', 'bcd'],
    ['total > 1', 'acF'],
    ['total >= 3', 'aF'],
    ['total == -1.5', 'd'],
    ['1 < total < 3', 'c'],
    ['1 <= total <= 3', 'abcF'],
    ['1 <= total < 3', 'bc'],
    ['-2 < total <= 1', 'bd'],
    ['total in any(1, 2)', 'bc'],
    ['total in any([1, 2])', 'bc'],
    ['mixed == 2', 'a'],
    ["mixed == '2'", 'b'],
    ['mixed == true', 'c'],
    ['mixed > 1', 'ae'],
    ["mixed > 'a'", 'F'],
    ['flag == true', 'ac'],
    ['flag == True', 'ac'],
    ['flag == False', 'bF'],
    // Texts are compared exactly.
    ["title == 'alpha'", 'F'],
    ['title == "Alpha"', 'a'],
    ["title == 'Gämma'", 'c'],
    ["title == ''", 'e'],
    ['title == "it\'s \\"D\\""', 'd'],
    ["title > 'a'", 'bdF'],
    ["'A' <= title < 'B'", 'a'],
    ["id == 'F'", 'F'],
    ["id == 'f'", ''],
    ["id in any('a', 'c', 'zz')", 'ac'],
    ["id > 'b'", 'cde'],
    // Keyword index: membership.
    ["'red' in tags", 'adF'],
    ["'re' in tags", ''],
    ["tags in any('blue', 'green')", 'abF'],
    ["tags in all('red', 'green')", 'aF'],
    ["tags in all(['red', 'green', 'blue'])", 'F'],
    ['tags in any(wanted)', 'abF', { wanted: ['blue', 'green'] }],
    // Text index: words, in any order, case- and accent-insensitive.
    ["'quick' in body", 'abd'],
    ["'QUICK' in body", 'abd'],
    ["'fox quick' in body", 'a'],
    ["'quick cat' in body", ''],
    ["'creme brulee' in body", 'c'],
    ["'Zoe' in body", 'c'],
    ["'fur' in body", 'c'],
    ["'brow*' in body", 'a'],
    ["'brow' in body", ''],
    ["body == 'Fox QUICK'", 'a'],
    ["body != 'quick'", 'ceF'],
    ['\'"quick brown"\' in body', 'a'],
    ['\'"brown quick"\' in body', ''],
    ["'fox or dog' in body", 'ab'],
    ["'quick -dog' in body", 'ad'],
    // and, or, not, brackets, and their precedence.
    ['total == 3 and flag == true', 'a'],
    ['total == 3 & flag == true', 'a'],
    ['total == 1 or total == 2', 'bc'],
    ['total == 1 | total == 2', 'bc'],
    ['total == 1 or total == 3 and flag == true', 'ab'],
    ['(total == 1 or total == 3) and flag == true', 'a'],
    ['((total == 1))', 'b'],
    ["'red' in tags and not 'green' in tags", 'd'],
    ["'red' in tags and 'green' not in tags", 'd'],
    ['total > 0 and not (total == 3)', 'bc'],
    ['not not total == 3', 'aF'],
    // Bound parameters.
    ['total == wanted', 'aF', { wanted: 3 }],
    ['title == wanted', 'd', { wanted: 'it\'s "D"' }],
    ['low <= total < high', 'bc', { low: 1, high: 3 }],
    ['flag == wanted', 'ac', { wanted: true }],
    ["title == wanted and 'red' in tags", '', { wanted: "x' or total == 3 or title == 'y" }],
    ['', 'abcdeF'],
    ['   ', 'abcdeF'],
    ['\n total\t==\n3 ', 'aF'],
  ];
  test.each(cases)('the query %s finds its records', async (query, ids, names) => {
    expect(await found({ query, ...(names ? { names } : {}) })).toBe(ids);
  });
});

describe('order', () => {
  const cases: [string, object, string | RegExp][] = [
    ['records come by creation without sort_index', {}, 'abcdeF'],
    ['null and missing values come last, ties by creation', { sort_index: 'total' }, 'dbcaFe'],
    // The specification leaves open whether `reverse` reverses ties.
    ['null and missing values come last in both directions', { sort_index: 'total', reverse: true }, /^(aF|Fa)cbde$/],
    ['texts are sorted by code point', { sort_index: 'title' }, 'eacFbd'],
    ['booleans come before numbers, and numbers before texts', { sort_index: 'mixed' }, 'caebFd'],
    ['records are sorted by id', { sort_index: 'id' }, 'Fabcde'],
    ['limit and offset give one page', { sort_index: 'total', limit: 2, offset: 1 }, 'bc'],
    ['an offset beyond the end gives nothing', { offset: 10 }, ''],
  ];
  test.each(cases)('%s', async (_name, body, ids) => {
    const order = await found(body);
    if (typeof ids === 'string') expect(order).toBe(ids);
    else expect(order).toMatch(ids);
  });

  test('a text index sorts by relevance', async () => {
    expect(await found({ query: "'dog' in body or 'quick' in body", sort_index: 'body' })).toMatch(/^b/);
  });

  test('pages never overlap or miss', async () => {
    for (const body of [{}, { sort_index: 'total' }, { sort_index: 'flag', reverse: true }]) {
      const all = await found(body);
      let paged = '';
      for (let offset = 0; offset < 6; offset += 2) paged += await found({ ...body, limit: 2, offset });
      expect(paged).toBe(all);
      expect([...all].sort().join('')).toBe('Fabcde');
    }
  });

  test('the total counts what limit and offset leave out', async () => {
    const { headers, json } = await search({ query: 'total > 0', limit: 1, offset: 1, with_total: true });
    expect([headers['x-total-count'], json.length]).toEqual(['4', 1]);
  });
});

describe('refusals are 400, with position and reason', () => {
  const cases: [name: string, body: object, says?: RegExp][] = [
    ['half a comparison', { query: 'total ==' }],
    ['an open bracket', { query: '(total == 1' }],
    ['a closing bracket', { query: 'total == 1)' }],
    ['an open text', { query: "title == 'x" }],
    ['two comparisons without a word between', { query: 'total == 1 total == 2' }],
    ['an operator that is none', { query: 'total === 1' }],
    ['assignment', { query: 'total = 1' }],
    ['a strange character', { query: 'total == 1; drop table records' }],
    ['and at the end', { query: 'total == 1 and' }],
    ['an unknown index', { query: 'absent == 1' }, /absent/],
    ['an item that is no index', { query: "note == 'x'" }, /note/],
    ['a prototype as an index', { query: '__proto__ == 1' }],
    ['an unknown sort index', { sort_index: 'absent' }, /absent/],
    ['a name that is not bound', { query: 'total == wanted' }, /wanted/],
    ['a name bound to an object', { query: 'total == wanted', names: { wanted: {} } }],
    ['a list where a value is wanted', { query: 'total == wanted', names: { wanted: [1] } }],
    ['a comparison of a text index', { query: "body < 'x'" }],
    ['more than 10 kB', { query: `title == '${'x'.repeat(10_300)}'` }],
    ['deeper than 50', { query: `${'('.repeat(60)}total == 1${')'.repeat(60)}` }],
    ['60 nots', { query: `${'not '.repeat(60)}total == 1` }],
    [
      'more than 1,000 values',
      { query: 'total in any(wanted)', names: { wanted: Array.from({ length: 1_001 }, (_, n) => n) } },
    ],
    ['a limit of more than 10,000', { limit: 10_001 }],
    ['a limit that is no whole number', { limit: 1.5 }],
    ['a limit as text', { limit: '1' }],
    ['an offset below 0', { offset: -1 }],
    ['names as text', { names: 'x' }],
    ['with_total as text', { with_total: 'yes' }],
  ];
  test.each(cases)('%s is refused', async (_name, body, says) => {
    const { status, json, text } = await stage.send<{ error: { name: string; message: string } }>({
      send: 'POST search/search',
      json: body,
    });
    expect([status, json], text).toMatchObject([400, { data: null, error: { status: 400, name: 'BadRequestError' } }]);
    expect(json.error.message.length).toBeGreaterThan(5);
    if (says) expect(text).toMatch(says);
  });

  test('an error says its position', async () => {
    const { text } = await search({ query: 'total == 1 and total ==== 2' });
    expect(text).toMatch(/\b(2[0-9])\b/);
  });

  test('queries just within the limits are accepted', async () => {
    expect((await search({ query: `title == '${'x'.repeat(10_000)}'` })).status).toBe(200);
    expect((await search({ query: `${'('.repeat(40)}total == 1${')'.repeat(40)}` })).status).toBe(200);
    expect(
      (await search({ query: 'total in any(wanted)', names: { wanted: Array.from({ length: 1_000 }, (_, n) => n) } }))
        .status,
    ).toBe(200);
    expect((await search({ limit: 10_000 })).status).toBe(200);
  });
});

describe('indexes follow every change', () => {
  const one = (query: string) => found({ query: `(${query}) and id in any('n1', 'n2')` });
  test('the indexes follow create, update, increment, unset by null and delete', async () => {
    await stage.put('search', 'n1', { total: 100, tags: ['blue'], body: 'first words' });
    expect(await one('total == 100')).toBe('n1');
    await stage.send({ send: 'PATCH search/record/n1', json: { total: 200, tags: ['green'], body: 'other words' } });
    expect(await one('total == 100')).toBe('');
    expect(await one("total == 200 and 'green' in tags and 'other' in body")).toBe('n1');
    expect(await one("'blue' in tags or 'first' in body")).toBe('');
    await stage.send({ send: 'PATCH search/record/n1', json: { $inc: { total: 5 } } });
    expect(await one('total == 205')).toBe('n1');
    await stage.send({ send: 'PATCH search/record/n1', json: { total: null } });
    expect(await one('total > 0')).toBe('');
    await stage.send({ send: 'DELETE search/record/n1' });
    expect(await one('not total == 205')).toBe('');
  });

  test('long texts are distinguished beyond any key length', async () => {
    const long = 'y'.repeat(400);
    await stage.put('search', 'n1', { title: `${long}1` });
    await stage.put('search', 'n2', { title: `${long}2` });
    expect(await one(`title == '${long}1'`)).toBe('n1');
    expect(await one(`title > '${long}1'`)).toBe('n2');
    for (const id of ['n1', 'n2']) await stage.send({ send: `DELETE search/record/${id}` });
  });
});

describe('more records than a search returns', () => {
  beforeAll(async () => {
    const body = Array.from({ length: 10_003 }, (_, n) => JSON.stringify({ n })).join('\n');
    const headers = { 'content-type': 'application/x-ndjson' };
    const { status, text } = await stage.send({ as: 'mona', send: 'POST flow/records', body, headers });
    expect(status, text).toBe(201);
  });
  const searched = async (body: object) => {
    const { json, headers } = await stage.send<Entry[]>({ as: 'mona', send: 'POST flow/search', json: body });
    return [json.length, headers['x-total-count'], headers.link];
  };

  test('an incomplete result says so, and how to go on', async () => {
    const next = `<${stage.host.url}/site/@@apps/flow/search>; rel="next"; offset="10000"`;
    expect(await searched({})).toEqual([10_000, '10003', next]);
    expect(await searched({ offset: 10_000 })).toEqual([3, undefined, undefined]);
    expect(await searched({ limit: 10_000 })).toEqual([10_000, undefined, undefined]);
  });
});
