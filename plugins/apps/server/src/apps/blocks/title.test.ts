import { expect, test } from 'vitest';
import type { Json } from '../../../../shared/json';
import { titleText } from './block-session';

const values: Record<string, Json> = {
  name: 'A & <b>',
  'a.b': 'dotted',
  info: { title: 'Info', deep: { n: 7 }, list: ['x', null, 'y'] },
  empty: null,
  long: 'x'.repeat(10_000),
  lines: ' two\n lines ',
  yes: true,
};

test.each([
  ['Plain', 'Plain'],
  ['{name}!', 'A & <b>!'],
  ['{info.title} {info[deep][n]} {info.deep.n}', 'Info 7 7'],
  ['{info.list}', 'x, y'],
  ['{info}', ''],
  ['{a.b} {a.b.c}', 'dotted'],
  ['Term {empty} here', 'Term here'],
  ['{empty}', ''],
  ['{lines} {yes}', 'two lines true'],
  ['{ name } {} {{name}}', '{ name } {} {A & <b>}'],
  ['{info.constructor}{info.__proto__}', ''],
  ['{long}{long}', 'x'.repeat(300)],
  ['{{{{'.repeat(2_000), '{{{{'.repeat(75)],
])('the title %j is filled in', async (title, text) => {
  const undeclared: string[] = [];
  const value = async (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);
  expect(await titleText(title, value, (name) => undeclared.push(name))).toBe(text);
  expect(undeclared).toEqual([]);
});

test('an undeclared element is reported once', async () => {
  const undeclared: string[] = [];
  expect(
    await titleText(
      '{no} {no} {never.x}',
      async () => undefined,
      (name) => undeclared.push(name),
    ),
  ).toBe('');
  expect(undeclared).toEqual(['no', 'never.x']);
});
