import { expect, test } from 'vitest';
import type { Items } from '../../../shared/json';
import { csvTable, type TableOptions } from './table';
import { inOrder, NONE, records as recordsOf } from './testing/files';

interface Row {
  id: string;
  items: Items;
}

const numbered = (name: string, count: number): Items =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, at]));

interface Options extends Omit<Partial<TableOptions>, 'declared'> {
  declared?: string[];
}

async function tableOf(records: Row[], { declared = [], ...options }: Options = {}): Promise<string> {
  const pieces: Buffer[] = [];
  const whole = { declared: { ...NONE, names: declared }, isWhole: true, ...options };
  for await (const piece of csvTable(() => [inOrder(records)], whole)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const imported = async (table: string): Promise<Row[]> =>
  (await recordsOf('a.csv', [table])).map(({ id = '', items }) => ({ id, items }));

const headOf = (table: string): string[] => (table.split('\r\n')[0] ?? '').split(',');

test('a table has the declared items, then the others in the order of the records', async () => {
  const records: Row[] = [
    { id: 'a', items: { z: 1, y: 'x' } },
    { id: 'b', items: { declared: true, y: null } },
  ];
  expect(await tableOf(records, { declared: ['none', 'declared', 'id'] })).toBe(
    'id,declared,z,y\r\na,,1,x\r\nb,true,,(null)\r\n',
  );
  expect(await tableOf([], { declared: ['one'] })).toBe('id\r\n');
});

test('200 other items have columns; the rest is JSON in the last one', async () => {
  const few = { id: 'few', items: numbered('n', 200) };
  expect(headOf(await tableOf([few]))).toEqual(['id', ...Object.keys(few.items)]);
  const table = await tableOf([few, { id: 'more', items: { n0: 0.5, p: '=1', q: [1] } }, { id: 'none', items: {} }]);
  expect(headOf(table)).toEqual(['id', ...Object.keys(few.items), '(more)']);
  const [, first, second, third] = table.split('\r\n');
  expect(first).toMatch(/^few,0,1,.*,199,$/);
  expect(second).toMatch(/^more,0.5,+"\{""p"":""=1"",""q"":\[1\]\}"$/);
  expect(third).toBe(`none${','.repeat(201)}`);
});

test('1,000 declared items have columns, also behind many others', async () => {
  const declared = Object.keys(numbered('d', 1_001));
  const records = [
    { id: 'a', items: numbered('n', 300) },
    { id: 'b', items: numbered('d', 1_001) },
  ];
  const head = headOf(await tableOf(records, { declared }));
  expect(head).toEqual(['id', ...declared.slice(0, 1_000), ...Object.keys(numbered('n', 200)), '(more)']);
});

test('every record comes back from its table', async () => {
  const hostile: Items = JSON.parse(
    '{"__proto__":{"a":1},"constructor":"x","(more)":"own","=1":"=1","a;=b":"c\\n=d","":1}',
  );
  const records = [
    { id: '10', items: { ...hostile, text: '10', number: -1e-7, list: ['a;=1', '\r\n+1'], none: null, empty: '' } },
    { id: '=id', items: numbered('n', 900) },
    { id: '"quoted"', items: numbered('m', 900) },
    { id: "'", items: {} },
  ];
  for (const declared of [[], ['m899', 'n5', 'text']])
    expect(await imported(await tableOf(records, { declared }))).toEqual(records);
});

test('many names in many records take little memory and let other work run', async () => {
  const records = Array.from({ length: 40 }, (_, at) => ({ id: `r${at}`, items: numbered(`n${at}-`, 1_000) }));
  let iterations = 0;
  let isOver = false;
  const count = (): void => {
    iterations += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const table = await tableOf(records);
  isOver = true;
  expect(headOf(table)).toHaveLength(202);
  // Without the last column it has a cell for each of 40,000 names in each of 40 rows: 1.6 million characters more.
  expect(table.length).toBeLessThan(40 * 1_000 * 30);
  expect(iterations).toBeGreaterThan(2);
});
