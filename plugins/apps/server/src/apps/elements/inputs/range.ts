import { z } from 'zod';
import { type Message, message } from '../../locales';
import type { ElementDefinition } from '../../types';
import { check } from '../../yaml/check';
import { number, text } from '../../yaml/schema';
import type { YamlNode } from '../../yaml/yaml';
import type { Settings } from './settings';

/** Maps the values of an ordered type to numbers. */
export interface Scale {
  /** The value as a number, or null if it is not of this type. */
  position(value: string | number): number | null;
  /** One `step` as a number. Without `min`, steps begin at 0. */
  stepSize: number;
}

const bound = check<number | string>(z.union([text.schema, z.number()]));

const step = check<number | 'any'>(
  z.union([number.schema, z.literal('any')]).refine((value) => value === 'any' || value > 0, {
    error: 'This must be a number above 0, or "any"',
  }),
);

/** Settings of a type of ordered values. */
export type Range = { min?: number | string; max?: number | string; step?: number | 'any' };

export const rangeSettings: Settings<Range> = {
  min: { own: 'min', check: bound },
  max: { own: 'max', check: bound },
  step: { own: 'step', check: step },
};

/**
 * Checks that `min` is not above `max`.
 * @param positionOf the bound as a number; a DefinitionError when it is not of this type
 */
export function checkRange(
  { settings: { min, max } }: ElementDefinition<Range>,
  at: YamlNode,
  positionOf: (bound: YamlNode) => number,
): void {
  const low = min === undefined ? undefined : positionOf(at.child('min'));
  const high = max === undefined ? undefined : positionOf(at.child('max'));
  if (low !== undefined && high !== undefined && low > high)
    at.child('min').fail(`The least value ${min} is above the greatest, ${max}`);
}

/** The message for a value outside of `min` and `max` or not on a `step`, or null. */
export function rangeProblem(position: number, { min, max, step }: Range, scale: Scale): Message | null {
  const low = min === undefined ? null : scale.position(min);
  const high = max === undefined ? null : scale.position(max);
  if (low !== null && position < low) return message('min', { min: String(min) });
  if (high !== null && position > high) return message('max', { max: String(max) });
  if (step === undefined || step === 'any') return null;
  return isOnStep(position - (low ?? 0), step * scale.stepSize)
    ? null
    : low === null
      ? message('step', { step: String(step) })
      : message('step_from', { step: String(step), min: String(min) });
}

/** Decimal steps such as 0.1 have no exact binary form, so that the comparison has a tolerance. */
function isOnStep(distance: number, step: number): boolean {
  const steps = distance / step;
  return Math.abs(steps - Math.round(steps)) <= Math.max(1, Math.abs(steps)) * 1e-9;
}
