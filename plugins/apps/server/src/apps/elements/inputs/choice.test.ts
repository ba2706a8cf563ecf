import { describe, expect, test } from 'vitest';
import { declaredOptions, toOptions } from '../choice-types';

describe('declaredOptions', () => {
  test.each<[unknown, unknown]>([
    [
      ['a', 1, true],
      [
        { value: 'a', label: 'a' },
        { value: 1, label: '1' },
        { value: true, label: 'true' },
      ],
    ],
    [
      [{ value: 'a' }, { value: 'b', label: 'B' }],
      [
        { value: 'a', label: 'a' },
        { value: 'b', label: 'B' },
      ],
    ],
    [[], []],
    ['a', null],
    [[null], null],
    [[{ label: 'x' }], null],
    [[{ value: 'x', extra: 1 }], null],
    [[1, '1'], null],
  ])('reads %j', (given, expected) => {
    expect(declaredOptions(given)).toEqual(expected);
  });
});

describe('toOptions', () => {
  test.each<[unknown, unknown]>([
    [['a'], [{ value: 'a', label: 'a' }]],
    [[{ value: 1, label: null, more: true }], [{ value: 1, label: '1' }]],
    [
      [1, '1'],
      [
        { value: 1, label: '1' },
        { value: '1', label: '1' },
      ],
    ],
    [null, null],
    [[null], null],
    [[['a']], null],
    [[{ label: 'x' }], null],
  ])('reads %j of a function', (given, expected) => {
    expect(toOptions(given)).toEqual(expected);
  });
});
