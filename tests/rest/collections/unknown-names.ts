import { describe, expect, test } from 'vitest';
import type { Row, Stage } from '../../support/stage';
import { runTable } from '../../support/table';
import { requestsTo } from './requests';

/** A row for a request that is refused for one name, and says which are known. */
const refused = (send: string, name: string, says: string, rest: Partial<Row> = {}): Row => ({
  title: `${name} is unknown`,
  send,
  status: 400,
  error: 'BadRequestError',
  has: [JSON.stringify(says).slice(1, -1)],
  ...rest,
});

const parameter = (name: string, known: string) => `Unknown parameter "${name}"${known}`;
const none = '; there are none here';
const ofList = 'are cursor, limit, offset';
const ofSearch = 'are query, sort_index, reverse, limit, offset, names, with_total';
const ofRefresh = 'Unknown key "rebuilt" in the body, did you mean "rebuild"? Known are rebuild';

export function unknownNames(stage: Stage): void {
  const { clear, post } = requestsTo(stage);

  describe('nothing is ignored silently', () => {
    test('there are records', async () => {
      await clear('search');
      await post('search', [{ id: 'kept', total: 1 }]);
    });

    runTable(stage, [
      refused('GET search?limit=1', 'a parameter of 1', parameter('limit', none)),
      refused('HEAD search?limit=1', 'a parameter of HEAD', '', { error: undefined, has: [] }),
      refused('GET search/record/kept?fields=total', 'a parameter of 3', parameter('fields', none)),
      refused(
        'GET search/records?lmit=1',
        'a parameter of 4',
        parameter('lmit', `, did you mean "limit"? Known ${ofList}`),
      ),
      refused('GET search/records?page=1', 'another parameter of 4', parameter('page', `; known ${ofList}`)),
      refused(
        'GET search/records?limit=1&filters[total]=1',
        'a nested parameter',
        parameter('filters', `; known ${ofList}`),
      ),
      refused('GET search/records.csv?query=x', 'a parameter of the table', parameter('query', `; known ${ofList}`)),
      refused('POST search?draft=true', 'a parameter of 5', parameter('draft', none), { json: {} }),
      refused('POST search/records?draft=true', 'a parameter of 6', parameter('draft', none), { json: [{}] }),
      refused('PUT search/record/new?draft=true', 'a parameter of 7', parameter('draft', none), { json: {} }),
      refused('DELETE search/record/kept?soft=true', 'a parameter of 8', parameter('soft', none)),
      refused('DELETE search/records?query=total', 'a parameter of 9', parameter('query', none)),
      refused('PATCH search/record/kept?upsert=true', 'a parameter of 10', parameter('upsert', none), { json: {} }),
      refused('POST search/record/kept?upsert=true', 'a parameter of 10 by POST', parameter('upsert', none), {
        json: {},
      }),
      refused('POST search/search?limit=1', 'a parameter of 11', parameter('limit', none), { json: {} }),
      refused(
        'GET search/search?sort=total',
        'a parameter of 11 by a plain link',
        parameter('sort', `; known ${ofSearch}`),
      ),
      refused('GET search/search.csv?q=total', 'a parameter of its table', parameter('q', `; known ${ofSearch}`)),
      refused('POST search/refresh?rebuild=true', 'a parameter of 12', parameter('rebuild', none), { as: 'mona' }),
      refused('DELETE search/record/kept', 'a key of 8', 'Unknown key "reason" in the body', { json: { reason: 'x' } }),
      refused('DELETE search/records', 'a key of 9', 'Unknown key "query" in the body; DELETE takes no body here', {
        json: { query: 'total == 5' },
      }),
      refused('GET search/records', 'a key of 4', 'Unknown key "limit" in the body', { json: { limit: 1 } }),
      refused('POST search/search', 'a key of 11', 'Unknown key "limt" in the body, did you mean "limit"? Known are', {
        json: { limt: 1 },
      }),
      refused('POST search/refresh', 'a key of 12', ofRefresh, { as: 'mona', json: { rebuilt: true } }),
      refused('PATCH search/record/kept', 'an operator', 'Unknown operator "$set" in the body; known are $inc', {
        json: { $set: { total: 2 } },
      }),
      refused(
        'PATCH search/record/kept',
        'a misspelt operator',
        'Unknown operator "$icn" in the body, did you mean "$inc"?',
        {
          json: { $icn: { total: 2 } },
        },
      ),
    ]);

    const query = '{"query":"total == 5"}';
    test.each<[what: string, type: string, body: string, status: number, encoding?: string]>([
      ['a form', 'application/x-www-form-urlencoded', query, 415],
      ['a text', 'text/plain', query, 415],
      ['a table', 'text/csv', 'total\n5\n', 415],
      ['lines', 'application/x-ndjson', query, 415],
      [
        'multipart',
        'multipart/form-data; boundary=b',
        `--b\r\nContent-Disposition: form-data; name="query"\r\n\r\nx\r\n--b--\r\n`,
        415,
      ],
      ['no JSON', 'application/json', '{"query":', 400],
      ['JSON with an escape', 'application/json', '{"\\u0071uery":"total == 5"}', 400],
      ['a list', 'application/json', '[1]', 400],
    ])('DELETE with %s as its body deletes nothing', async (_what, type, body, status) => {
      const answer = await stage.send({ send: 'DELETE search/records', body, headers: { 'content-type': type } });
      expect(answer.status, answer.text).toBe(status);
    });

    test('none of it was carried out', async () => {
      const { json } = await stage.send({ send: 'GET search/records' });
      expect(json).toMatchObject([{ items: { id: 'kept', total: 1 } }]);
      expect(json).toHaveLength(1);
    });

    runTable(stage, [
      { title: 'the locale of a site is a parameter of all', send: 'GET search?locale=en', status: 200 },
      { title: 'so is the mark of an address that was saved', send: 'GET search/record/kept?saved', status: 200 },
      { title: 'also of searches', send: 'GET search/search?locale=en&limit=0', status: 200, is: [] },
      { title: 'an empty body is none', send: 'DELETE search/records', json: {}, status: 200 },
      {
        title: 'an item may begin with a dollar sign where no operator is taken',
        send: 'PUT search/record/dollar',
        json: { $price: 1 },
        status: 201,
      },
      {
        title: 'elements take any parameter, for logic',
        send: 'GET open/blocks/values/number?anything=1',
        status: 200,
      },
      {
        title: 'elements take any key, for logic',
        send: 'POST open/blocks/values/number?anything=1',
        json: { anything: 1 },
        status: 200,
      },
      {
        title: 'pages of records take any parameter',
        send: 'GET search/record/dollar?a=1',
        accept: 'text/html',
        status: 200,
      },
      { title: 'definitions of blocks take any parameter', send: 'GET open/blocks/values?a=1', status: 200 },
    ]);
  });
}
