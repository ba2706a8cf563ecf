import { describe, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import type { Items } from '../../../shared/json';
import { csvTable, type RecordRow, type TableOptions } from './table';
import { declaring, inOrder, NONE, records as readRecords } from './testing/files';
import { xlsxTable } from './xlsx';

async function collected(pieces: AsyncIterable<string | Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(Buffer.from(piece as string));
  return Buffer.concat(all);
}

type Row = Omit<RecordRow, 'seq'>;

const xlsx = (records: Row[], options: Partial<TableOptions> = {}) =>
  collected(xlsxTable(() => [inOrder(records)], { declared: NONE, isWhole: true, ...options }));

const hostile: Items = JSON.parse(
  '{"__proto__":{"a":1},"constructor":"x","(more)":"own","=1":"=1","":1," ID ":2,"Name":3}',
);
const kept: Row[] = [
  { id: '10', items: { ...hostile, text: '10', number: -1e-7, none: null, empty: '', mixed: 5, both: 'x' } },
  {
    id: '01067',
    items: { text: '(null)', number: 1e300, list: [1, 'a', null], truth: true, mixed: 'five', both: null },
  },
  { id: '1E5', items: { text: "'=1", truth: false, mixed: '"5"', both: '["x"]', none: null } },
  { id: 'MAR5', items: { text: '_x0041_ \u0001 \r\n\t<&>"', mixed: null, both: '"' } },
  { id: "'", items: { text: ' blank ', mixed: [true], both: '2026-03-01' } },
  { id: '=id', items: { text: "a;'=1", number: 0.1 + 0.2, both: '12:30' } },
  { id: 'comma', items: { text: '-1,5', number: -1.5, mixed: '1,5', both: '1,5' } },
  { id: '"q"', items: { text: '😀 \ud800', both: 'TRUE' } },
];

/** Elements of other types than the values that are stored: an element may have got its type after its records. */
const others = declaring({
  text: 'number',
  number: 'text',
  none: 'list',
  mixed: 'boolean',
  both: 'date',
  truth: 'text',
});
const named = kept.map(({ id, items }) => ({ id, items: { block: 'person', ...items } }));

describe.each([
  ['is imported', kept, { declared: { ...NONE, names: ['text', 'name'] } }],
  ['is restored', named, { declared: others, isExact: true }],
])('every record comes back where it %s', (_, given, options) => {
  test('from XLSX', async () => {
    const found = await readRecords('a.xlsx', [await xlsx(given, options)], options);
    expect(found.map(({ id, items }) => ({ id, items }))).toEqual(given);
  });

  test.each(['comma', 'semicolon', 'tab'] as const)('from CSV with %s', async (separator) => {
    const whole = { declared: options.declared, isWhole: true, separator, hasMark: true };
    const csv = await collected(csvTable(() => [inOrder(given.slice(0, -1))], whole));
    const found = await readRecords('a.csv', [csv], options);
    expect(found.map(({ id, items }) => ({ id, items }))).toEqual(given.slice(0, -1));
  });
});

describe.each([
  ['a.csv', csvTable],
  ['a.xlsx', xlsxTable],
])('records that change while %s is made', (file, tableOf) => {
  const first: Row[] = [
    { id: 'a', items: { n: 1, none: null } },
    { id: 'b', items: { t: 'x' } },
  ];
  /** What is read from a table whose rows are those of a second reading. */
  const written = async (second: Row[], options: Partial<TableOptions> = {}) => {
    const readings = [first, second];
    const read = () => [inOrder(readings.shift() ?? [])];
    const table = await collected(tableOf(read, { declared: NONE, isWhole: true, ...options }));
    return (await readRecords(file, [table])).map(({ id, items }) => ({ id, items }));
  };

  test.each<[what: string, second: Row[], found: Row[]]>([
    ['newer records are left out', [...first, { id: 'c', items: { other: 1 } }], first],
    [
      'other values of the same types are in it',
      [{ id: 'a', items: { n: 2, none: null } }],
      [{ id: 'a', items: { n: 2, none: null } }],
    ],
  ])('%s', async (_, second, found) => {
    expect(await written(second)).toEqual(found);
  });

  test.each<[what: string, items: Items, options: Partial<TableOptions>]>([
    ['an item without a column', { n: 1, other: 1 }, {}],
    ['an item without a column, also for people', { n: 1, other: 1 }, { isWhole: false }],
    ['a text among numbers', { n: 'one' }, {}],
    ['a number among texts', { t: 1 }, {}],
    ['a value where there was none', { none: 1 }, {}],
  ])('%s ends it', async (_, items, options) => {
    await expect(written([{ id: 'a', items }], options)).rejects.toThrow(
      'The record "a" was changed during the export',
    );
  });
});

describe('a workbook', () => {
  const file = (parts: Record<string, string>): Promise<Buffer> => {
    const zip = new ZipFile();
    for (const [name, text] of Object.entries(parts)) zip.addBuffer(Buffer.from(text), name);
    zip.end();
    return collected(zip.outputStream as never);
  };
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const rel = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const book = (rows: string, rest: Record<string, string> = {}) =>
    file({
      '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/></Types>`,
      'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${rel}"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
      'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${rel}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
      'xl/worksheets/sheet1.xml': `<worksheet xmlns="${main}"><sheetData>${rows}</sheetData></worksheet>`,
      ...rest,
    });
  const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;

  test('may have rows far below, which are no memory', async () => {
    const bytes = await book(
      `<row r="1"><c r="A1" t="inlineStr"><is><t>n</t></is></c></row><row r="900"><c r="A900"><v>5</v></c></row>`,
    );
    expect(await readRecords('a.xlsx', [bytes])).toMatchObject([{ items: { n: 5 } }]);
  });

  test('has numbers where cells for days hold none', async () => {
    const styles = `<styleSheet xmlns="${main}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`;
    const rows = ['-5', '9999999', '45717'].map((value) => `<row><c s="1"><v>${value}</v></c></row>`).join('');
    const bytes = await book(`<row>${cell('day')}</row>${rows}`, {
      '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${types}.styles+xml"/></Types>`,
      'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${rel}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${rel}/styles" Target="styles.xml"/></Relationships>`,
      'xl/styles.xml': styles,
    });
    const found = await readRecords('a.xlsx', [bytes]);
    expect(found.map(({ items }) => items.day)).toEqual(['-5', '9999999', '2025-03-01']);
  });

  const cells = Array.from({ length: 200 }, () => cell('x')).join('');
  test.each<[what: string, bytes: () => Promise<Buffer> | Buffer, message: RegExp]>([
    ['no ZIP', () => Buffer.from('id,name\n'), /cannot be read as XLSX/],
    ['no byte', () => Buffer.alloc(0), /cannot be read as XLSX/],
    ['one byte', () => Buffer.from('P'), /cannot be read as XLSX/],
    ['nothing', () => Buffer.alloc(2), /cannot be read as XLSX/],
    ['a ZIP of something else', () => file({ 'a.txt': 'x' }), /cannot be read as XLSX/],
    ['no cells', () => book(''), /no sheet with cells/],
    ['more than it may unpack', () => book(cell('x'.repeat(1_100_000))), /MB of cells/],
    [
      'too many rows',
      () => book(Array.from({ length: 1_002 }, () => `<row>${cell('x')}</row>`).join('')),
      /more than 1000 rows/,
    ],
    [
      'too many cells',
      () => book(Array.from({ length: 60 }, () => `<row>${cells}</row>`).join('')),
      /more than 10000 cells/,
    ],
    [
      'an error in a cell',
      () => book(`<row>${cell('n')}</row><row><c t="e"><v>#DIV/0!</v></c></row>`),
      /Row 2, column "n": holds the error #DIV\/0!/,
    ],
  ])('with %s is refused', async (_, bytes, message) => {
    await expect(readRecords('a.xlsx', [await bytes()])).rejects.toThrow(message);
  });

  test('of another sheet is read by its name', async () => {
    await expect(readRecords('a.xlsx', [await book(`<row>${cell('n')}</row>`)], { sheet: 'T' })).rejects.toThrow(
      'no sheet "T"; it has S',
    );
  });

  test.each<[what: string, items: Items, message: RegExp]>([
    [
      'a text that is longer than a cell',
      { long: 'x'.repeat(32_768) },
      /"long" of the record "a" has 32768 characters/,
    ],
  ])('cannot hold %s', async (_, items, message) => {
    await expect(xlsx([{ id: 'a', items }])).rejects.toThrow(message);
    const readings: Row[][] = [[{ id: 'a', items: { long: 'x' } }], [{ id: 'a', items }]];
    const changing = xlsxTable(() => [inOrder(readings.shift() ?? [])], { declared: NONE, isWhole: true });
    await expect(collected(changing)).rejects.toThrow(message);
  });
});
