import { describe, expect, test } from 'vitest';
import type { Items } from '../../../shared/json';
import type { ReadOptions } from './entries';
import { labelsOf } from './table';
import { declaring, opened, records } from './testing/files';

const declared = {
  ...declaring({
    name: 'text',
    zip: 'text',
    notes: 'text',
    active: 'boolean',
    amount: 'number',
    day: 'date',
    at: 'datetime',
    clock: 'time',
    address: 'json',
    likes: { kind: 'list', options: ['maths', 'poems', 'a, b'] },
  } as const),
  labels: labelsOf([{ name: 'amount', label: 'Amount paid' }]),
};

const itemsOf = async (text: string | Buffer, options: Partial<ReadOptions> = {}, file = 'a.csv'): Promise<Items[]> =>
  (await records(file, [text], { declared, ...options })).map(({ id, items }) =>
    id === undefined ? items : { id, ...items },
  );

/** One cell of an item of the block. */
const cell = async (name: string, text: string, options: Partial<ReadOptions> = {}) => {
  const [one = {}] = await itemsOf(`block,${name}\nperson,"${text.replaceAll('"', '""')}"\n`, options);
  return one[name];
};

describe('a table', () => {
  const ann = [{ id: 'b1', name: 'Ann', zip: '01067' }];
  test.each<[what: string, text: string]>([
    ['semicolons', 'id;name;zip\r\nb1;Ann;01067\r\n'],
    ['tabs', 'id\tname\tzip\r\nb1\tAnn\t01067\r\n'],
    ['commas', 'id,name,zip\nb1,Ann,01067'],
    ['a line sep=;', 'sep=;\r\nid;name;zip\r\nb1;Ann;01067\r\n'],
    ['a line sep=|', 'sep=|\r\nid|name|zip\r\nb1|Ann|01067\r\n'],
    ['a line "sep=,"', '"sep=,"\nid,name,zip\nb1,Ann,01067\n'],
    ['semicolons and quotes', '"id";"name";"zip"\r\n"b1";"Ann";"01067"\r\n'],
    ['empty rows', '\r\n,,\r\nid,name,zip\r\n,,\r\n , ,\r\nb1,Ann,01067\r\n,,\r\n\r\n'],
    ['empty columns', 'id,name,zip,,\nb1,Ann,01067,,\n'],
    ['cells behind the last column', 'id,name,zip\nb1,Ann,01067,,\n'],
    ['blanks around its headings', ' id , name ,\u00a0zip\nb1,Ann,01067\n'],
    ['headings in capitals', 'ID,Name,ZIP\nb1,Ann,01067\n'],
    ['line breaks of old Macs', 'id,name,zip\rb1,Ann,01067\r'],
  ])('with %s is read', async (_, text) => {
    expect(await itemsOf(text)).toEqual(ann);
    expect(await itemsOf(`\ufeff${text}`)).toEqual(ann);
  });

  test('has the separator that was chosen', async () => {
    expect(await itemsOf('id,a;name\nb1,c;Ann\n', { separator: 'semicolon' })).toEqual([
      { 'id,a': 'b1,c', name: 'Ann' },
    ]);
    expect(await itemsOf('id,"a;b;c;d"\nb1,x\n')).toEqual([{ id: 'b1', 'a;b;c;d': 'x' }]);
  });

  test('has a label of an element as a heading, in any letters', async () => {
    expect(await itemsOf('amount  PAID,name\n1,x\n')).toEqual([{ amount: 1, name: 'x' }]);
  });

  const müller = [{ id: 'b1', name: 'Müller €' }];
  const utf16 = (text: string, swaps: boolean) => {
    const bytes = Buffer.from(text, 'utf16le');
    return swaps ? bytes.swap16() : bytes;
  };
  const text = 'id\tname\r\nb1\tMüller €\r\n';
  test.each<[what: string, bytes: Buffer, options: Partial<ReadOptions>]>([
    ['UTF-8', Buffer.from(text), {}],
    ['UTF-8 with its mark', Buffer.from(`\ufeff${text}`), {}],
    ['UTF-16 as Excel writes it', utf16(`\ufeff${text}`, false), {}],
    ['UTF-16 with its mark, turned', utf16(`\ufeff${text}`, true), {}],
    ['UTF-16 without a mark', utf16(text, false), {}],
    ['UTF-16 without a mark, turned', utf16(text, true), {}],
    ['Windows-1252 that was chosen', Buffer.from(text.replace('€', '\u0080'), 'latin1'), { encoding: 'windows-1252' }],
  ])('in %s is read', async (_, bytes, options) => {
    expect(await itemsOf(bytes, options)).toEqual(müller);
  });

  test('in Windows-1252 is refused with the cure', async () => {
    await expect(itemsOf(Buffer.from(text, 'latin1'))).rejects.toThrow(/not UTF-8: .*windows-1252/);
  });

  test.each<[what: string, text: string, message: RegExp]>([
    ['two columns for one item', 'id,Name,name\n1,2,3', /"Name" and "name" are both "name"/],
    ['two equal headings', 'id,a,a\n1,2,3', /Two columns have the heading "a"/],
    ['two columns that have cells and no heading', 'name,,,\nAnn,a,,b', /Column 4 has cells and no heading/],
    ['a row that is too short', 'id,name\nb1', /Row 2 has 1 cells, not 2/],
    ['a row that is too long', 'id,name\nb1,x,y', /Row 2 has 3 cells, not 2/],
    [
      'a number that JSON cannot hold',
      'block,amount\nperson,1\n\nperson,9007199254740993',
      /Row 4.*The number 9007199254740993 .*cannot be stored exactly: send it as a string/,
    ],
    ['one that is too large', 'block,amount\nperson,1e999', /Row 2, column "amount": The number 1e999/],
    ['a word for a number', 'block,amount\nperson,many', /Row 2, column "amount": "many" is no number$/],
    ['a number in another language', 'block,amount\nperson,"1.234,5 "\nperson,"1,5"', /choose the language/],
    [
      'a date that depends on the language',
      'block,day\nperson,01/02/2026',
      /"01\/02\/2026" is not the same date in every language/,
    ],
    ['a day that is none', 'block,day\nperson,30.02.2026', /is no date/],
    ['a word for a truth value', 'block,active\nperson,perhaps', /neither true nor false/],
  ])('with %s is refused', async (_, text, message) => {
    await expect(itemsOf(text)).rejects.toThrow(message);
  });

  test('of an unknown language is refused', async () => {
    await expect(itemsOf('id\n1', { language: 'no language' })).rejects.toThrow('is no language');
  });

  test('has the block that was chosen where a row names none', async () => {
    const text = 'name,zip,block\n123,10115,\nnull,1,other\n';
    expect(await itemsOf(text, { block: 'person' })).toEqual([
      { name: '123', zip: '10115', block: 'person' },
      { name: null, zip: 1, block: 'other' },
    ]);
  });

  test('shows what each column becomes', async () => {
    const text = 'id;Block;Amount paid;when;x;y\nb1;person;1,5;;1;\nb2;person;2;01.03.2026;;z\n';
    const file = await opened('a.csv', [text], { declared, mapping: { when: 'day', x: null } });
    expect(file).toMatchObject({ separator: ';', encoding: 'utf-8', format: 'csv' });
    expect(file.columns).toEqual([
      { name: 'id', item: 'id', kind: 'text', example: 'b1' },
      { name: 'Block', item: 'block', kind: 'text', example: 'person' },
      { name: 'Amount paid', item: 'amount', kind: 'number', example: '1,5' },
      { name: 'when', item: 'day', kind: 'date', example: '01.03.2026' },
      { name: 'x', item: null, kind: null, example: '1' },
      { name: 'y', item: 'y', kind: 'text', example: 'z' },
    ]);
  });
});

