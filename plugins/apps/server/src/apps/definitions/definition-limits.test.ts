import { describe, expect, test } from 'vitest';
import { readDefinition } from './definition';
import { failure, file, many } from './testing/definitions';

describe('limits of a definition', () => {
  const looping = `${'(a|a)*'.repeat(160)}b`;

  test.each<[string, string, number, number, RegExp]>([
    ['elements', ['elements:', ...many(7_000, (i) => `  e${i}: TEXT`)].join('\n'), 502, 3, /at most 500 elements/],
    ['options', `elements: {a: {type: SELECT, options: [${many(1_001, String)}]}}`, 1, 39, /at most 1000 options/],
    [
      'work for default values',
      [
        'elements:',
        `  a: {type: TEXT, pattern: &p ${looping}, default: &d ${'a'.repeat(3_999)}b}`,
        ...many(40, (i) => `  e${i}: {type: TEXT, pattern: *p, default: *d}`),
      ].join('\n'),
      2,
      1006,
      /takes too long/,
    ],
  ])('bounds %s', (_, text, line, column, message) => {
    const error = failure(() => readDefinition(file(text)));
    expect(error.message).toMatch(message);
    expect(error.position).toEqual({ file: 'blocks/rate.yaml', line, column });
  });

  test.each<[string, string, number, number, RegExp]>([
    ['keys', `elements: { a: TEXT }\n"${'k'.repeat(1_001)}": 1`, 2, 1, /A key has at most 1000 characters/],
    ['keys of children', `a:\n  ${'k'.repeat(1_001)}:\n    b: 1`, 2, 3, /A key has at most 1000 characters/],
    ['values', `a:\n  - [${many(30_000, () => 'x')}]`, 2, 59_998, /more than 30000 values and keys/],
    ['the file', `# ${'x'.repeat(128 * 1024)}`, 0, 0, /longer than 128 kB/],
    ['texts', `elements: {a: {type: TEXT, help: ${'x'.repeat(10_001)}}}`, 1, 34, /more than 10000 characters/],
    ['a permission', `view_permission: "${'x'.repeat(20_000)}"`, 1, 18, /more than 10000 characters/],
    ['permissions', `view_permission: [${many(1_001, String)}]`, 1, 18, /at most 1000 names/],
    ['defaults', `elements: {a: {type: CHECKBOXES, default: [${many(1_001, String)}]}}`, 1, 43, /at most 1000 values/],
    [
      'options of a block',
      `elements:\n  a: {type: SELECT, options: &o [${many(1_000, String)}]}\n${many(20, (n) => `  e${n}: {type: SELECT, options: *o}\n`).join('')}`,
      22,
      32,
      /at most 20000 options/,
    ],
    ['properties', `elements: {a: {type: TEXT, pattern: '[${'\\p{L}'.repeat(21)}]'}}`, 1, 37, /more than 20 times/],
    [
      'patterns together',
      `elements:\n${many(60, (n) => `  e${n}: {type: TEXT, pattern: '${'a'.repeat(990)}${n}'}\n`).join('')}`,
      42,
      30,
      /too large together/,
    ],
  ])('bounds %s', (_, text, line, column, message) => {
    const error = failure(() => readDefinition(file(text)));
    expect(error.message).toMatch(message);
    expect(error.message.length).toBeLessThan(400);
    expect(error.position).toEqual({ file: 'blocks/rate.yaml', ...(line && { line, column }) });
  });

  test('reads 500 elements', () => {
    const { elements } = readDefinition(file(['elements:\r', ...many(500, (i) => `  e${i}: TEXT\r`)].join('\n')));
    expect(elements.size).toBe(500);
    expect(elements.get('e499')?.position).toEqual({ file: 'blocks/rate.yaml', line: 501, column: 9 });
  });

  test('checks a value once that aliases repeat', () => {
    const list = `x: &x [${many(20_000, String)}]`;
    expect(failure(() => readDefinition(file(`${list}\ny: [${many(99, () => '*x')}]`))).message).toMatch(
      /"x" is not known/,
    );
  });
});
