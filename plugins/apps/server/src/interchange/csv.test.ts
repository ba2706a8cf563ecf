import { expect, test } from 'vitest';
import type { Json } from '../../../shared/json';
import { cellOf, csvText, fromSpreadsheet, itemOf, notFormula } from './csv';
import { csvRows } from './text';

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
  '1234567890123456789',
  '[1e999]',
  '0.1e-400',
  '-1,5',
  '1,5e-7',
  0,
  -1.5,
  1.5e-7,
  1e300,
  true,
  false,
  null,
  [],
  [1, 'a', null],
  { a: { b: '"' } },
  undefined,
];

test.each([
  [1, true],
  [2, false],
  [3, true],
  [1000, false],
])('every value comes back, in pieces of %d, with decimal commas: %s', async (size, hasCommas) => {
  const cellsOf = (row: readonly (Json | undefined)[]) => row.map((value) => cellOf(value, hasCommas));
  const itemsOf = (row: readonly string[] = []) => row.map((cell) => itemOf(cell, hasCommas));
  const text = csvText(cellsOf(values)) + csvText(cellsOf([...values].reverse()));
  const [first, second, ...more] = await rowsOf(text, size);
  expect(itemsOf(first)).toEqual(values);
  expect(itemsOf(second)).toEqual([...values].reverse());
  expect(more).toEqual([]);
});

test.each<[text: string, cell: string]>([
  ['=1+1', "'=1+1"],
  ["'=1+1", "''=1+1"],
  ['+1', "'+1"],
  ['-x', "'-x"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t'=1"],
  ['\r=1', "'\r'=1"],
  ['\n=1', "'\n'=1"],
  ['\tx', "'\tx"],
  ['＝1+1', "'＝1+1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠A1', "'＠A1"],
  ['a;=1', "a;'=1"],
  ["a;'=1", "a;''=1"],
  ['a;"=1', `a;'"=1`],
  ['a;;＝1;-2', "a;;'＝1;'-2"],
  ['a\n=1', "a\n'=1"],
  ['a\r\n@b', "a\r\n'@b"],
  ['a\t+b', "a\t'+b"],
  ['-1.5', '-1.5'],
  ['-1.5e-7', '-1.5e-7'],
  ["a;'b", "a;'b"],
  ["'a", "'a"],
  ['a=1', 'a=1'],
  ['a-b; c', 'a-b; c'],
])('%j is no formula, and comes back', (text, cell) => {
  expect(notFormula(text)).toBe(cell);
  expect(fromSpreadsheet(cell)).toBe(text);
});

test('any text comes back from a cell without formulas', () => {
  const signs = ['=', '+', '-', '@', '＝', '＠', "'", '"', ';', '\t', '\r', '\n', ' ', ',', 'a', '1'];
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  const isFormula = /[;\t\r\n]"*[=+\-@＝＋－＠]/;
  const texts = Array.from({ length: 20_000 }, () =>
    Array.from({ length: next(9) }, () => signs[next(signs.length)]).join(''),
  );
  const wrong = texts.filter((text) => {
    const cell = notFormula(text);
    return fromSpreadsheet(cell) !== text || isFormula.test(cell);
  });
  expect(wrong).toEqual([]);
});

test.each(['1234567890123456789', '-9007199254740993', '1e999', '1e-400', '[1, 9007199254740993]'])(
  'a cell of %s stays a text, because the number would change',
  (cell) => {
    expect(itemOf(cell)).toBe(cell);
    expect(cellOf(cell)).toBe(cell);
  },
);

test('files that spreadsheets write are read', async () => {
  expect(await rowsOf('id,n\n"a",1\r\n"b ""x""",\r\nc,"2\n3"')).toEqual([
    ['id', 'n'],
    ['a', '1'],
    ['b "x"', ''],
    ['c', '2\n3'],
  ]);
  expect(await rowsOf('\ufeff"id",n\r\na,1\n\nb', 1)).toEqual([['id', 'n'], ['a', '1'], [''], ['b']]);
  await expect(rowsOf('id\n"open')).rejects.toThrow('not closed');
  expect(await rowsOf('id\n5" disk\n37°36\'37.8"N\n"a"b\na "b" c')).toEqual([
    ['id'],
    ['5" disk'],
    ['37°36\'37.8"N'],
    ['"a"b'],
    ['a "b" c'],
  ]);
});