describe('a cell of an element', () => {
  test.each<[name: string, text: string, value: unknown, language?: string]>([
    ...[
      '10115',
      '01067',
      '1E5',
      '1.10',
      '123',
      'null',
      'true',
      ' 12 ',
      '[1]',
      '{}',
      '"quoted"',
      '12345678901234567890',
    ].map((text): [string, string, unknown] => ['name', text, text]),
    // Those that an export has put into quotes.
    ['name', '"10115"', '10115'],
    ['name', '"01067"', '01067'],
    ['name', '(null)', null],
    ['active', 'TRUE', true],
    ['active', 'FALSCH', false],
    ['active', 'vrai', true],
    ['active', 'VERDADERO', true],
    ['active', '0', false],
    ['active', 'null', null],
    ['amount', '1E5', 100_000],
    ['amount', '1.10', 1.1],
    ['amount', ' 12 ', 12],
    ['amount', '007', 7],
    ['amount', '+5', 5],
    ['amount', '.5', 0.5],
    ['amount', '1.234,50', 1234.5],
    ['amount', '1,234.50', 1234.5],
    ['amount', '1 234.5', 1234.5],
    ['amount', '\u22125', -5],
    ['amount', '1.234', 1.234],
    ['amount', '1.234', 1234, 'de'],
    ['amount', '1.234,5', 1234.5, 'de'],
    ['amount', '-0,5', -0.5, 'de'],
    ['amount', '1\u202f234,5', 1234.5, 'fr'],
    ['amount', '1 234,5', 1234.5, 'fr'],
    ['amount', '1,234', 1234, 'en'],
    ['amount', "1'234.5", 1234.5, 'de-CH'],
    ['day', '2026-03-01', '2026-03-01'],
    ['day', '01.03.2026', '2026-03-01'],
    ['day', '1.3.26', '2026-03-01'],
    ['day', '2026/03/01', '2026-03-01'],
    ['day', '3/1/2026', '2026-03-01', 'en'],
    ['day', '01/03/2026', '2026-03-01', 'fr'],
    ['day', '1/3/26', '2026-03-01', 'es'],
    ['day', '01/03/2026', '2026-03-01', 'en-GB'],
    ['day', '2026-03-01 00:00:00', '2026-03-01'],
    ['at', '2026-03-01T09:30', '2026-03-01T09:30'],
    ['at', '2026-03-01T09:30:00Z', '2026-03-01T09:30:00Z'],
    ['at', '2026-03-01 09:30:00', '2026-03-01T09:30'],
    ['at', '01.03.2026 09:30', '2026-03-01T09:30', 'de'],
    ['at', '3/1/2026 9:30:15 PM', '2026-03-01T21:30:15', 'en'],
    ['at', '01.03.2026', '2026-03-01T00:00', 'de'],
    ['clock', '9:30', '09:30'],
    ['clock', '12:05 AM', '00:05'],
    ['clock', '9:30 p. m.', '21:30', 'es'],
    ['clock', '09:30:00', '09:30'],
    ['clock', '"09:30:00"', '09:30:00'],
    ['clock', '09:30:10', '09:30:10'],
    ['at', '2026-03-01T09:30:00', '2026-03-01T09:30'],
    ['likes', '["maths"]', ['maths']],
    ['likes', 'maths, poems', ['maths', 'poems']],
    ['likes', 'poems; maths', ['poems', 'maths']],
    ['likes', 'a, b', ['a, b']],
    ['likes', 'unknown, maths', ['unknown, maths']],
    ['address', '{"city":"Ulm"}', { city: 'Ulm' }],
    ['address', 'Ulm', 'Ulm'],
  ])('%s: %j is %j', async (name, text, value, language) => {
    expect(await cell(name, text, { language })).toEqual(value);
  });

  test('with commas as decimal signs where semicolons separate the cells', async () => {
    expect(await itemsOf('block;amount\nperson;1,5\nperson;1,234\nperson;0.5\n')).toMatchObject([
      { amount: 1.5 },
      { amount: 1.234 },
      { amount: 0.5 },
    ]);
    await expect(itemsOf('block;amount\nperson;1.234\n')).rejects.toThrow('choose the language');
  });
});

