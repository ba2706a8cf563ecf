import { expect, test } from 'vitest';
import { excerptOf, positioned, positionText } from './positions';

type Position = Parameters<typeof positionText>[0];

test.each<[Position, string]>([
  [{ file: 'blocks/a.js', line: 3, column: 5 }, 'apps/x/blocks/a.js:3:5'],
  [{ file: 'blocks/a.js', line: 3, column: null }, 'apps/x/blocks/a.js:3'],
  [{ file: 'blocks/a.js', column: 5 }, 'apps/x/blocks/a.js'],
  [{ file: '', line: 3 }, ''],
])('%j is shown as %j', (position, text) => {
  expect(positionText(position, 'apps/x/')).toBe(text);
});

test('a message follows its position, or stands alone', () => {
  expect(positioned('too slow', { file: 'a.js', line: 3 })).toBe('a.js:3: too slow');
  expect(positioned('too slow', { file: '' })).toBe('too slow');
  expect(positioned('too slow', undefined)).toBe('too slow');
});

const source = 'elements:\r\n\tvalue: BASIK\n\n';
test.each<[string, Omit<Position, 'file'>, string | null]>([
  ['a column', { line: 2, column: 9 }, '2 |  value: BASIK\n            ^'],
  ['the end of the line', { line: 1, column: 10 }, '1 | elements:\n             ^'],
  ['no column', { line: 1 }, '1 | elements:'],
  ['a column behind the line', { line: 1, column: 12 }, '1 | elements:'],
  ['a column far behind the line', { line: 1, column: 1e9 }, '1 | elements:'],
  ['an empty line', { line: 3, column: 1 }, null],
  ['no such line', { line: 9, column: 1 }, null],
  ['no line', {}, null],
])('the excerpt of %s', (_what, position, excerpt) => {
  expect(excerptOf(source, { file: 'a', ...position })).toBe(excerpt);
});

test('the excerpt of a long line is the part around the column', () => {
  const [line = '', caret = ''] = (
    excerptOf(`${'x'.repeat(500)}y${'z'.repeat(500)}`, { file: 'a', line: 1, column: 501 }) ?? ''
  ).split('\n');
  expect(line).toHaveLength('1 | '.length + 120);
  expect(line[caret.indexOf('^')]).toBe('y');
});
