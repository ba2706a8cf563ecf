import { beforeAll, describe, expect, test } from 'vitest';
import { useStage } from '../support/hooks';
import { queries, records, refusals } from './queries/cases';

interface Entry {
  id: string;
  items: Record<string, unknown>;
}

const stage = useStage();
beforeAll(async () => {
  const answer = await stage.send({ send: 'POST search/records', json: records });
  expect(answer.status, answer.text).toBe(201);
});

const search = (body: object) => stage.send<Entry[]>({ send: 'POST search/search', json: body });

async function found(body: object): Promise<string> {
  const answer = await search(body);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.map(({ id }) => id).join('');
}

describe('queries', () => {
  test.each(queries)('the query %s finds its records', async (query, ids, names) => {
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
  test.each(refusals)('%s is refused', async (_name, body, says) => {
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

  // More than 100 records are sent in parts.
  test.each([0, 1, 100, 101, 250, 10_000])(
    'an answer of %i records has its length and all entries in order',
    async (limit) => {
      const { json, text, headers } = await stage.send<Entry[]>({
        as: 'mona',
        send: 'POST flow/search',
        json: { limit },
      });
      expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
      expect(json.map(({ items }) => items.n)).toEqual(Array.from({ length: limit }, (_, n) => n));
    },
  );
});
