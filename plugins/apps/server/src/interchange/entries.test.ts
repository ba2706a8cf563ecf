import { describe, expect, test } from 'vitest';
import { records } from './testing/files';

const read = (file: string, ...pieces: (string | Buffer)[]) => records(file, pieces);

describe('records of a file', () => {
  test.each<[what: string, line: object, entry: object]>([
    ['an export', { id: 'a', creator: 'user:1', items: { n: 1 } }, { id: 'a', creator: 'user:1', items: { n: 1 } }],
    [
      'a listing',
      { path: 'http://x/a', id: 'a', items: { id: 'a', n: 1 } },
      { id: 'a', creator: null, items: { n: 1 } },
    ],
    ['items', { id: 'a', n: 1 }, { id: 'a', creator: null, items: { n: 1 } }],
    ['items without an id', { n: 1 }, { creator: null, items: { n: 1 } }],
    ['items named items', { items: {}, n: 1 }, { creator: null, items: { items: {}, n: 1 } }],
  ])('are read from a line of %s', async (_, line, entry) => {
    const whenTaken = 'id' in entry ? { whenTaken: 'refuse' } : {};
    expect(await read('a.ndjson', `\n${JSON.stringify(line)}\r\n\n`)).toEqual([{ ...entry, ...whenTaken }]);
  });

  test.each<[file: string, text: string, message: string]>([
    ['a.ndjson', '{"id":"b"}\n{"id":', 'Line 2 is not JSON'],
    ['a.ndjson', '[1]', 'Line 1 is not an object'],
    ['a.ndjson', '{"id":3}', 'Line 1: the id is not a string'],
    ['a.ndjson', '{"creator":3,"items":{}}', 'Line 1: the creator is not a string'],
    ['a.ndjson', '{}\n{"n":9007199254740993}', 'Line 2: The number 9007199254740993 at position 5 cannot be stored'],
    ['a.ndjson', '{"n":1e999}', 'Line 1: The number 1e999'],
    ['a.ndjson', '{"n":0.1e-400}', 'Line 1: The number 0.1e-400'],
    ['a.csv', 'id,n\na', 'Row 2 has 1 cells, not 2'],
    ['a.csv', 'id\n"a', 'The last quoted cell is not closed'],
    ['a.csv', 'id,(more)\na,[1]', 'Row 2: the column "(more)" is not a JSON object'],
    ['a.csv', 'id,(more)\na,null', 'Row 2: the column "(more)" is not a JSON object'],
    ['a.csv', '(more)\n"{""id"":3}"', 'Row 2: the id is not a string'],
  ])('are not in %s with %j', async (file, text, message) => {
    await expect(read(file, text)).rejects.toThrow(message);
  });

  test.each(['a.ndjson', 'a.csv'])('are not in %s after bytes that are not UTF-8', async (file) => {
    const begin = file === 'a.csv' ? 'id\n' : '{"id":"';
    await expect(read(file, begin, Buffer.from([0x61, 0xff]), '"}\n')).rejects.toThrow('The file is not UTF-8');
    await expect(read(file, begin, Buffer.from([0xc3]))).rejects.toThrow('The file is not UTF-8');
  });

  test('are read in pieces, with a byte order mark and with every separator that JSON may hold', async () => {
    const text = 'a\u2028b\u2029c\u0085d\u000be\r\u00e9\u{1f600}';
    const bytes = Buffer.from(`\ufeff${JSON.stringify({ t: text })}\r\n{"t":"\u2028"}`);
    const pieces = Array.from(bytes, (byte) => Buffer.from([byte]));
    const entries = [text, '\u2028'].map((t) => ({ creator: null, items: { t } }));
    expect(await read('a.ndjson', ...pieces)).toEqual(entries);
    expect(await read('a.ndjson', bytes)).toEqual(entries);
    expect(await read('a.csv', Buffer.from('\ufeffid,n\na,\u2028'))).toEqual([
      { id: 'a', whenTaken: 'refuse', creator: null, items: { n: '\u2028' } },
    ]);
  });

  test('keep ids that look like numbers', async () => {
    expect(await read('a.CSV', 'id,n\n10,10\n')).toEqual([
      { id: '10', whenTaken: 'refuse', creator: null, items: { n: 10 } },
    ]);
  });
});
