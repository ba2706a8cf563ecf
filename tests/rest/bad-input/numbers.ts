import { describe } from 'vitest';
import type { Row, Stage } from '../../support/stage';
import { runTable } from '../../support/table';

export function wrongNumbers(stage: Stage): void {
  describe('numbers that cannot be represented', () => {
    const json = { 'content-type': 'application/json' };
    const ndjson = { 'content-type': 'application/x-ndjson' };
    const refused: [number: string, shown: string][] = [
      ['1e400', '1e400'],
      ['-1E+309', '-1E+309'],
      ['9007199254740993', '9007199254740993'],
      ['-9007199254740993', '-9007199254740993'],
      ['12345678901234567890', '12345678901234567890'],
      ['0.1e-400', '0.1e-400'],
      ['9'.repeat(400), `${'9'.repeat(40)}…`],
    ];
    const bodies: [name: string, send: string, frame: [string, string]][] = [
      ['2', 'POST open/blocks/values/number', ['{"a":', '}']],
      ['5', 'POST open', ['{"a":{"b":[', ']}}']],
      ['6', 'POST open/records', ['[{},{"a":', '}]']],
      ['7', 'PUT open/record/never', ['{"a":', '}']],
      ['10', 'PATCH open/record/stays', ['{"$inc":{"a":', '}}']],
      ['11', 'POST open/search', ['{"names":{"a":', '}}']],
    ];
    runTable(stage, [
      ...bodies.flatMap(([name, send, [before, after]]) =>
        refused.map(
          ([number, shown]): Row => ({
            title: `operation ${name} refuses the number`,
            send,
            headers: json,
            body: before + number + after,
            status: 400,
            error: 'BadRequestError',
            has: [`The number ${shown} at position ${before.length} cannot be stored exactly`],
            gives: { error: { details: { position: before.length } } },
          }),
        ),
      ),
      {
        title: 'NDJSON refuses the number with its line',
        send: 'POST open/records',
        headers: ndjson,
        body: '{"a":1}\n\n{"a":9007199254740993}\n',
        status: 400,
        error: 'BadRequestError',
        has: ['The number 9007199254740993 at position 5 of line 3 cannot be stored exactly'],
      },
      {
        title: 'a search by a plain link refuses the number in its names',
        send: `GET open/search?query=${encodeURIComponent('id == one')}&names=${encodeURIComponent('{"one":1e-400}')}`,
        status: 400,
        error: 'BadRequestError',
        has: ['The number 1e-400 at position 7 of \\"names\\" cannot be stored exactly'],
      },
      ...['9007199254740993', '1e-400'].map(
        (total): Row => ({
          title: `a NUMBER does not take the text ${total}`,
          send: 'PUT open/record/never',
          json: { block: 'note', total },
          status: 422,
          gives: { error: { details: { errors: [{ path: ['total'] }] } } },
        }),
      ),
      {
        title: 'a record of other numbers is created',
        send: 'PUT open/record/numbers',
        headers: json,
        body: '{"list": [0.1, 1e21, 9007199254740991, 9007199254740992, 3.14159265358979323846, 5e-324, 0.0e-400, "9007199254740993"]}',
        status: 201,
      },
      {
        title: 'other numbers are kept',
        send: 'GET open/record/numbers',
        status: 200,
        is: {
          id: 'numbers',
          list: [0.1, 1e21, 9007199254740991, 9007199254740992, Math.PI, 5e-324, 0, '9007199254740993'],
        },
      },
      { title: 'the record of other numbers is deleted', send: 'DELETE open/record/numbers', status: 200 },
    ]);
  });
}
