import type { ElementDefinition } from '../types';

/** How a type of ordered values reads and names them. */
export interface Scale {
  /** The value on a line of numbers, or null if it is none of this type. */
  position(value: string | number): number | null;
  /** One `step` on that line; where steps begin without `min`. */
  stepSize: number;
}

/** The problem with a value's place between `min` and `max` and on a `step`, or null. */
export function rangeProblem(position: number, { min, max, step }: ElementDefinition, scale: Scale): string | null {
  const low = min === undefined ? null : scale.position(min);
  const high = max === undefined ? null : scale.position(max);
  if (low !== null && position < low) return `Please enter ${min} or more.`;
  if (high !== null && position > high) return `Please enter ${max} or less.`;
  if (step === undefined || step === 'any') return null;
  return isOnStep(position - (low ?? 0), step * scale.stepSize)
    ? null
    : `Please enter a value in steps of ${step}${low === null ? '' : ` from ${min}`}.`;
}

/** Decimal steps such as 0.1 have no exact binary form: a tiny distance from a step counts as on it. */
function isOnStep(distance: number, step: number): boolean {
  const steps = distance / step;
  return Math.abs(steps - Math.round(steps)) <= Math.max(1, Math.abs(steps)) * 1e-9;
}
