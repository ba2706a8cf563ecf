import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Items } from '../../../shared/json';
import type { ReadOptions } from './entries';
import { csvTable, labelsOf, type RecordRow } from './table';
import { declaring, inOrder, records as readRecords } from './testing/files';
import { folder, hasOffice, languages, type OfficeLanguage, office, writeSheet } from './testing/office';
import { xlsxTable } from './xlsx';

/*
 * Files of LibreOffice. Those in testing/office were made by it, and are read everywhere; where it is installed, they are made
 * again, and it opens and saves ours. With WRITE_OFFICE=1 the made files replace those of the folder.
 */

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
    likes: { kind: 'list', options: ['maths', 'poems'] },
  } as const),
  labels: labelsOf([{ name: 'zip', label: 'Postal code' }]),
};

type Person = Omit<RecordRow, 'seq'>;

const read = async (path: string, options: Partial<ReadOptions> = {}): Promise<Person[]> =>
  (await readRecords(path, [readFileSync(path)], { declared, ...options })).map(({ id = '', items }) => ({
    id,
    items,
  }));

const person = (id: string, items: Items): Person => ({ id, items: { block: 'person', ...items } });

/** The people of the sheet. */
const people = [
  person('10', {
    name: 'Müller, "Änne"; née D’Été',
    zip: '01067',
    notes: 'two\nlines',
    active: true,
    amount: 1234.5,
    day: '2026-03-01',
    at: '2026-03-01T09:30',
    clock: '09:30',
    likes: ['maths', 'poems'],
    extra: 1,
  }),
  person('1E5', {
    name: 'null',
    zip: '10115',
    notes: '123',
    active: false,
    amount: -0.25,
    day: '1999-12-31',
    at: '2026-10-25T02:30:15',
    clock: '23:59',
    likes: ['poems'],
    extra: 2.5,
  }),
  person('07', { name: '5" disk', zip: '1E5', notes: '1.10', amount: 1234567 }),
];

describe.each(languages)('a file of LibreOffice in $tag', ({ tag }) => {
  test.each(['csv', 'xlsx'])('as %s is read without a change', async (format) => {
    expect(await read(join(folder, `people.${tag}.${format}`), { language: tag })).toEqual(people);
  });
});

test('a file of LibreOffice in Windows-1252 is read without a change', async () => {
  const path = join(folder, 'people.1252.csv');
  expect(await read(path, { language: 'de', encoding: 'windows-1252' })).toEqual(people);
  await expect(read(path, { language: 'de' })).rejects.toThrow('not UTF-8');
});

describe.runIf(hasOffice)('LibreOffice', () => {
  const work = mkdtempSync(join(tmpdir(), 'apps-office-'));
  afterAll(() => rmSync(work, { recursive: true, force: true }));
  const keep = (path: string, name: string) => process.env.WRITE_OFFICE && copyFileSync(path, join(folder, name));

  test.each(languages)(
    'makes files in $tag that are read without a change',
    async (language) => {
      const { tag } = language;
      const sheet = join(work, `people.${tag}.fods`);
      writeSheet(sheet, language);
      const made = [office(work, language).toCsv(sheet), office(work, language).toXlsx(sheet)];
      for (const path of made) {
        keep(path, basename(path));
        expect(await read(path, { language: tag })).toEqual(people);
      }
    },
    120_000,
  );

  test('makes a file in Windows-1252', async () => {
    const language = languages[1];
    const sheet = join(work, 'people.1252.fods');
    writeSheet(sheet, language);
    const path = office(work, language).toCsv(sheet, { charset: 1 });
    keep(path, 'people.1252.csv');
    expect(await read(path, { language: 'de', encoding: 'windows-1252' })).toEqual(people);
  }, 120_000);

  const ours: Person[] = [
    ...people,
    person('MAR5', { name: '=1+1', zip: '1-2', notes: 'TRUE', likes: [], extra: null }),
    person('2026-03-01', { name: "'=1", zip: '12:30', notes: '"', active: true, amount: 0.1, day: '2026-03-01' }),
    person('1/2', { name: '(null)', zip: '+49 30 1', notes: null, amount: 1e-7, at: '2026-03-01T09:30' }),
    { id: 'x', items: { name: 'a;=1', extra: 5, mixed: 'five' } },
    { id: 'y', items: { mixed: 5, truth: true, digits: '12345678901234567890', list: [1, 'a'] } },
  ];

  const write = async (path: string, pieces: AsyncIterable<string | Buffer>) => {
    const all: Buffer[] = [];
    for await (const piece of pieces) all.push(Buffer.from(piece as string));
    writeFileSync(path, Buffer.concat(all));
  };

  test.each<[what: string, language: OfficeLanguage, separator: 'comma' | 'semicolon']>([
    ['commas', languages[0], 'comma'],
    ['semicolons', languages[1], 'semicolon'],
    ['semicolons', languages[2], 'semicolon'],
  ])(
    'opens our CSV with %s and saves it without a change (%#)',
    async (_, language, separator) => {
      const path = join(work, `ours.${language.tag}.csv`);
      await write(
        path,
        csvTable(() => [inOrder(ours)], { declared, isWhole: true, hasMark: true, separator }),
      );
      const from = separator === 'comma' ? 44 : 59;
      const { toCsv, toXlsx } = office(work, language);
      const options = { language: language.tag };
      expect(await read(path, separator === 'comma' ? {} : options)).toEqual(ours);
      expect(await read(toCsv(path, { from }), options)).toEqual(ours);
      expect(await read(toXlsx(path, from), options)).toEqual(ours);
    },
    120_000,
  );

  test.each(languages)(
    'opens our XLSX and saves it in $tag without a change',
    async (language) => {
      const path = join(work, `book.${language.tag}.xlsx`);
      await write(
        path,
        xlsxTable(() => [inOrder(ours)], { declared, isWhole: true }),
      );
      expect(await read(path)).toEqual(ours);
      expect(await read(office(work, language).toXlsx(path), { language: language.tag })).toEqual(ours);
    },
    120_000,
  );
});
