import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../../shared/json';
import type { ElementCondition } from '../../types';
import { elementOf } from '../testing/element';
import { comparedAs, conditionJson, isShown, withCondition } from './settings';

const of = (...values: ElementCondition['values']): ElementCondition => ({ values, not: false, isNumber: false });
const except = (...values: ElementCondition['values']): ElementCondition => ({ values, not: true, isNumber: false });

describe('conditions of an element and of its group or page', () => {
  test.each<[ElementCondition, ElementCondition, Json, boolean]>([
    [of('x', 'y'), of('y', 'z'), 'y', true],
    [of('x', 'y'), of('y', 'z'), 'x', false],
    [of('x'), of('y'), ['x', 'y'], true],
    [of('x'), except('y'), ['x', 'y'], false],
    [except('x'), except('y'), 'z', true],
    [except('x'), except('y'), 'y', false],
    [of(true), except(null), true, true],
  ])('%j and %j with %j: %s', (own, outer, value, expected) => {
    const element = elementOf('TEXT', { name: 'e', showIf: { a: own } });
    const both = withCondition(element, { showIf: { a: outer } });
    expect(isShown(both, () => value)).toBe(expected);
    expect(JSON.parse(conditionJson(both.showIf?.a as ElementCondition))).toMatchObject({
      not: outer.not,
      also: { not: own.not },
    });
  });
});

test.each<[ElementCondition, Json, boolean, boolean]>([
  [of(1), '1.0', false, true],
  [of(1), ' 01 ', false, true],
  [of('1.0'), 1, false, true],
  [of(1000), '1e3', false, true],
  [of(0), '-0', false, true],
  [except(1), '1.00', true, false],
  [of(1), 'one', false, false],
  [of('one'), 'one', true, true],
  [of(null), '', true, true],
  [of(0), '', false, false],
  [of(1), 1.5, false, false],
])('%j with %j: %s as a text, %s as a number', (condition, value, asText, asNumber) => {
  const shown = (showIf: ElementCondition) => isShown({ showIf: { a: showIf } }, () => value);
  expect([shown(condition), shown(comparedAs('isNumber', condition))]).toEqual([asText, asNumber]);
});

test.each<[ElementCondition, Json, boolean]>([
  [of(true), 'on', true],
  [of(true), ['1'], true],
  [of(true), 'TRUE', true],
  [of(true), 'maybe', false],
  [of(true), false, false],
  [of(false), 'off', true],
  [of(null), [], true],
  [except(null), 'yes', true],
  [except(true), 1, false],
])('%j with %j as a truth value: %s', (condition, value, expected) => {
  expect(isShown({ showIf: { a: comparedAs('isTruth', condition) } }, () => value)).toBe(expected);
});
