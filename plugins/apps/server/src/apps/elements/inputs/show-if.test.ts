import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../../shared/json';
import type { Condition } from '../../types';
import { conditionJson, isShown, withCondition } from './show-if';

const position = { file: 'a.yaml' };
const of = (...values: Condition['values']): Condition => ({ values, not: false });
const except = (...values: Condition['values']): Condition => ({ values, not: true });

describe('conditions of an element and of its group or page', () => {
  test.each<[Condition, Condition, Json, boolean]>([
    [of('x', 'y'), of('y', 'z'), 'y', true],
    [of('x', 'y'), of('y', 'z'), 'x', false],
    [of('x'), of('y'), ['x', 'y'], true],
    [of('x'), except('y'), ['x', 'y'], false],
    [except('x'), except('y'), 'z', true],
    [except('x'), except('y'), 'y', false],
    [of(true), except(null), true, true],
  ])('%j and %j with %j: %s', (own, outer, value, expected) => {
    const element = { name: 'e', type: 'TEXT', position, showIf: { a: own } };
    const both = withCondition(element, { showIf: { a: outer } });
    expect(isShown(both, () => value)).toBe(expected);
    expect(JSON.parse(conditionJson(both) ?? '')).toMatchObject({ a: { not: outer.not, also: { not: own.not } } });
  });
});