describe('a column without an element has one type', () => {
  test.each<[cells: string[], values: unknown[], language?: string]>([
    [
      ['01067', '10115'],
      ['01067', '10115'],
    ],
    [
      ['1E5', '100000'],
      ['1E5', '100000'],
    ],
    [
      ['1.10', '1.1'],
      ['1.10', '1.1'],
    ],
    [
      ['1234567890123456789', '1'],
      ['1234567890123456789', '1'],
    ],
    [
      ['x', 'null', 'true', '5', '[1]'],
      ['x', 'null', 'true', '5', '[1]'],
    ],
    [
      ['1', '2.5', '-1e-7'],
      [1, 2.5, -1e-7],
    ],
    [
      ['1', '', 'null'],
      [1, undefined, null],
    ],
    [
      ['true', 'false'],
      [true, false],
    ],
    [
      ['TRUE', 'FALSE'],
      [true, false],
    ],
    [
      ['[1]', '{"a":1}', '5', '"x"'],
      [[1], { a: 1 }, 5, 'x'],
    ],
    [
      ['"10"', '"01067"'],
      ['10', '01067'],
    ],
    [['1,5', '2'], [1.5, 2], 'de'],
    [['1.5', '2'], ['1.5', '2'], 'de'],
    [['1,50', '2'], ['1,50', '2'], 'de'],
  ])('%j', async (cells, values, language) => {
    const text = `n,v\n${cells.map((one, at) => `${at},"${one.replaceAll('"', '""')}"\n`).join('')}`;
    expect((await itemsOf(text, { language })).map(({ v }) => v)).toEqual(values);
  });

  test('the text of its definition, also where no row names a block', async () => {
    const text = 'zip,Name,active,v\n10115,true,true,1\n10117,false,false,2\n';
    const { columns } = await opened('a.csv', [text], { declared });
    expect(columns.map(({ kind }) => kind)).toEqual(['text', 'text', 'boolean', 'number']);
    expect(await itemsOf(text)).toEqual([
      { zip: '10115', name: 'true', active: true, v: 1 },
      { zip: '10117', name: 'false', active: false, v: 2 },
    ]);
    const place: typeof declared = declaring({ zip: 'number' }, 'place');
    const both = { ...declared, blocks: new Map([...declared.blocks, ...place.blocks]) };
    expect(await itemsOf('zip\n10115\n', { declared: both })).toEqual([{ zip: 10115 }]);
    expect(await itemsOf('name\n"""a"""\n5\n')).toEqual([{ name: 'a' }, { name: '5' }]);
    expect(await itemsOf('name\nnull\n(null)\n')).toEqual([{ name: null }, { name: null }]);
    expect(await itemsOf('name\n5\n', { isExact: true })).toEqual([{ name: 5 }]);
  });

  test('but what is restored has the values of the export', async () => {
    const text = 'id,block,name,v\na,person,5,x\nb,person,null,5\n';
    expect(await itemsOf(text, { isExact: true })).toEqual([
      { id: 'a', block: 'person', name: 5, v: 'x' },
      { id: 'b', block: 'person', name: null, v: 5 },
    ]);
  });
});
