import { expect, test } from 'vitest';
import type { Json } from '../../../shared/json';
import { cellOf, csvRows, csvText, itemOf } from './csv';

async function* pieces(text: string, size: number) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function rowsOf(text: string, size = 3) {
  const rows: string[][] = [];
  for await (const row of csvRows(pieces(text, size))) rows.push(row);
  return rows;
}

const values: (Json | undefined)[] = [
  'plain',
  '',
  '10',
  'null',
  'true',
  '"',
  '""',
  'a,b',
  'a"b',
  'a""b',
  '"a"',
  'x\ny',
  'x\r\ny',
  '[1]',
  '{',
  ' ',
  'é😀',
  "'",
  '=1+1',
  '1e5',
  0,
  -1.5,
  1e300,
  true,
  false,
  null,
  [],
  [1, 'a', null],
  { a: { b: '"' } },
  undefined,
];

test.each([1, 2, 3, 1000])('every value comes back, in pieces of %d', async (size) => {
  const text = csvText([values.map(cellOf), [...values].reverse().map(cellOf)]);
  const [first, second, ...more] = await rowsOf(text, size);
  expect(first?.map(itemOf)).toEqual(values);
  expect(second?.map(itemOf)).toEqual([...values].reverse());
  expect(more).toEqual([]);
});

test('files that spreadsheets write are read', async () => {
  expect(await rowsOf('id,n\n"a",1\r\n"b ""x""",\r\nc,"2\n3"')).toEqual([
    ['id', 'n'],
    ['a', '1'],
    ['b "x"', ''],
    ['c', '2\n3'],
  ]);
  expect(await rowsOf('\ufeff"id",n\r\na,1\n\nb', 1)).toEqual([['id', 'n'], ['a', '1'], [''], ['b']]);
  await expect(rowsOf('id\n"open')).rejects.toThrow('not closed');
  await expect(rowsOf('id\n"a"b')).rejects.toThrow('line 2');
});
